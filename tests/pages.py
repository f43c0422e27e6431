"""Bytes in memory, read as the file of some kind that holds nothing else."""

from pathlib import Path

from ccrag.corpus.readers import html, pdf, plain_text
from ccrag.corpus.readers.page import ReadPage
from ccrag.corpus.readers.source import PageSource


def read_html(data: bytes) -> ReadPage:
    return html.read_html(PageSource(Path("page.html"), data))


def read_pdf(data: bytes) -> ReadPage:
    return pdf.read_pdf(PageSource(Path("paper.pdf"), data))


def read_text(data: bytes) -> ReadPage:
    return plain_text.read_text(PageSource(Path("notes.md"), data))
