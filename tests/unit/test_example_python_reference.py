"""The collection of examples/python-reference: fair candidates, findable evidence, same bytes."""

import importlib.util
import json
import re
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from pydoc_data import topics as pydoc_topics
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "python-reference" / "build.py"
TOPICS: dict[str, str] = dict(pydoc_topics.topics)
SHINGLE_WORDS = 8
MAX_SHARED = 0.5


def load_script() -> Any:
    """The script as a module; its folder is no package."""
    spec = importlib.util.spec_from_file_location("python_reference_build", SCRIPT)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = load_script()
QUESTIONS = script.load_questions()
HELD_OUT_PATH = SCRIPT.with_name("questions-held-out.jsonl")
HELD_OUT = script.load_questions(HELD_OUT_PATH)

both_files = pytest.mark.parametrize(
    "questions", [QUESTIONS, HELD_OUT], ids=["questions", "held-out"]
)


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def shingles(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    starts = range(max(1, len(words) - SHINGLE_WORDS + 1))
    return {tuple(words[start : start + SHINGLE_WORDS]) for start in starts}


def shared(first: set[tuple[str, ...]], second: set[tuple[str, ...]]) -> float:
    """Share of the smaller set that the other one holds."""
    return len(first & second) / min(len(first), len(second))


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("reference") / "made" / "on-demand"
    script.build(directory, TOPICS)
    return directory


def test_documents_are_the_topics_byte_for_byte(out: Path) -> None:
    documents = records(out / "documents.jsonl")
    assert [document["id"] for document in documents] == sorted(TOPICS)
    assert {document["id"]: document["text"] for document in documents} == TOPICS
    for document in documents:
        assert document["text"].startswith(document["title"] + "\n")


def test_links_lead_to_other_topics_once(out: Path) -> None:
    documents = records(out / "documents.jsonl")
    for document in documents:
        assert document["links"] == sorted(set(document["links"]) - {document["id"]})
        assert set(document["links"]) <= set(TOPICS)
    assert sum(len(document["links"]) for document in documents) > len(documents)


def test_a_heading_is_a_reference_only_in_running_text_and_with_a_cue_if_short() -> None:
    topics = {
        "calls": "Calls\n*****\n\nCalls are made.",
        "for": 'The "for" statement\n*******************\n\nSee section Calls.',
        "forms": "Call forms\n**********\n\nCalls: The for\nstatement.",
        "all": "All\n***\n\nText.\n\n\nCall forms\n==========\n\nText.",
    }
    assert set(script.named_topics(topics)) == {("for", "calls"), ("forms", "for")}


def test_help_entries_follow_aliases() -> None:
    assert script.help_entry("PACKAGES")[0] == "import"
    assert script.help_entry("ASSERTION")[0] == "assert"
    assert script.help_entry("no such name") is None
    assert ("raise", "exceptions") in set(script.related_topics())


@both_files
def test_every_question_has_ten_candidates_and_agrees_with_itself(questions: Sequence[Any]) -> None:
    assert len({question.query_id for question in questions}) == len(questions)
    assert len({question.query for question in questions}) == len(questions)
    for question in questions:
        assert len(set(question.doc_ids)) == len(question.doc_ids) == 10
        assert list(question.doc_ids) == sorted(question.doc_ids), "order must tell nothing"
        assert set(question.relevant) <= set(question.doc_ids)
        assert {quote.doc_id for quote in question.evidence} == set(question.relevant)
        assert question.answerable == bool(question.relevant)


def test_counts_by_documents_needed() -> None:
    needed = [len(question.relevant) for question in QUESTIONS]
    assert [needed.count(number) for number in range(4)] == [7, 59, 44, 3]


def test_held_out_questions_need_several_topics_and_repeat_nothing() -> None:
    needed = [len(question.relevant) for question in HELD_OUT]
    assert [needed.count(number) for number in range(4)] == [0, 0, 36, 4]
    for part in ("query_id", "query"):
        assert not {getattr(q, part) for q in QUESTIONS} & {getattr(q, part) for q in HELD_OUT}
    gold = {quote for question in QUESTIONS for quote in question.evidence}
    assert not gold & {quote for question in HELD_OUT for quote in question.evidence}


def test_held_out_questions_are_built_beside_the_same_documents(out: Path, tmp_path: Path) -> None:
    assert script.main([str(tmp_path), str(HELD_OUT_PATH)]) == 0
    name = "documents.jsonl"
    assert (tmp_path / name).read_bytes() == (out / name).read_bytes()
    asked = [record["query_id"] for record in records(tmp_path / "queries.jsonl")]
    assert asked == [question.query_id for question in HELD_OUT]


@both_files
def test_no_candidate_holds_most_of_another(questions: Sequence[Any]) -> None:
    by_topic = {doc_id: shingles(text) for doc_id, text in TOPICS.items()}
    assert shared(by_topic["for"], by_topic["compound"]) > MAX_SHARED
    overlapping = [
        (question.query_id, first, second)
        for question in questions
        for first, second in combinations(sorted(set(question.doc_ids) & set(TOPICS)), 2)
        if shared(by_topic[first], by_topic[second]) >= MAX_SHARED
    ]
    assert overlapping == []


@both_files
def test_no_quote_stands_in_a_second_candidate(questions: Sequence[Any]) -> None:
    repeated = [
        (question.query_id, doc_id)
        for question in questions
        for quote in question.evidence
        for doc_id in question.doc_ids
        if doc_id != quote.doc_id and script.find_quote(TOPICS.get(doc_id, ""), quote.quote)
    ]
    assert repeated == []


@pytest.mark.parametrize("path", [script.QUESTIONS, HELD_OUT_PATH], ids=["questions", "held-out"])
def test_every_quote_is_written_as_it_stands_or_reported(path: Path, tmp_path: Path) -> None:
    lacking = script.build(tmp_path, TOPICS, path)
    written = records(tmp_path / "quotes.jsonl")
    questions = script.load_questions(path)
    assert lacking == script.missing(questions, TOPICS)
    assert all(record["quote"] in TOPICS[record["doc_id"]] for record in written)
    found = [f"{record['query_id']} ({record['doc_id']})" for record in written]
    gold = [f"{asked.query_id} ({quote.doc_id})" for asked in questions for quote in asked.evidence]
    assert sorted([*found, *lacking.quotes]) == sorted(gold)
    if sys.version_info < (3, 13):
        assert lacking == script.Missing((), ())


def test_queries_qrels_and_answerable_follow_the_questions(out: Path) -> None:
    assert [record["query_id"] for record in records(out / "queries.jsonl")] == [
        question.query_id for question in QUESTIONS
    ]
    relevant = [
        f"{asked.query_id} 0 {doc_id} 1"
        for asked in QUESTIONS
        for doc_id in asked.relevant
        if doc_id in TOPICS
    ]
    assert (out / "qrels.txt").read_text(encoding="utf-8").splitlines() == relevant
    assert {
        record["query_id"] for record in records(out / "answerable.jsonl") if record["answerable"]
    } == {question.query_id for question in QUESTIONS if question.relevant}


def test_other_wordings_and_missing_topics_are_left_out_and_named(tmp_path: Path) -> None:
    topics = {doc_id: text for doc_id, text in TOPICS.items() if doc_id != "del"}
    topics["assert"] = "Assertions\n**********\n\nWorded anew."
    lacking = script.build(tmp_path, topics)
    asked = next(question for question in QUESTIONS if question.relevant == ("del",))
    reworded = next(question for question in QUESTIONS if question.relevant == ("assert",))
    assert f"{asked.query_id} (del)" in lacking.documents
    assert {f"{asked.query_id} (del)", f"{reworded.query_id} (assert)"} <= set(lacking.quotes)
    assert all("del" not in record["doc_ids"] for record in records(tmp_path / "queries.jsonl"))
    assert all("del" not in record["links"] for record in records(tmp_path / "documents.jsonl"))
    assert " del " not in (tmp_path / "qrels.txt").read_text(encoding="utf-8")
    unwritten = {asked.query_id, reworded.query_id}
    assert not unwritten & {record["query_id"] for record in records(tmp_path / "quotes.jsonl")}
    assert f"{len(lacking.quotes)} quotes worded differently: " in script.report(lacking)


def test_two_builds_give_the_same_bytes(out: Path, tmp_path: Path) -> None:
    script.build(tmp_path, dict(reversed(TOPICS.items())))
    names = sorted(path.name for path in out.iterdir())
    assert names == [
        "answerable.jsonl",
        "documents.jsonl",
        "qrels.txt",
        "queries.jsonl",
        "quotes.jsonl",
    ]
    for name in names:
        assert (tmp_path / name).read_bytes() == (out / name).read_bytes()


def test_the_command_reports_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main([str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert "quotes worded differently" in said.err
    assert script.main([]) == 2
    assert script.main([str(tmp_path), str(tmp_path / "none.jsonl")]) == 2
    assert "none.jsonl: no such file of questions" in capsys.readouterr().err
