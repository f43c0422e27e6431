"""Page files: one document each, read by the reader of their kind."""

from codecs import BOM_UTF8
from pathlib import Path

from ccrag.corpus.faults import RecordError
from ccrag.corpus.fields import as_id
from ccrag.corpus.files import SourceFile
from ccrag.corpus.packed import DEFAULT_SIZES, SizeLimits, read_whole
from ccrag.corpus.readers.encodings import decode_page
from ccrag.corpus.readers.front_matter import front_matter_title
from ccrag.corpus.readers.kinds import HTML_SUFFIXES, data_suffix, unpacked_name
from ccrag.corpus.readers.page import ReadPage
from ccrag.text.sections import find_headings
from ccrag.types import Document, TextSource

_OTHER_KINDS = {b"%PDF-": ".pdf", b"\x89PNG": ".png", b"\xff\xd8\xff": ".jpg", b"GIF8": ".gif"}


def read_page(file: SourceFile, *, sizes: SizeLimits = DEFAULT_SIZES) -> tuple[Document, ReadPage]:
    """
    Return a whole file as one document, and as its reader made it.

    Its title is what the file says, else its first heading, else its name.

    Raises:
        RecordError: it cannot be used.
    """
    path = file.path
    doc_id = as_id(file.doc_id, field="the file's name")
    is_pdf = data_suffix(path) == ".pdf"
    data = read_whole(path, max_bytes=sizes.pdf if is_pdf else sizes.page)
    page = _read(path, data)
    headings = [] if page.title else find_headings(page.text)
    stem = Path(unpacked_name(path.name)).stem
    title = page.title or (headings[0].title if headings else stem)
    source: TextSource = "full_text" if page.text.strip() else "none"
    return Document(doc_id, title, page.text, text_source=source, pages=page.pages), page


def _read(path: Path, data: bytes) -> ReadPage:
    """
    Return the text of one file; the libraries that read it are imported only where it needs one.
    """
    suffix = data_suffix(path)
    if suffix in HTML_SUFFIXES:
        from ccrag.corpus.readers.html import read_html

        return read_html(data)
    if suffix == ".pdf":
        from ccrag.corpus.readers.pdf import read_pdf

        return read_pdf(data)
    if suffix == ".tex":
        from ccrag.corpus.readers.latex import read_latex

        return read_latex(path, data.removeprefix(BOM_UTF8))
    return _read_text(data)


def _read_text(data: bytes) -> ReadPage:
    """
    Return a plain text or Markdown file; lines that end in CR alone, as on old Macs, end in LF.
    """
    for magic, suffix in _OTHER_KINDS.items():
        if data.startswith(magic):
            raise RecordError("syntax", f"is no text but a {suffix} file; rename it")
    text, losses = decode_page(data)
    if "\r" in text and "\n" not in text:
        text = text.replace("\r", "\n")
    return ReadPage(front_matter_title(text), text, losses=losses)
