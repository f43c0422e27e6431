"""The kinds of files that documents come from, and what to do with the others. Pure."""

from pathlib import Path

TABLE_SUFFIXES = (".csv", ".tsv")
RECORD_SUFFIXES = (".jsonl", ".ndjson", ".json", *TABLE_SUFFIXES)
TEXT_SUFFIXES = (".md", ".markdown", ".txt", ".text", ".rst")
HTML_SUFFIXES = (".html", ".htm", ".xhtml")
PAGE_SUFFIXES = (*TEXT_SUFFIXES, *HTML_SUFFIXES, ".pdf", ".tex")
"""One document a file."""
PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
"""Set aside when a file's name is read; whether it is packed, its bytes tell."""

_PANDOC = "pandoc {} -o {}.md"
_TO_PDF = "soffice --headless --convert-to pdf {}"
_TO_CSV = "soffice --headless --convert-to csv {}"
_UNPACK = "and name the folder it makes"
_RENAME = "rename it to .txt if it is plain text"
_HOW = (
    ((".docx", ".epub", ".odt", ".rtf", ".fb2", ".ipynb", ".org", ".textile", ".mediawiki",
      ".docbook", ".opml", ".typ"), _PANDOC),
    ((".adoc", ".asciidoc", ".asc"), "asciidoctor {}"),
    ((".doc", ".ppt", ".pptx", ".odp", ".pages", ".key", ".wpd"), _TO_PDF),
    ((".xls", ".xlsx", ".ods"), _TO_CSV),
    ((".parquet",),
     "python -c \"import pandas; pandas.read_parquet('{}').to_json('{}.jsonl', orient='records',"
     ' lines=True)"'),
    ((".xml", ".nxml"), "pandoc -f jats {} -o {}.md for papers, -f docbook for manuals"),
    ((".yaml", ".yml"), "write its records as JSONL"),
    ((".tab", ".psv"), "rename it to .tsv if tabs part its cells"),
    ((".log", ".me", ".in"), _RENAME),
    ((".ps", ".eps"), "ps2pdf {}"),
    ((".djvu",), "djvutxt {} {}.txt"),
    ((".mht", ".mhtml"), "save the page as .html"),
    ((".chm",), f"7z x {{}} {_UNPACK}"),
    ((".png", ".jpg", ".jpeg", ".tif", ".tiff"), "ocrmypdf --image-dpi 300 {} {}.pdf"),
    ((".zip",), f"unzip {{}} -d {{}}-unpacked {_UNPACK}"),
    ((".tar", ".tgz", ".tbz2", ".txz"), f"tar -xf {{}} {_UNPACK}"),
    ((".7z", ".rar"), f"7z x {{}} {_UNPACK}"),
    ((".zst",), "zstd -d {}"),
    ((".z",), "gunzip {}"),
)  # fmt: skip
_CONVERSIONS = {suffix: how for suffixes, how in _HOW for suffix in suffixes}


def unpacked_name(name: str) -> str:
    """Return a file's name without the suffix of a compressed file."""
    stem, dot, suffix = name.rpartition(".")
    return stem if stem and dot + suffix.lower() in PACKED_SUFFIXES else name


def data_suffix(path: Path) -> str:
    """Return the suffix that tells the format, in lower case, that of a packed file set aside."""
    return Path(unpacked_name(path.name)).suffix.lower()


def is_page(path: Path) -> bool:
    """
    Tell whether a file of this name is one document: by its suffix, or because it has none.

    Without a suffix it is plain text if its bytes are, which `find` looks at.
    """
    return data_suffix(path) in ("", *PAGE_SUFFIXES)


def is_supported(path: Path) -> bool:
    """Tell whether documents are read from files of this name."""
    return is_page(path) or data_suffix(path) in RECORD_SUFFIXES


def how_to_convert(suffix: str, *, file: str = "FILE") -> str | None:
    """Return what makes a readable file of one with this suffix (lower case); None if unknown."""
    how = _CONVERSIONS.get(suffix)
    return None if how is None else how.replace("{}", file)
