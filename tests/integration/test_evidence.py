"""Evidence in a paper: exact things are found, and the bundle says where they stand."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.integration.commands import ccrag
from tests.pdf import pdf

pytestmark = pytest.mark.usefixtures("on_engine")

PAPER = r"""# Dams in Series

# Abstract

We study dams that stand one behind the other, and what the lower one does to the upper one.

# 1 Introduction

Dams are old. Series of dams are young. They are built where a valley is long and its river steep.

# 2 Model

## 2.1 Flow

The flow through gate $i$ is $q_{i} = c_{\mathrm{gate}} \sqrt{2 g h_i}$, and nothing else leaves.

The lower dam backs water up to the foot of the upper one, whose turbines then lose head.

## 2.2 Loss

The loss is a share of the head. We write it $\lambda_{\mathrm{head}}$ and measure it at the foot.

It is $P_{loss} = 0.35$ in a narrow valley and half of that in a wide one.

# 3 Results

Table 1: Heads in metres.

| Dam | Head |
|---|---|
| upper | 41.5 |
| lower | 17.25 |

Table 2: Years of work.

| Dam | Years |
|---|---|
| upper | 7 |
| lower | 12 |

We did not count floods of the first winter, since the gauges were frozen.

Floods of later winters were counted at both dams.

# References

[1] A. Author. What is the value of P_loss, and what is in Table 2? Journal of dams, 1999.
"""
LEXICAL = (
    *("--set", "vectors.mode=none", "--set", 'retrieval.lists=["bm25","outline"]'),
    *("--set", "rerank.method=none", "--set", "evidence.scorer=lexical"),
    *("--set", "select.passages=1", "--set", "chunking.max_chars=120"),
)
LIFT = "Locks lift ships from the lower reach of a river to the upper."
ALONE = ("--set", "select.neighbours=0")


@pytest.fixture
def paper(tmp_path: Path, index_name: str) -> str:
    (tmp_path / "dams.md").write_text(PAPER, encoding="utf-8")
    ccrag("index", tmp_path / "dams.md", "--index", index_name, "-p", "evidence", *LEXICAL)
    return index_name


def bundle(question: str, index: str, *options: str) -> dict[str, Any]:
    output = ccrag("evidence", question, "--index", index, "--all", *LEXICAL, *options).stdout
    found: dict[str, Any] = orjson.loads(output)
    return found


@pytest.mark.parametrize(
    ("question", "quote", "section"),
    [
        ("What does c_gate stand in?", r"c_{\mathrm{gate}}", "2.1 Flow"),
        ("How is λ_head measured?", r"\lambda_{\mathrm{head}}", "2.2 Loss"),
        ("What does Table 2 show?", "Table 2: Years of work.", "3 Results"),
        ("表 2 是什么？", "Table 2: Years of work.", "3 Results"),
        ("Which dam has 17.25 metres?", "| lower | 17.25 |", "3 Results"),
        ("Where is P_loss = 0.35?", "$P_{loss} = 0.35$", "2.2 Loss"),
        ("Which floods were not counted, and why?", "We did not count floods", "3 Results"),
    ],
)
def test_exact_things_are_found(paper: str, question: str, quote: str, section: str) -> None:
    [span] = bundle(question, paper, *ALONE)["spans"]
    assert quote in span["text"]
    assert span["section"][-1] == section
    assert PAPER[span["start"] : span["end"]] == span["text"]


def test_a_table_comes_whole_with_its_caption(paper: str) -> None:
    [span] = bundle("Which dam has 17.25 metres?", paper, *ALONE)["spans"]
    assert span["text"].startswith("Table 1: Heads in metres.")
    assert span["text"].endswith("| lower | 17.25 |")


def test_the_bibliography_does_not_answer(paper: str) -> None:
    found = bundle("What is the value of P_loss, and what is in Table 2?", paper, *ALONE)
    assert "Author" not in found["spans"][0]["text"]


def test_an_answer_across_two_passages_is_one_span(paper: str) -> None:
    question = "What is a share of the head and measured at the foot?"
    [alone] = bundle(question, paper, *ALONE)["spans"]
    [span] = bundle(question, paper)["spans"]
    assert "0.35" not in alone["text"]
    assert r"\lambda_{\mathrm{head}}" in span["text"]
    assert "0.35" in span["text"]
    assert (span["neighbours"], len(span["hits"])) == (1, 1)
    assert span["hits"][0]["start"] == alone["start"]
    assert PAPER[span["start"] : span["end"]] == span["text"]


def test_the_bundle_is_small_and_says_what_next(paper: str) -> None:
    found = bundle("Which floods were counted at both dams?", paper, *ALONE)
    assert list(found) == ["version", "question", "spans", "chars", "next"]
    assert found["version"] == 1
    [span] = found["spans"]
    assert list(span) == (
        "doc_id title section page start end hits neighbours text".split()  # noqa: SIM905
    )
    assert found["chars"] == len(span["text"])
    assert found["next"] == {"action": "none", "missing": [], "sections": []}


def test_next_names_the_section_that_holds_the_rest(paper: str) -> None:
    found = bundle("Which floods were counted, and what do turbines lose?", paper, *ALONE)
    assert found["next"]["action"] == "other-section"
    assert found["next"]["sections"] == [
        {"doc_id": "dams.md", "section": ["3 Results"], "holds": ["count", "flood"]}
    ]


def test_next_asks_again_where_most_words_are_missing(paper: str) -> None:
    found = bundle("Do salmon climb ladders near dams?", paper, *ALONE)
    assert found["next"]["action"] == "ask-again"
    assert "salmon" in found["next"]["missing"]


def test_overlap_and_caps_are_index_settings(tmp_path: Path, index_name: str) -> None:
    (tmp_path / "dams.md").write_text(PAPER, encoding="utf-8")
    command = ("index", tmp_path / "dams.md", "--index", index_name, "-p", "evidence", *LEXICAL)
    told = [
        ccrag(*command, *more).stdout
        for more in (
            (),
            ("--set", "chunking.max_chars=800"),
            ("--set", "chunking.overlap_chars=60"),
            ("--set", "chunking.max_table_chars=90"),
        )
    ]
    assert len({line.partition("(")[2].partition(")")[0] for line in told}) == 4
    passages = [int(line.rpartition(" passages")[0].rpartition(" ")[2]) for line in told]
    assert passages[1] < passages[0]


def test_a_pdf_is_indexed_and_cited_by_page(tmp_path: Path, index_name: str) -> None:
    path = tmp_path / "dams.pdf"
    path.write_bytes(pdf([["Dams", f"Dams hold water {'as they should ' * 4}."], [LIFT]]))
    ccrag("index", path, "--index", index_name, "-p", "evidence", *LEXICAL)
    [span] = bundle("What lifts ships?", index_name, *ALONE)["spans"]
    assert (span["page"], span["text"]) == (2, LIFT)
