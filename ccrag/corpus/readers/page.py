"""What a reader makes of one file. Pure."""

from typing import Literal, NamedTuple

LossUnit = Literal["words", "bytes", "characters", "pages", "parts"]


class Loss(NamedTuple):
    """Something in a file that its reader did not turn into text."""

    kind: str
    """What it was, e.g. "navigation", "pages without text", "bytes that are not windows-1252"."""
    count: int  # type: ignore[assignment]  # hides the method of tuples
    """How many of `unit`."""
    unit: LossUnit
    where: str = ""
    """The place in the file, e.g. "pages 2-9" or "byte 1,204"; empty if it is all over the file."""
    intended: bool = False
    """Left out on purpose, e.g. navigation and scripts: counted, but no reason for a warning."""


class ReadPage(NamedTuple):
    """A file read as one document."""

    title: str
    """What the file says of itself; empty if it does not."""
    text: str
    """Markdown: `#` headings, `|` tables, blocks parted by blank lines."""
    pages: tuple[int, ...] = ()
    """Where each page starts in `text`; () for a format without pages."""
    words_in_file: int | None = None
    """
    Words a person sees in the file, counted apart from how `text` was made: the load report holds
    them against the words of `text`. None if the reader cannot tell.
    """
    losses: tuple[Loss, ...] = ()
    """What was left out, in the order of the file."""
