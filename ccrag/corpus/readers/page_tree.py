"""
The number of pages in the page tree of a PDF, whatever its `/Count` claims. Pure.

pdfium believes `/Count` (PDF 1.7, 7.7.3.2): pages beyond it are not shown and not read. Only
objects that lie plain in the file are looked at, not those packed in object streams.
"""

import re

_OBJECT = re.compile(rb"(?<!\d)(\d{1,10})\s+\d{1,5}\s+obj\b")
_ROOT = re.compile(rb"/Root\s+(\d{1,10})\s+\d{1,5}\s+R\b")
_PAGES = re.compile(rb"/Pages\s+(\d{1,10})\s+\d{1,5}\s+R\b")
_KIDS = re.compile(rb"/Kids\s*\[([\s\dR]*)\]")
_REFERENCE = re.compile(rb"(\d{1,10})\s+\d{1,5}\s+R\b")
_END = re.compile(rb"\bendobj\b|\bstream\b")


def pages_in_tree(data: bytes) -> int | None:
    """Return how many leaves the page tree of a PDF has; None where it cannot be followed."""
    starts = {int(found[1]): found.end() for found in _OBJECT.finditer(data)}  # the last one counts
    roots = _ROOT.findall(data)
    catalog = _body(data, starts, int(roots[-1])) if roots else None
    root = _PAGES.search(catalog) if catalog is not None else None
    if root is None:
        return None
    seen, leaves, inside = {int(root[1])}, 0, [int(root[1])]
    while inside:
        body = _body(data, starts, inside.pop())
        if body is None:
            return None  # packed in an object stream, or missing
        kids = _KIDS.search(body)
        if kids is None:
            leaves += 1
            continue
        new = {int(number) for number in _REFERENCE.findall(kids[1])} - seen
        seen |= new
        inside += new
    return leaves


def _body(data: bytes, starts: dict[int, int], number: int) -> bytes | None:
    start = starts.get(number)
    if start is None:
        return None
    end = _END.search(data, start)
    return data[start : end.start() if end else len(data)]
