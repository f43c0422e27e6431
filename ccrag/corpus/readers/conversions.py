"""Commands that convert files of other kinds to files that can be read. Pure."""

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
    ((".tab", ".psv"), "rename it to .tsv if tabs separate its cells"),
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


def how_to_convert(suffix: str, *, file: str = "FILE") -> str | None:
    """Return the command that converts a file with this suffix (lower case); None if unknown."""
    how = _CONVERSIONS.get(suffix)
    return None if how is None else how.replace("{}", file)
