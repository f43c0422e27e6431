import json
from pathlib import Path
from typing import Any

import pytest

from ccrag.errors import InputError
from ccrag.evaluation.gold import GoldQuote
from ccrag.evaluation.run_files import (
    read_answerable,
    read_gold,
    read_gold_answers,
    read_quotes,
    read_run_data,
    read_runs,
)
from ccrag.evaluation.rundata import EMPTY_ANSWER, PassageSpan, RunSentence
from ccrag.types import Evidence

RECORD: dict[str, Any] = {
    "metadata": {"narrative_id": "q1"},
    "references": ["d1", "d2"],
    "answer": [{"text": "Because.", "citations": [1]}, {"text": "So.", "citations": ["d1", "d9"]}],
}
EVIDENCE: dict[str, Any] = {
    "evidence_id": "e1",
    "passage_id": "d2#p",
    "doc_id": "d2",
    "section": ["Why"],
    "start": 3,
    "end": 12,
    "text": "Be\ncause.",
    "score": 0.5,
}
TOLD: dict[str, Any] = {
    "query_id": "q1",
    "abstained": False,
    "answer": [
        {"text": "Be\ncause.", "evidence": ["e1"], "citations": [1]},
        {"text": "So.", "evidence": [], "citations": [0, -1]},
    ],
    "references": ["d1", "d2"],
    "evidence": [EVIDENCE],
    "read": [{"passage_id": "d2#p", "doc_id": "d2", "start": 0, "end": 40}],
}


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "run-a"
    path.mkdir()
    lines(path / "responses.jsonl", RECORD)
    (path / "provenance.json").write_text(json.dumps({"queries": [TOLD]}), encoding="utf-8")
    (path / "run.trec").write_text("q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\n", encoding="utf-8")
    return path


def test_a_folder_gives_all_there_is(folder: Path) -> None:
    run = read_run_data(folder)
    assert run.name == "run-a"
    assert run.rankings == {"q1": (("d2", 2.0), ("d1", 1.0))}
    assert run.provenance is not None
    got = run.answer("q1")
    assert got.sentences[0] == RunSentence("Because.", (1,), ("e1",)), "text as submitted"
    assert got.sentences[1].citations == (0, -1)
    assert got.evidence == (Evidence(**EVIDENCE | {"section": ("Why",)}),)
    assert got.read == (PassageSpan("d2", 0, 40),)
    assert (got.text, got.references, got.abstained) == ("Because. So.", ("d1", "d2"), False)
    assert run.answer("absent") is EMPTY_ANSWER


def test_parts_that_are_not_there_are_none(folder: Path) -> None:
    (folder / "run.trec").unlink()
    (folder / "provenance.json").unlink()
    run = read_run_data(folder, name="mine")
    assert (run.name, run.rankings, run.provenance) == ("mine", None, None)
    assert (run.answer("q1").evidence, run.answer("q1").read) == (None, None)


def test_provenance_alone_tells_the_answers(folder: Path) -> None:
    (folder / "responses.jsonl").unlink()
    assert read_run_data(folder).answer("q1").text == "Be\ncause. So."


def test_bare_files(folder: Path) -> None:
    responses = read_run_data(folder / "responses.jsonl")
    assert (responses.name, responses.rankings) == ("responses", None)
    assert list(responses.answers or {}) == ["q1"]
    trec = read_run_data(folder / "run.trec")
    assert (trec.name, trec.answers) == ("run", None)
    assert list(trec.rankings or {}) == ["q1"]


@pytest.mark.parametrize(("references", "abstained"), [([], True), (["d1"], False)])
def test_without_provenance_no_reference_is_an_abstention(
    tmp_path: Path, references: list[str], abstained: bool
) -> None:
    record = RECORD | {"references": references, "answer": [{"text": "No.", "citations": []}]}
    run = read_run_data(lines(tmp_path / "r.jsonl", record))
    assert run.answer("q1").abstained is abstained


@pytest.mark.parametrize("key", ["topic_id", "query_id"])
def test_other_names_of_the_query_id(tmp_path: Path, key: str) -> None:
    record = {key: 7, "references": [], "answer": []}
    assert list(read_run_data(lines(tmp_path / "r.jsonl", record)).answers or {}) == ["7"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"metadata": {}}, r":1: names no query; expected one of metadata\.narrative_id"),
        ({"references": None}, ":1: references is missing, expected a list"),
        ({"answer": ["text"]}, r":1: answer\[0\]: the record must be an object"),
        ({"answer": [{"citations": []}]}, r":1: answer\[0\]: text must be a string"),
        ({"answer": [{"text": "A."}]}, r":1: answer\[0\]: citations is missing"),
        (
            {"answer": [{"text": "A.", "citations": [True]}]},
            "citation True is neither an index nor an id; `ccrag validate` lists",
        ),
    ],
)
def test_responses_that_cannot_be_read(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_run_data(lines(tmp_path / "r.jsonl", RECORD | change))


def test_a_query_stands_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=":2: query 'q1' stands twice"):
        read_run_data(lines(tmp_path / "r.jsonl", RECORD, RECORD))


def test_no_run_in_the_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no run in this folder; expected responses\.jsonl"):
        read_run_data(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", '{"queries": [{}]}', '{"queries": [{"query_id": 1}]}'])
def test_broken_provenance(folder: Path, text: str) -> None:
    (folder / "provenance.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="is not the provenance of a run"):
        read_run_data(folder)


def test_provenance_of_another_run(folder: Path) -> None:
    lines(folder / "responses.jsonl", RECORD | {"references": ["d2", "d1"]})
    with pytest.raises(InputError, match="tells of another answer to query 'q1' than responses"):
        read_run_data(folder)


def test_repeated_names_become_paths(folder: Path) -> None:
    other = folder.parent / "other" / "run-a"
    other.mkdir(parents=True)
    lines(other / "responses.jsonl", RECORD)
    assert [run.name for run in read_runs([folder, other])] == [str(folder), str(other)]
    assert [run.name for run in read_runs([folder])] == ["run-a"]
    with pytest.raises(InputError, match="is given twice"):
        read_runs([folder, folder])


def test_gold_files(tmp_path: Path) -> None:
    answers = lines(tmp_path / "a.jsonl", {"query_id": "q1", "gold_answer": "G"})
    quotes = lines(
        tmp_path / "q.jsonl",
        {"query_id": "q1", "doc_id": "d1", "quote": "A."},
        {"query_id": "q2", "doc_id": 2, "quote": "B."},
        {"query_id": "q1", "doc_id": "d2", "quote": "C."},
    )
    answerable = lines(
        tmp_path / "n.jsonl",
        {"query_id": "q1", "answerable": True},
        {"query_id": "q2", "answerable": False},
    )
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q1 0 d1 1\n", encoding="utf-8")
    gold = read_gold(
        {"q1": "?"}, answers=answers, qrels=qrels, quotes=quotes, answerable=answerable
    )
    assert gold.answers == {"q1": "G"}
    assert gold.qrels == {"q1": {"d1": 1}}
    assert gold.quotes == {
        "q1": (GoldQuote("d1", "A."), GoldQuote("d2", "C.")),
        "q2": (GoldQuote("2", "B."),),
    }
    assert gold.answerable == {"q1": True, "q2": False}
    assert gold.texts is None
    assert read_gold({"q1": "?"}).answers is None


def test_gold_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = lines(tmp_path / "g.jsonl", {"query_id": "q1", "answerable": "yes"})
    with pytest.raises(InputError, match="g.jsonl:1: answerable must be true or false, got 'yes'"):
        read_answerable(path)
    with pytest.raises(InputError, match="g.jsonl:1: gold_answer is missing"):
        read_gold_answers(path)
    with pytest.raises(InputError, match="g.jsonl:1: doc_id is missing"):
        read_quotes(path)
    path.write_text("{\n", encoding="utf-8")
    with pytest.raises(InputError, match="g.jsonl:1: is not a JSON object"):
        read_quotes(path)
