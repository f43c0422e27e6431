"""What a reader makes of one file. Pure."""

from typing import NamedTuple


class Page(NamedTuple):
    """A file read as one document."""

    title: str
    """What the file says of itself; empty if it does not."""
    text: str
    """Markdown: `#` headings, `|` tables, blocks parted by blank lines."""
    pages: tuple[int, ...] = ()
    """Where each page starts in `text`; () for a format without pages."""
