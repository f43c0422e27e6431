"""Blocks by their form, and passages made of whole blocks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccrag.chunking.block_windows import block_passages
from ccrag.chunking.blocks import find_blocks, is_bibliography
from ccrag.types import Document, Passage

TABLE = "| Model | BLEU |\n|---|---|\n| base | 27.3 |\n| big | 28.4 |\n"


def kinds(text: str) -> list[tuple[str, str]]:
    return [(b.kind, text[b.start : b.end].strip()) for b in find_blocks(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n\n", []),
        ("One.\nstill one\n\nTwo.", [("paragraph", "One.\nstill one"), ("paragraph", "Two.")]),
        ("# H\n\nText.", [("heading", "# H"), ("paragraph", "Text.")]),
        (f"Text:\n{TABLE}more", [("paragraph", "Text:"), ("table", TABLE.strip()),
                                 ("paragraph", "more")]),
        ("<table><tr><td>a</td></tr>\n\n<tr><td>b</td></tr></table>\n\nText.",
         [("table", "<table><tr><td>a</td></tr>\n\n<tr><td>b</td></tr></table>"),
          ("paragraph", "Text.")]),
        ("+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n+---+---+\n",
         [("table", "+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n+---+---+")]),
        ("Text:\n\n==== ====\nName Size\n==== ====\na    1\n==== ====\n\nMore.",
         [("paragraph", "Text:"), ("table", "==== ====\nName Size\n==== ====\na    1\n==== ===="),
          ("paragraph", "More.")]),
        ("Table 2: BLEU scores.\n\n| a |\n", [("caption", "Table 2: BLEU scores."),
                                              ("table", "| a |")]),
        ("as shown in\nTable 2. We see", [("paragraph", "as shown in\nTable 2. We see")]),
        ("Table 2 shows that", [("paragraph", "Table 2 shows that")]),
        ("![](x.png)\nFigure 1: A model.\n", [("figure", "![](x.png)"),
                                               ("caption", "Figure 1: A model.")]),
        ("So:\n$$\na = b\n\nc\n$$\nwhere", [("paragraph", "So:"), ("formula", "$$\na = b\n\nc\n$$"),
                                            ("paragraph", "where")]),
        ("$$ a = b $$\ntext", [("formula", "$$ a = b $$"), ("paragraph", "text")]),
        ("\\begin{equation}\nx\n\\end{equation}\n", [("formula",
                                                    "\\begin{equation}\nx\n\\end{equation}")]),
        ("```\n# no heading\n\n| no table\n```\nText", [("code",
                                                         "```\n# no heading\n\n| no table\n```"),
                                                        ("paragraph", "Text")]),
        ("[^1]: A note.\n\n†Equal work.\n\n*Equal contribution.",
         [("footnote", "[^1]: A note."), ("footnote", "†Equal work."),
          ("footnote", "*Equal contribution.")]),
        ("*Emphasis* begins it.", [("paragraph", "*Emphasis* begins it.")]),
        ("- one\n- two\n", [("list", "- one"), ("list", "- two")]),
        ("# References\n\n[1] A.\n\n[2] B.\n\n# Appendix\n\nText.",
         [("heading", "# References"), ("reference", "[1] A."), ("reference", "[2] B."),
          ("heading", "# Appendix"), ("paragraph", "Text.")]),
    ],
)  # fmt: skip
def test_kinds(text: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(text) == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [("References", True), ("8. References", True), ("BIBLIOGRAPHY", True), ("参考文献", True),
     ("Literature Cited", True), ("Reference manual", False), ("Related work", False)],
)  # fmt: skip
def test_bibliography(title: str, expected: bool) -> None:
    assert is_bibliography(title) is expected


texts = st.lists(
    st.sampled_from(
        ["# H\n", "## References\n", "Text here. More text!\n", "\n", "| a | b |\n", "<table>\n",
         "</table>\n", "$$\n", "Table 1: x\n", "![](y)\n", "```\n", "- item\n", "w " * 60, "x" * 90,
         "你好。", "<tr><td>1</td></tr>", "==== ====\n"]
    ), max_size=25,
).map("".join)  # fmt: skip


@given(texts)
def test_blocks_tile_the_text(text: str) -> None:
    blocks = find_blocks(text)
    ends = [block.end for block in blocks]
    assert [block.start for block in blocks][1:] == ends[:-1]
    assert not text[: blocks[0].start].strip() if blocks else not text.strip()
    assert not ends or ends[-1] == len(text)


def passages(text: str, **limits: int) -> list[Passage]:
    return block_passages(Document("d", "T", text), **{"max_chars": 80, **limits})


@settings(deadline=None)  # the first text loads the sentence splitter
@given(texts, st.integers(0, 60))
def test_passages_are_slices_under_the_cap(text: str, overlap: int) -> None:
    found = passages(text, overlap_chars=overlap, max_table_chars=160)
    for passage in found:
        assert passage.text == text[passage.start : passage.end]
        assert "".join(map(passage.slice, passage.sentences)) == passage.text
        assert passage.text.strip() == passage.text
        assert len(passage.text) <= 160
    assert [p.ordinal for p in found] == list(range(len(found)))
    assert len({p.passage_id for p in found}) == len(found)


@settings(deadline=None)
@given(texts)
def test_every_block_but_headings_and_references_is_in_a_passage(text: str) -> None:
    covered: set[int] = set()
    for passage in passages(text):
        covered.update(range(passage.start, passage.end))
    for block in find_blocks(text):
        if block.kind not in ("heading", "reference"):
            words = [at for at in range(block.start, block.end) if not text[at].isspace()]
            assert covered.issuperset(words)


def test_blocks_are_packed_and_not_parted() -> None:
    found = passages(f"{'A' * 30}.\n\n{'B' * 30}.\n\n{'C' * 30}. {'D' * 30}.")
    assert [p.text for p in found] == [
        f"{'A' * 30}.\n\n{'B' * 30}.",
        f"{'C' * 30}. {'D' * 30}.",
    ]


def test_a_long_block_is_parted_between_sentences() -> None:
    found = passages(" ".join(f"Sentence number {n} says little." for n in range(6)))
    assert [len(p.sentences) for p in found] == [2, 2, 2]


def test_a_passage_never_crosses_a_section() -> None:
    found = passages("# A\n\nOne.\n\n## B\n\nTwo.\n")
    assert [(p.section, p.text) for p in found] == [(("A",), "One."), (("A", "B"), "Two.")]


def test_a_table_with_its_caption_is_whole() -> None:
    rows = "".join(f"| row {n} | {n}.5 |\n" for n in range(9))
    text = f"Before it stands a paragraph.\n\nTable 1: Results.\n\n{rows}\nAfter it."
    assert [p.text for p in passages(text)] == [
        "Before it stands a paragraph.",
        f"Table 1: Results.\n\n{rows}".strip(),
        "After it.",
    ]


def test_a_caption_below_belongs_to_the_table_above() -> None:
    found = passages("| a |\n\nTable 1: Results.\n\n" + "x" * 79)
    assert found[0].text == "| a |\n\nTable 1: Results."


def test_a_table_above_its_cap_is_parted_between_rows() -> None:
    rows = "".join(f"<tr><td>row {n}</td></tr>" for n in range(12))
    found = passages(f"<table>{rows}</table>", max_table_chars=100)
    assert len(found) > 1
    assert all(p.text.count("<tr>") == p.text.count("</tr>") for p in found)


def test_the_bibliography_is_in_no_passage() -> None:
    found = passages("# Work\n\nText.\n\n# References\n\n[1] Text of others.\n\n# Appendix\n\nEnd.")
    assert [p.text for p in found] == ["Text.", "End."]


def test_overlap_repeats_the_last_sentences_of_the_same_section() -> None:
    text = "# A\n\nOne is here. Two is here.\n\n" + "x" * 60 + "\n\n# B\n\nThree."
    found = passages(text, overlap_chars=15)
    assert [p.text for p in found] == [
        "One is here. Two is here.",
        "Two is here.\n\n" + "x" * 60,
        "Three.",
    ]


def test_pages() -> None:
    text = "# A\n\nOne.\n\n# B\n\nTwo."
    document = Document("d", "T", text, pages=(0, 11))
    assert [p.page for p in block_passages(document, max_chars=80)] == [1, 2]
    assert [p.page for p in passages(text)] == [None, None]
