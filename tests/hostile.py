"""Small files that once took a reader's whole memory or minutes of its time."""

import gzip
import zlib

from tests.pdf import pdf_of, stream, text_at


def zeros_gz(size: int = 2_000_000_000) -> bytes:
    """A text of `size` bytes that compresses to a thousandth of it."""
    piece = gzip.compress(b"word " * 2_000_000)
    return piece * (size // 10_000_000)


def pages_pdf(pages: int = 4_000) -> bytes:
    """A PDF whose page tree names one page, with a long text, many times."""
    text = b"BT /F1 9 Tf 20 20 Td " + b"(words of a page) Tj 1 1 Td " * 600 + b"ET"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count %d /Kids [%s] >>" % (pages, b"3 0 R " * pages),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(text), text),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    body, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    tail = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    return body + head + table + tail % (len(objects) + 1, len(body))


def rowspan_html(rows: int = 1_000) -> bytes:
    """A table whose first cell is long and reaches over all its rows."""
    cell = b"<td rowspan=1000>" + b"long words " * 18_000 + b"</td>"
    return b"<table><tr>" + cell + b"<td>a</td></tr>" + b"<tr><td>b</td></tr>" * rows + b"</table>"


def nested_html(depth: int = 60_000) -> bytes:
    """Elements in elements."""
    return b"<div>" * depth + b"inside" + b"</div>" * depth


def spinning_tex() -> bytes:
    """LaTeX whose macro calls itself twice, for ever."""
    body = r"\documentclass{article}\newcommand{\x}{\x\x}\begin{document}\x\end{document}"
    return body.encode()


def forms_pdf(depth: int = 22) -> bytes:
    """Return a PDF of one page whose forms draw the next one twice: 2 ** depth texts."""
    first = 4
    contents = [f"/X{at + 1} Do /X{at + 1} Do" for at in range(depth)]
    forms = [
        stream(content, _FORM % (f"/XObject << /X{at + 1} {first + at + 1} 0 R >>"))
        for at, content in enumerate(contents)
    ]
    forms.append(stream(text_at(20, 20, "words of a form"), _FORM % ""))
    return pdf_of([text_at(20, 700, "first words") + " /X0 Do"], page=_WITH_X0, others=forms)


def picture_pdf(side: int = 40_000) -> bytes:
    """Return a PDF with a picture of `side` x `side` points that is packed to a thousandth."""
    packed = zlib.compress(bytes(side * side // 16), 9).decode("latin-1")
    head = "/Type /XObject /Subtype /Image /ColorSpace /DeviceGray /BitsPerComponent 8 "
    head += f"/Width {side} /Height {side} /Filter /FlateDecode"
    content = text_at(20, 700, "words beside a picture") + " 600 0 0 600 0 0 cm /X0 Do"
    return pdf_of([content], page=_WITH_X0, others=[stream(packed, head)])


_FORM = (
    "/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> %s >>"
)
_WITH_X0 = "/Resources << /Font << /F1 3 0 R >> /XObject << /X0 4 0 R >> >>"

FILES = {
    "zeros.txt.gz": zeros_gz,
    "pages.pdf": pages_pdf,
    "forms.pdf": forms_pdf,
    "picture.pdf": picture_pdf,
    "rowspan.html": rowspan_html,
    "nested.html": nested_html,
    "spinning.tex": spinning_tex,
}
