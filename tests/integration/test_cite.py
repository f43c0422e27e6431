"""`ccrag cite` over a real index: support, contradiction, and citations checked."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.integration.commands import ccrag
from tests.integration.example import write_lines

pytestmark = pytest.mark.usefixtures("on_engine")

DAM = "The dam on the Ouse is 61 metres high. It was built by Ada Moor."
BRIDGE = "The bridge at Elm is 503 metres long. It opened in 1931."
DOCUMENTS = [
    {"id": "dam", "title": "The dam", "text": DAM},
    {"id": "bridge", "title": "The bridge", "text": BRIDGE},
    {"id": "bread", "title": "Bread", "text": "Bread is baked at night in the old town."},
]  # fmt: skip


@pytest.fixture
def indexed(index_name: str, tmp_path: Path) -> str:
    ccrag("index", write_lines(tmp_path / "docs.jsonl", DOCUMENTS), "--index", index_name)
    return index_name


def cited(tmp_path: Path, index: str, *options: str, **record: Any) -> list[dict[str, Any]]:
    answers = write_lines(tmp_path / "answers.jsonl", [record])
    out = tmp_path / "cited.jsonl"
    ccrag("cite", answers, "--index", index, "-p", "lexical", *options, "--out", out, "--overwrite")
    [line] = out.read_bytes().splitlines()
    told: list[dict[str, Any]] = orjson.loads(line)["sentences"]
    return told


def sentence(text: str, *citations: object) -> dict[str, object]:
    return {"text": text, "citations": list(citations)}


def test_citations_are_kept_corrected_or_reported(indexed: str, tmp_path: Path) -> None:
    right, wrong, nowhere = cited(
        tmp_path,
        indexed,
        "--docs",
        "dam,bridge,bread",
        topic_id="q1",
        references=["dam", "bread", "other"],
        answer=[
            sentence("The dam on the Ouse is 61 metres high.", 0, 2),
            sentence("The bridge at Elm is 503 metres long.", 1),
            sentence("Whales sing songs under polar ice.", 0),
        ],
    )
    assert [c["status"] for c in right["citations"]] == ["kept", "outside"]
    assert [c["status"] for c in wrong["citations"]] == ["corrected"]
    assert wrong["supporting"][0]["doc_id"] == "bridge"
    assert [c["status"] for c in nowhere["citations"]] == ["unsupported"]
    assert (nowhere["verdict"], nowhere["supporting"]) == ("unsupported", [])
    texts = {d["id"]: d["text"] for d in DOCUMENTS}
    for item in right["supporting"] + wrong["supporting"]:
        assert texts[item["doc_id"]][item["start"] : item["end"]] == item["text"]


def test_plain_text_is_parted_and_contradictions_are_named(indexed: str, tmp_path: Path) -> None:
    first, second = cited(
        tmp_path,
        indexed,
        "--all",
        id="a1",
        text="The dam on the Ouse is 85 metres high. The bridge at Elm is 503 metres long.",
    )
    [against] = first["contradicting"]
    assert against["text"] == "The dam on the Ouse is 61 metres high."
    assert first["verdict"] == "unsupported"
    assert first["reason"] == "the number differs: '85' in the claim, '61' in the evidence"
    assert (second["verdict"], second["contradicting"]) == ("supported", [])


def test_nothing_outside_the_candidates_is_read(indexed: str, tmp_path: Path) -> None:
    [only] = cited(
        tmp_path, indexed, id="a1", doc_ids=["bread"], text="The dam on the Ouse is 61 metres high."
    )
    assert {item["doc_id"] for item in only["supporting"] + only["contradicting"]} <= {"bread"}
    assert only["verdict"] == "unsupported"


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"id": "a"}, "answers.jsonl:1: is no answer"),
        ({"id": "a", "text": 5}, "answers.jsonl:1: is no answer"),
        (
            {"id": 7, "text": "It is.", "doc_ids": "dam"},
            "answer '7': doc_ids must be a list of ids",
        ),
        (
            {"topic_id": "a", "references": ["dam"], "answer": [sentence("It is.", 0, 5)]},
            "answers.jsonl:1: answer[0] cites what is not among the 1 references",
        ),
        ({"id": "a", "text": "It is."}, "answers.jsonl:1: answer 'a' names no document"),
        ({"topic_id": "a", "references": [], "answer": "x"}, "answers.jsonl:1: answer must be"),
    ],
)
def test_bad_records_are_refused(
    indexed: str, tmp_path: Path, record: dict[str, object], told: str
) -> None:
    answers = write_lines(tmp_path / "answers.jsonl", [record])
    out = tmp_path / "cited.jsonl"
    done = ccrag("cite", answers, "--index", indexed, "-p", "lexical", "--out", out, code=1)
    assert told in done.output
    assert not out.exists()
