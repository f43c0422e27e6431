"""The result of reading one page file. Pure."""

from typing import Literal, NamedTuple

LossUnit = Literal["words", "bytes", "characters", "pages", "parts"]


class Loss(NamedTuple):
    """Something in a file that its reader did not turn into text."""

    kind: str
    """Its kind, e.g. "navigation", "pages without text", "bytes that are not windows-1252"."""
    count: int  # type: ignore[assignment]  # hides the method of tuples
    """The number lost, in `unit`."""
    unit: LossUnit
    where: str = ""
    """The place in the file, e.g. "pages 2-9" or "byte 1,204"; empty if it is all over the file."""
    intended: bool = False
    """Left out on purpose, e.g. navigation and scripts: counted, but no reason for a warning."""


class ReadPage(NamedTuple):
    """A file read as one document."""

    title: str
    """The title that the file states; empty if it states none."""
    text: str
    """Markdown: `#` headings, `|` tables, blank lines between blocks."""
    pages: tuple[int, ...] = ()
    """Where each page starts in `text`; () for a format without pages."""
    words_in_file: int | None = None
    """
    Words a person sees in the file, counted independently of `text`: the load report compares them
    with the words of `text`. None if the reader does not count them.
    """
    losses: tuple[Loss, ...] = ()
    """All that was left out, in the order of the file."""
