"""PDF files made by hand, so that tests need no library that writes them."""

from collections.abc import Sequence

FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def pdf(pages: Sequence[Sequence[str]], *, rules: Sequence[int] = ()) -> bytes:
    """
    Return a file with one page per list of lines, in Helvetica 11, its first line in 18.

    Lines are 24 points apart, cells (parted by tabs) 120; a rule is drawn above each line of the
    first page whose number `rules` has, over 400 points.
    """
    contents = []
    for number, lines in enumerate(pages):
        shown = [
            text_at(72 + 120 * column, 720 - 24 * at, text, size=18 if number == at == 0 else 11)
            for at, line in enumerate(lines)
            for column, text in enumerate(line.split("\t"))
        ]
        shown += [f"72 {736 - 24 * at} 400 0.5 re f" for at in rules if number == 0]
        contents.append("\n".join(shown))
    return pdf_of(contents)


def text_at(x: float, y: float, text: str, *, size: float = 11) -> str:
    """Return the operators that show `text` with its baseline's left end at (x, y), in points."""
    return f"BT /F1 {size} Tf {x} {y} Td ({text}) Tj ET"


def pdf_of(
    contents: Sequence[str],
    *,
    page: str = "",
    font: str = FONT,
    others: Sequence[str] = (),
    catalog: str = "",
    pages: str = "",
    trailer: str = "",
) -> bytes:
    """
    Return a file with one page per content stream.

    Object 3 is the font; `others` come right after it, from object 4 on. `page`, `catalog`, `pages`
    and `trailer` are put into those dictionaries; `pages` replaces `/Kids` and `/Count`.
    """
    first = 4 + len(others)
    kids = " ".join(f"{first + 2 * at} 0 R" for at in range(len(contents)))
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>",
        f"<< /Type /Pages {pages or f'/Kids [{kids}] /Count {len(contents)}'} >>",
        font,
        *others,
    ]
    for number, content in enumerate(contents):
        box = "" if "/MediaBox" in page else "/MediaBox [0 0 612 792]"
        resources = "" if "/Resources" in page else "/Resources << /Font << /F1 3 0 R >> >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R {box} {resources} "
            f"/Contents {first + 2 * number + 1} 0 R {page} >>"
        )
        objects.append(stream(content))
    return _file(objects, trailer)


def stream(content: str, head: str = "") -> str:
    """Return a stream object's text."""
    return f"<< /Length {len(content)} {head} >>\nstream\n{content}\nendstream"


def _file(objects: Sequence[str], trailer: str) -> bytes:
    written = b"%PDF-1.4\n"
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(written))
        written += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R {trailer} >>\n"
    return written + f"{head}{end}startxref\n{len(written)}\n%%EOF\n".encode()
