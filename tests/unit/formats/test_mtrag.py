"""MTRAGEval predictions, and the contexts that its tasks bring."""

import json
from pathlib import Path

import pytest

from ccrag.config import PipelineSettings, Settings
from ccrag.corpus.contexts import read_contexts
from ccrag.errors import ConfigError, InputError
from ccrag.formats import Format, mtrag
from ccrag.pipeline.contexts import ContextPipeline
from ccrag.pipeline.pipeline import PipelineModels
from ccrag.runs.output_formats import make_output_format
from ccrag.types import Answer, AnswerSentence, Candidates, Hit, Query, Ranking, Result, Turn
from tests.unit.stages import by_id, passage

ASKED = Query(
    "c<::>2",
    "Is it safe?",
    Candidates.of_collection("fiqa"),
    (Turn("user", "What is a bond?"), Turn("agent", "A loan.")),
)
INPUT = [
    {"speaker": "user", "text": "What is a bond?"},
    {"speaker": "agent", "text": "A loan."},
    {"speaker": "user", "text": "Is it safe?"},
]
ANSWER = Answer(
    "c<::>2",
    (AnswerSentence("Bonds are\nsafe.", ("e1",), (0,)), AnswerSentence("Mostly.", ("e2",), (0,))),
    ("a",),
    (),
)


def ranking(*hits: tuple[str, str, float]) -> Ranking:
    return Ranking.of("c<::>2", "rrf", [Hit(*hit) for hit in hits])


def test_task_a_holds_the_ten_best_documents_once_each() -> None:
    hits = [(f"d{n}#{part}", f"d{n}", 20.0 - n - part / 2) for n in range(12) for part in (0, 1)]
    record = mtrag.retrieval_record(ASKED, ranking(*hits))
    assert {key: record[key] for key in ("task_id", "Collection")} == {
        "task_id": "c<::>2",
        "Collection": "fiqa",
    }
    assert record["contexts"] == [{"document_id": f"d{n}", "score": 20.0 - n} for n in range(10)]


def test_task_c_holds_what_was_read() -> None:
    held = by_id(
        passage("a#1", "Bonds.", doc_id="a", title="A"),
        passage("a#2", "More.", doc_id="a", title="A"),
        passage("b#1", "Stocks.", doc_id="b"),
        passage("c#1", "Not read.", doc_id="c"),
    )
    ranked = ranking(("b#1", "b", 0.9), ("a#2", "a", 0.8), ("a#1", "a", 0.3), ("c#1", "c", 0.2))
    record = mtrag.rag_record(ASKED, ANSWER, ranked, read=["b#1", "a#1", "a#2"], passages=held)
    assert record == {
        "task_id": "c<::>2",
        "Collection": "fiqa",
        "input": INPUT,
        "contexts": [
            {"document_id": "b", "score": 0.9, "text": "Stocks.", "title": ""},
            {"document_id": "a", "score": 0.8, "text": "Bonds.\nMore.", "title": "A"},
        ],
        "predictions": [{"text": "Bonds are safe. Mostly."}],
    }


def test_task_b_gives_the_contexts_back_as_they_came() -> None:
    contexts = [{"document_id": "x", "text": "  kept ", "score": 3, "url": "u"}]
    record = mtrag.generation_record(ASKED, ANSWER, contexts)
    assert (record["contexts"], record["input"]) == (contexts, INPUT)


def test_a_query_over_documents_is_no_task() -> None:
    lone = Query("q", "x", Candidates.of(["d"], query_id="q"))
    with pytest.raises(InputError, match="query 'q' names no collection"):
        mtrag.retrieval_record(lone, ranking())


@pytest.mark.parametrize("format_", [Format.TREC_RAG24, Format.MTRAG_B])
def test_shapes_that_an_index_cannot_give(format_: Format) -> None:
    with pytest.raises(ConfigError, match=f"not written as {format_.value}"):
        make_output_format(format_, Settings())


def write(folder: Path, *contexts: object) -> Path:
    path = folder / "b.jsonl"
    path.write_text(json.dumps({"task_id": "t", "input": INPUT, "contexts": list(contexts)}))
    return path


def test_contexts_are_passages_in_their_order(tmp_path: Path) -> None:
    first = {"document_id": "b", "text": "Stocks fall. Often.", "title": "S", "score": 9}
    others = [{"document_id": "a", "text": "Bonds."}, {"document_id": "e", "text": " "}, first]
    given = read_contexts(write(tmp_path, first, *others))["t"]
    assert [(p.doc_id, p.text, p.title) for p in given.passages] == [
        ("b", "Stocks fall. Often.", "S"),
        ("a", "Bonds.", ""),
    ]
    assert len(given.records) == 4


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ("x", r"contexts\[0\] must be an object, got a string"),
        ({"text": "x"}, r"contexts\[0\].document_id must be a string"),
        ({"document_id": "a"}, r"contexts\[0\].text must be a string, got null"),
    ],
)
def test_what_is_no_context(tmp_path: Path, context: object, message: str) -> None:
    with pytest.raises(InputError, match=rf"b.jsonl:1: {message}"):
        read_contexts(write(tmp_path, context))


def test_tasks_without_contexts_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"task_id": "t", "input": INPUT}))
    with pytest.raises(InputError, match="a list of passages to answer from, got nothing"):
        read_contexts(path)


def answered(*texts: str) -> Result:
    settings = PipelineSettings.model_validate(
        {"variants": {"question": "last-two"}, "answer": {"abstention": "I cannot say."}}
    )
    passages = [passage(f"d{n}#1", text, doc_id=f"d{n}") for n, text in enumerate(texts)]
    given = ContextPipeline(settings, {"c<::>2": passages}, PipelineModels())
    [result] = given.run([ASKED])
    assert isinstance(result, Result)
    return result


def test_given_contexts_are_read_in_their_order_and_answered_from() -> None:
    result = answered("Rivers run to the sea, as all know.", "A bond is a loan to a company.")
    assert [hit.doc_id for hit in result.ranking] == ["d0", "d1"]
    assert result.answer.references == ("d1",)
    assert result.answer.sentences[0].text == "A bond is a loan to a company."


def test_nothing_given_or_nothing_that_fits_is_an_abstention() -> None:
    for result in (answered(), answered("Rivers run to the sea, as all know.")):
        assert result.answer.abstained
        assert mtrag.prediction(result.answer) == "I cannot say."
