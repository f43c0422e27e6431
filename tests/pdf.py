"""A PDF file of some lines of text, made by hand so that tests need no library that writes one."""

from collections.abc import Sequence


def pdf(pages: Sequence[Sequence[str]], *, rules: Sequence[int] = ()) -> bytes:
    """
    One page per list of lines, in Helvetica 11, the first line of the first page in 18.

    Lines are 24 points apart, cells (parted by tabs) 120; a rule is drawn above each line of the
    first page whose number `rules` has, over 400 points.
    """
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, lines in enumerate(pages):
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * number} 0 R >>"
        )
        shown = [
            f"BT /F1 {18 if number == at == 0 else 11} Tf {72 + 120 * column} {720 - 24 * at} Td "
            f"({text}) Tj ET"
            for at, line in enumerate(lines)
            for column, text in enumerate(line.split("\t"))
        ]
        shown += [f"72 {736 - 24 * at} 400 0.5 re f" for at in rules if number == 0]
        stream = "\n".join(shown)
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    written = b"%PDF-1.4\n"
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(written))
        written += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    head = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\n"
    return written + f"{head}{trailer}startxref\n{len(written)}\n%%EOF\n".encode()
