"""Files that are one document each, read by the reader of their kind."""

from pathlib import Path

from ccrag.corpus.fields import as_id
from ccrag.corpus.files import SourceFile
from ccrag.corpus.packed import DEFAULT_SIZES, SizeLimits, read_whole
from ccrag.corpus.readers.page import ReadPage
from ccrag.corpus.readers.registry import load_function, reader_of, unpacked_name
from ccrag.corpus.readers.source import PageSource
from ccrag.errors import InvariantError
from ccrag.text.sections import find_headings
from ccrag.types import Document, TextSource


def read_page(file: SourceFile, *, sizes: SizeLimits = DEFAULT_SIZES) -> tuple[Document, ReadPage]:
    """
    Return a whole file as one document, and the page that its reader made of it.

    Its title is the one it states, else its first heading, else its name.

    Raises:
        RecordError: it cannot be used.
    """
    path = file.path
    reader = reader_of(path)
    if reader is None:
        raise InvariantError(f"{path}: `find_files` lets only files pass that have a reader")
    doc_id = as_id(file.doc_id, field="the file's name")
    data = read_whole(path, sizes=sizes, limit=reader.limit)
    page: ReadPage = load_function(reader.function)(PageSource(path, data))
    headings = [] if page.title else find_headings(page.text)
    stem = Path(unpacked_name(path.name)).stem
    title = page.title or (headings[0].title if headings else stem)
    source: TextSource = "full_text" if page.text.strip() else "none"
    return Document(doc_id, title, page.text, text_source=source, pages=page.pages), page
