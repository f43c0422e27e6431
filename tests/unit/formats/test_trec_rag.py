import unicodedata
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccrag.errors import InvariantError
from ccrag.evaluation.validate import Format, validate
from ccrag.formats.trec_rag import one_line, record
from ccrag.types import Answer, AnswerSentence, Candidates, Query

QUERY = Query("q1", "Why is the sky  blue?", Candidates.of(["d1", "d2"], query_id="q1"))


def answer(*sentences: AnswerSentence, references: tuple[str, ...] = ("d2",)) -> Answer:
    return Answer("q1", sentences, references, evidence=())


def test_record_bytes_follow_the_guidelines() -> None:
    sentence = AnswerSentence("Air scatters\n blue light. ", ("e1",), (0,))
    assert orjson.dumps(record(QUERY, answer(sentence), team_id="t", run_id="r")) == (
        b'{"metadata":{"team_id":"t","run_id":"r","type":"automatic","narrative_id":"q1",'
        b'"narrative":"Why is the sky  blue?"},"references":["d2"],'
        b'"answer":[{"text":"Air scatters blue light.","citations":[0]}]}'
    )


def test_manual_run_says_so() -> None:
    written = record(QUERY, answer(), team_id="t", run_id="r", automatic=False)
    assert written["metadata"]["type"] == "manual"


def test_abstention_cites_and_references_nothing() -> None:
    abstention = answer(AnswerSentence("No answer here.", (), ()), references=())
    written = record(QUERY, abstention, team_id="t", run_id="r")
    assert written["references"] == []
    assert written["answer"] == [{"text": "No answer here.", "citations": []}]


def test_answer_of_another_query_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="'q2' written for query 'q1'"):
        record(QUERY, Answer("q2", (), (), ()), team_id="t", run_id="r")


def test_text_becomes_one_nfc_line() -> None:
    assert one_line(" cafe\u0301\t\u00a0au \r\n lait\u2028") == "caf\u00e9 au lait"


TEXTS = st.text(min_size=1, max_size=40).filter(lambda text: bool(text.split()))


@st.composite
def answered(draw: st.DrawFn) -> tuple[Query, Answer]:
    """A query and an answer whose every reference is cited and every sentence cites."""
    doc_ids = draw(st.lists(TEXTS, min_size=1, max_size=5, unique=True))
    query = Query(draw(TEXTS), draw(TEXTS), Candidates.of(doc_ids, query_id="q"))
    references = tuple(draw(st.permutations(doc_ids)))[: draw(st.integers(0, len(doc_ids)))]
    if not references:
        abstention = (AnswerSentence(draw(TEXTS), (), ()),)
        return query, Answer(query.query_id, abstention, (), (), abstained=True)
    indices = range(len(references))
    cited: list[tuple[int, ...]] = [(i,) for i in indices]
    cited.append(tuple(draw(st.permutations(indices))))
    sentences = tuple(AnswerSentence(draw(TEXTS), (), citations) for citations in cited)
    return query, Answer(query.query_id, sentences, references, ())


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run") / "responses.jsonl"


@settings(max_examples=60, deadline=None)
@given(answered())
def test_every_consistent_answer_gives_a_valid_record(
    file: Path, case: tuple[Query, Answer]
) -> None:
    query, given_answer = case
    file.write_bytes(orjson.dumps(record(query, given_answer, team_id="t", run_id="r")) + b"\n")
    assert validate(file, format=Format.LONGEVAL, queries=[query]) == []


@given(st.text())
def test_one_line_is_stable_nfc(text: str) -> None:
    line = one_line(text)
    assert one_line(line) == line
    assert unicodedata.is_normalized("NFC", line)
