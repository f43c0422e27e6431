"""HTML and PDF as Markdown: headings, tables, formulas, pages."""

import gzip
from pathlib import Path

import pytest

from ccrag.chunking.blocks import find_blocks
from ccrag.corpus.faults import RecordError
from ccrag.corpus.load import LoadReport, find_files, read_documents
from ccrag.corpus.readers.layout import write_pages
from ccrag.corpus.readers.lines import Glyph, Line, lines_of
from ccrag.errors import InputError
from ccrag.types import Document
from tests.pages import read_html
from tests.pdf import pdf


def html_text(body: str) -> str:
    return read_html(f"<html><body>{body}</body></html>".encode()).text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<h2>A <em>b</em><a class='headerlink'>¶</a></h2><p>One\n two.</p>", "## A b\n\nOne two."),
        ("<p>d<sub>k</sub> and x<sup>2</sup>, 10<sup>-9</sup></p>", "d_k and x^2, 10^{-9}"),
        ("<ul><li>one</li><li><p>two</p></li></ul>", "- one\n\n- two"),
        ("<table><caption>Table 1: T.</caption><tr><th>a</th><th>b|c</th></tr>"
         "<tr><td>1</td><td><p>2</p></td></tr></table>", "Table 1: T.\n\n| a | b\\|c |\n| 1 | 2 |"),
        ("<table><tr><td colspan='2'>a</td><td rowspan='3'>b</td></tr>"
         "<tr><td rowspan='x'>1</td><td rowspan='2'>2</td></tr><tr><td>3</td></tr></table>",
         "| a |  | b |\n| 1 | 2 | b |\n| 3 | 2 | b |"),
        ("<pre>a\n  b</pre>", "```\na\n  b\n```"),
        ("<math alttext='\\beta_1'><mi>β</mi></math> is", "$\\beta_1$ is"),
        ("<nav>Home</nav><script>x()</script><p>Text</p><footer><p>Note</p></footer>",
         "Text\n\nNote"),
        ("<p>Home</p><main><p>Text</p></main>", "Text"),
        ("<div>a<div>b</div>c</div>", "a\n\nb\n\nc"),
        ("<p>a<br>b &amp; c</p><img src='x' alt='Figure 1'>", "a b & c\n\n![Figure 1]()"),
        ("<table><tr><td><h3>Layout</h3><p>only</p></td></tr></table>", "### Layout\n\nonly"),
    ],
)  # fmt: skip
def test_html(body: str, expected: str) -> None:
    assert html_text(body).strip() == expected


def test_title_of_html() -> None:
    page = b"<title>Site</title><body><h1>Other</h1><main>%s</main></body>"
    assert read_html(page % b"<h1>Paper</h1><p>T</p>").title == "Paper"
    assert read_html(page % b"<p>T</p>").title == "Other"
    assert read_html(b"<title>Site</title><p>T").title == "Site"


def test_html_in_another_encoding() -> None:
    page = "<html><head><meta charset='latin-1'></head><body><p>Café</p></body></html>"
    assert read_html(page.encode("latin-1")).text == "Café\n"


def test_html_without_text() -> None:
    with pytest.raises(RecordError, match="holds no text"):
        read_html(b"<html><body><script>x</script></body></html>")


def glyphs(text: str, *, left: float = 0, baseline: float = 0, gap: float = 5) -> list[Glyph]:
    """Letters 5 points wide in size 10, a tab a wide gap."""
    found = []
    for character in text:
        if character == "\t":
            left += 40
            continue
        ink = not character.isspace()
        right = left + gap * ink
        hyphen = character == "\u0002"
        found.append(Glyph(character, 10, False, False, left, right, baseline, hyphen, ink))
        left += gap
    return found


def test_lines_and_cells() -> None:
    lines = lines_of([*glyphs("ab c\tde"), *glyphs("\r\n"), *glyphs("x\ufb01")])
    assert [line.cells for line in lines] == [("ab c", "de"), ("xfi",)]
    assert lines_of(glyphs(" \n ")) == []


def test_parts_of_one_row_are_one_line() -> None:
    row = [*glyphs("name\n"), *glyphs("1.5\n", left=100), *glyphs("below", baseline=-12)]
    assert [line.cells for line in lines_of(row)] == [("name", "1.5"), ("below",)]


def test_a_blank_that_fills_the_line_is_none_between_ideographs() -> None:
    assert [line.text for line in lines_of(glyphs("水 利 a 利"))] == ["水利 a 利"]
    assert [line.text for line in lines_of(glyphs("水 利", gap=8))] == ["水 利"]


def line(text: str, baseline: float, *, left: float = 50, **style: object) -> Line:
    cells = tuple(text.split("\t"))
    info = {"size": 10.0, "bold": False, "mono": False, **style}
    return Line(cells, left=left, right=left + 5 * len(text), baseline=baseline, **info)  # type: ignore[arg-type]


def column(*texts: str, top: float = 700) -> list[Line]:
    return [line(text, top - 12 * at) for at, text in enumerate(texts)]


def test_paragraphs_headings_and_pages() -> None:
    first = [
        line("A Title", 760, size=20.0),
        line("1 Introduction", 730, bold=True),
        *column("The first paragraph goes", "on and ends.", top=700),
        line("Another one begins lower", 660),
    ]
    second = column("and ends on the next page.", "It has two sentences.", "Three even.")
    text, pages = write_pages([first, second])
    assert text == (
        "# A Title\n\n## 1 Introduction\n\nThe first paragraph goes on and ends.\n\n"
        "Another one begins lower and ends on the next page. It has two sentences. Three even."
    )
    assert pages == (0, text.index("and ends on the next"))


def test_a_parted_word_is_joined() -> None:
    lines = [line("develop", 700, hyphen=True), line("ment of it", 688)]
    assert write_pages([lines])[0] == "development of it"


def test_indentation_begins_a_paragraph() -> None:
    lines = [line("One ends.", 700), line("Two begins", 688, left=65), line("and ends.", 676)]
    assert write_pages([lines])[0] == "One ends.\n\nTwo begins and ends."


def test_rows_code_and_captions() -> None:
    lines = [
        line("Text before it.", 700),
        line("Table 1: Results of", 688),
        line("all runs.", 676),
        line("Model\tBLEU", 650),
        line("base\t27.3", 638),
        line("x <- 1", 600, mono=True),
        line("# two", 588, mono=True),
        line("After.", 560),
    ]
    text, _ = write_pages([lines])
    assert text == (
        "Text before it.\n\nTable 1: Results of all runs.\n\n| Model | BLEU |\n| base | 27.3 |\n"
        "\n\n```\nx <- 1\n# two\n```\n\nAfter."
    )
    kinds = [block.kind for block in find_blocks(text)]
    assert kinds == ["paragraph", "caption", "table", "code", "paragraph"]


@pytest.mark.parametrize("formula", ["βb", "Z", "a = b + c", "X⊤ W Z", "[1] 4"])
def test_a_formula_is_no_heading(formula: str) -> None:
    lines = [*column("The text of it goes on and on.", "More text."), line(formula, 600, bold=True)]
    assert "#" not in write_pages([lines])[0]


def test_an_entry_of_a_table_of_contents_is_no_heading() -> None:
    entries = [line(f"{at} Dams . . . . . . {at + 7}", 760 - 12 * at, bold=True) for at in (1, 2)]
    text, _ = write_pages([[*entries, *column(*["The text of it goes on and on."] * 5)]])
    assert "#" not in text


def test_code_does_not_tell_the_size_of_the_text() -> None:
    code = [
        line(f"x{at} <- compute(all, of, it, again)", 600 - 9 * at, size=8.0, mono=True)
        for at in range(9)
    ]
    body = column("The text goes on and on", "with more text of it", "and even more")
    assert "#" not in write_pages([[*body, *code]])[0]


def test_no_lines() -> None:
    assert write_pages([[], []]) == ("", (0, 0))


def load(path: Path) -> Document:
    [document] = read_documents(find_files([path], LoadReport()))
    return document


def test_a_pdf_is_a_document_with_pages(tmp_path: Path) -> None:
    path = tmp_path / "paper.pdf"
    path.write_bytes(pdf([["Deep Dams", "Dams hold water."], ["Locks lift ships."]]))
    document = load(path)
    assert document.doc_id == "paper.pdf"
    assert "Dams hold water." in document.text
    assert len(document.pages) == 2
    assert document.text[document.pages[1] :].startswith("Locks lift ships.")


def test_html_files_are_documents(tmp_path: Path) -> None:
    path = tmp_path / "page.html.gz"
    path.write_bytes(gzip.compress(b"<h1>Locks</h1><p>They lift ships.</p>"))
    document = load(path)
    assert (document.doc_id, document.title, document.pages) == ("page.html", "Locks", ())
    assert document.text == "# Locks\n\nThey lift ships.\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"no pdf", "not a PDF that can be read"), (pdf([[]]), "holds no text; is it scanned")],
)
def test_a_pdf_that_cannot_be_used(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "bad.pdf"
    path.write_bytes(data)
    with pytest.raises(InputError, match=message):
        load(path)
