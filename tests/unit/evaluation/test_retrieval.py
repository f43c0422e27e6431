import ir_measures
import pytest

from ccrag.errors import InputError
from ccrag.evaluation.gold import Gold
from ccrag.evaluation.registry import LeftOut
from ccrag.evaluation.retrieval import ranking_notes, retrieval_measure
from ccrag.evaluation.rundata import RunData
from ccrag.types import Span, make_passage_id

QRELS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1}, "q3": {"b": 0}}
RANKINGS = {
    "q1": (("b", 3.0), ("c", 2.5), ("new", 2.0), ("a", 1.0)),
    "q3": (("b", 1.0),),
    "beyond": (("a", 1.0),),
}
GOLD = Gold(dict.fromkeys(("q1", "q2", "q3", "q4"), "?"), qrels=QRELS | {"other": {"a": 1}})


@pytest.mark.parametrize("name", ["nDCG@10", "R@2", "P@1", "RR", "AP", "P(rel=2)@5", "Judged@3"])
def test_figures_are_ir_measures_own(name: str) -> None:
    found = dict(retrieval_measure(name).figures(RunData("r", rankings=RANKINGS), GOLD))
    assert found.pop("q4") == LeftOut("not judged")
    parsed = ir_measures.parse_measure(name)
    run = {query_id: dict(ranked) for query_id, ranked in RANKINGS.items()}
    direct = {m.query_id: m.value for m in ir_measures.iter_calc([parsed], QRELS, run)}
    assert found == direct
    assert found["q2"] == 0, "absent from the run: an empty ranking"


def test_reciprocal_rank_is_arithmetic() -> None:
    run = RunData("r", rankings=RANKINGS)
    assert retrieval_measure("RR").figures(run, GOLD)["q1"] == 1 / 2
    assert retrieval_measure("R@2").figures(run, GOLD)["q1"] == 1 / 2


def test_an_empty_run_scores_zero() -> None:
    found = retrieval_measure("nDCG@10").figures(RunData("r", rankings={}), GOLD)
    assert list(found.values())[:3] == [0, 0, 0]


@pytest.mark.parametrize("name", ["nonsense", "nDCG@", "P@1; x", ""])
def test_unknown_names_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="no measure is called"):
        retrieval_measure(name)


def test_passages_stand_for_their_documents() -> None:
    passages = {"q1": (("b#2", 3.0), ("b#1", 0.5), ("c#7", 1.0))}
    run = RunData("r", rankings=passages)
    assert retrieval_measure("RR").figures(run, GOLD)["q1"] == 1 / 2
    assert "the ranking is of passages" in ranking_notes(run, GOLD)[0]


def test_judged_ids_with_a_hash_are_left_as_they_are() -> None:
    gold = Gold({"q": "?"}, qrels={"q": {"b#1": 1, "b": 0}})
    run = RunData("r", rankings={"q": (("b#2", 3.0), ("b#1", 2.0))})
    assert retrieval_measure("RR").figures(run, gold)["q"] == 1 / 2
    assert ranking_notes(run, gold) == []


def passage(doc_id: str, number: int) -> str:
    return make_passage_id(doc_id, Span(number, number + 1), "text")


JUDGED = Gold({"q": "?"}, qrels={"q": {passage("a", 1): 0, passage("a", 2): 1, passage("b", 1): 0}})


def test_judged_passages_are_compared_with_ranked_passages() -> None:
    ranked = ((passage("a", 1), 3.0), (passage("b", 1), 2.0), (passage("a", 2), 1.0))
    run = RunData("r", rankings={"q": ranked})
    assert retrieval_measure("RR").figures(run, JUDGED)["q"] == 1 / 3
    assert ranking_notes(run, JUDGED) == []


def test_a_ranked_document_is_as_relevant_as_its_best_judged_passage() -> None:
    run = RunData("r", rankings={"q": (("b", 3.0), ("a", 2.0))})
    assert retrieval_measure("RR").figures(run, JUDGED)["q"] == 1 / 2
    (note,) = ranking_notes(run, JUDGED)
    assert "each document is as relevant as its best passage" in note
    assert "output.run_level=passage" in note


def test_passages_of_another_cut_are_not_judged_and_the_note_says_so() -> None:
    run = RunData("r", rankings={"q": ((passage("a", 9), 3.0),)})
    assert retrieval_measure("RR").figures(run, JUDGED)["q"] == 0
    assert ranking_notes(run, JUDGED) == [
        "none of the ranked ids is judged: do run and judgements use the same ids?",
    ]


def test_a_documents_own_hash_makes_it_no_passage() -> None:
    """TREC RAG's segments are documents here, and would meet as such if they were cut apart."""
    segment = "msmarco_v2.1_doc_01_1#4_567"
    gold = Gold({"q": "?"}, qrels={"q": {segment: 1}})
    run = RunData("r", rankings={"q": (("msmarco_v2.1_doc_01_1", 1.0),)})
    assert retrieval_measure("RR").figures(run, gold)["q"] == 0


def test_notes_say_what_a_zero_may_hide() -> None:
    notes = ranking_notes(RunData("r", rankings={"q1": (("x", 1.0),)}), GOLD)
    assert notes == [
        "1 judged queries are not in the query file and were left aside",
        "none of the ranked ids is judged: do run and judgements use the same ids?",
        "judged queries without a relevant document, 0 in retrieval: 1",
    ]
    assert ranking_notes(RunData("r"), GOLD) == []
