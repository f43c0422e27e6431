import pytest

from ccrag.evaluation.citation_metrics import citation_measures, cited_document_measures
from ccrag.evaluation.entailment import entailment_measures
from ccrag.evaluation.registry import LeftOut
from ccrag.evaluation.rundata import RunAnswer, RunSentence
from ccrag.types import Span, make_passage_id
from tests.unit.measured import answer, evidence, figure, named

JUDGED = {"q": {"d1": 1, "d2": 0, "d3": 2}}


@pytest.mark.parametrize(
    ("references", "precision", "strict", "recall", "unjudged"),
    [
        (("d1",), 1 / 1, 1 / 1, 1 / 2, 0),
        (("d1", "d2"), 1 / 2, 1 / 2, 1 / 2, 0),
        (("d1", "d3", "new"), 2 / 2, 2 / 3, 2 / 2, 1),
        (("d1", "d1"), 1 / 1, 1 / 1, 1 / 2, 0),
        (("new",), LeftOut("no judged document is cited"), 0 / 1, 0 / 2, 1),
        ((), LeftOut("no judged document is cited"), LeftOut("nothing is cited"), 0 / 2, 0),
    ],
)
def test_cited_documents(
    references: tuple[str, ...],
    precision: float | LeftOut,
    strict: float | LeftOut,
    recall: float,
    unjudged: float,
) -> None:
    got = answer(RunSentence("A.", (0,)), references=references)
    found = [figure(measure, got, qrels=JUDGED) for measure in cited_document_measures()]
    assert found == [precision, strict, recall, unjudged]


def test_a_document_is_as_relevant_as_the_best_of_its_judged_passages() -> None:
    """`d1` has one relevant passage of two, `d2` none, `d3` one that is not cited."""

    def passage(doc_id: str, number: int) -> str:
        return make_passage_id(doc_id, Span(number, number + 1), "text")

    judged = {passage("d1", 1): 0, passage("d1", 2): 1, passage("d2", 1): 0, passage("d3", 1): 2}
    got = answer(RunSentence("A.", (0,)), references=("d1", "d2", "new"))
    found = [figure(measure, got, qrels={"q": judged}) for measure in cited_document_measures()]
    assert found == [1 / 2, 1 / 3, 1 / 2, 1]


def test_an_absent_query_cites_nothing() -> None:
    found = [figure(measure, None, qrels=JUDGED) for measure in cited_document_measures()]
    nothing = LeftOut("no judged document is cited"), LeftOut("nothing is cited")
    assert found == [*nothing, 0 / 2, 0]


def test_nothing_cited_can_be_wrong_where_only_relevant_documents_are_judged() -> None:
    got = answer(RunSentence("A.", (0,)), references=("d1", "new"))
    found = [figure(m, got, qrels={"q": {"d1": 1, "d3": 1}}) for m in cited_document_measures()]
    assert found == [LeftOut("only relevant documents are judged"), 1 / 2, 1 / 2, 1]


def test_unjudged_queries_are_left_out() -> None:
    got = answer(RunSentence("A.", (0,)))
    for measure in cited_document_measures():
        assert figure(measure, got, qrels={"other": {"d1": 1}}) == LeftOut("not judged")


def test_citations_are_counted() -> None:
    got = answer(
        RunSentence("A.", (0, 1, 0)),
        RunSentence("B.", (2, -1)),
        RunSentence("C."),
        references=("d1", "d1"),
    )
    measures = citation_measures()
    assert figure(named(measures, "cited-sentences"), got) == 2 / 3
    assert figure(named(measures, "citation-errors"), got) == 2
    assert figure(named(measures, "citation-duplicates"), got) == 1 + 1
    assert [figure(m, None) for m in measures[1:3]] == [0, 0]


SHOWN = (
    evidence(1, "d1", "Wings flutter when bending couples with twisting."),
    evidence(2, "d2", "Damping falls as speed rises."),
    evidence(3, "d2", "Bridges collapse."),
)
SUPPORT = named(citation_measures(), "lexical-support")


@pytest.mark.parametrize(
    ("sentence", "share"),
    [
        (RunSentence("Wings flutter as bending couples with twisting.", (0,), ("e1",)), 1),
        (RunSentence("Wings flutter as bending couples with twisting.", (1,), ("e2",)), 0),
        (RunSentence("Wings flutter as bending couples with twisting."), 0),
        (RunSentence("Wings flutter as bending couples with twisting.", (7,), ("e1",)), 0),
        (RunSentence("Bridges collapse.", (-1,)), 0),
        (RunSentence("Bridges collapse.", (1,), ("e2",)), 0),
        (RunSentence("Bridges collapse.", (1,)), 1),
        (RunSentence("Wings flutter as damping falls.", (0, 1), ("e1", "e2")), 1),
    ],
)
def test_lexical_support(sentence: RunSentence, share: float) -> None:
    assert figure(SUPPORT, answer(sentence, shown=SHOWN)) == share


def test_lexical_support_is_a_share_of_sentences_with_terms() -> None:
    sentences = (
        RunSentence("Bridges collapse.", (1,), ("e3",)),
        RunSentence("Cats sleep.", (0,), ("e1",)),
        RunSentence("It is so.", (0,), ("e1",)),
    )
    assert figure(SUPPORT, answer(*sentences, shown=SHOWN)) == 1 / 2


def test_containment_is_a_setting() -> None:
    half = answer(RunSentence("Bridges sleep.", (1,), ("e3",)), shown=SHOWN)
    lenient = named(citation_measures(containment=0.5), "lexical-support")
    assert (figure(SUPPORT, half), figure(lenient, half)) == (0, 1)


NLI = entailment_measures(lambda premise, hypothesis: 1.0)


@pytest.mark.parametrize("measure", [SUPPORT, *NLI], ids=lambda measure: measure.name)
@pytest.mark.parametrize(
    ("got", "reason"),
    [
        (None, "empty answer"),
        (RunAnswer((RunSentence("Unknown."),), evidence=()), "abstained"),
        (answer(RunSentence("A.", (0,)), shown=None), "no provenance for this query"),
    ],
)
def test_support_is_not_defined(measure: object, got: RunAnswer | None, reason: str) -> None:
    assert figure(measure, got) == LeftOut(reason)  # type: ignore[arg-type]


def entailment(*sentences: RunSentence) -> tuple[object, object]:
    """ALCE's measures where a premise entails a sentence that has all its letters."""

    def scorer(premise: str, hypothesis: str) -> float:
        return 1.0 if set(hypothesis) <= set(premise) else 0.0

    shown = (evidence(1, "d1", "ab"), evidence(2, "d2", "bc"), evidence(3, "d3", "c"))
    got = answer(*sentences, references=("d1", "d2", "d3"), shown=shown)
    recall, precision = entailment_measures(scorer)
    return figure(recall, got), figure(precision, got)


def test_citations_together_entail() -> None:
    # neither alone, both needed: none is superfluous
    assert entailment(RunSentence("ac", (0, 1))) == (1, 2 / 2)


def test_citations_that_entail_alone_both_count() -> None:
    assert entailment(RunSentence("b", (0, 1))) == (1, 2 / 2)


def test_superfluous_citation_costs_precision() -> None:
    # d1 entails alone; d3 does not, and without it the sentence is entailed still
    assert entailment(RunSentence("ab", (0, 2))) == (1, 1 / 2)


def test_citations_of_an_unsupported_sentence_do_not_count() -> None:
    assert entailment(RunSentence("xyz", (0, 1)), RunSentence("b", (0,))) == (1 / 2, 1 / 3)


def test_uncited_sentence_and_unresolved_citation() -> None:
    assert entailment(RunSentence("a"), RunSentence("a", (0,))) == (1 / 2, 1 / 1)
    assert entailment(RunSentence("a", (0, 9))) == (1, 1 / 2)
    assert entailment(RunSentence("a")) == (0, LeftOut("nothing is cited"))


def test_each_pair_is_scored_once_against_the_threshold() -> None:
    asked: list[tuple[str, str]] = []

    def scorer(premise: str, hypothesis: str) -> float:
        asked.append((premise, hypothesis))
        return 0.6

    got = answer(RunSentence("a", (0,)), shown=(evidence(1, "d1", "p"),))
    assert [figure(m, got) for m in entailment_measures(scorer)] == [1, 1]
    assert asked == [("p", "a")]
    assert [figure(m, got) for m in entailment_measures(scorer, threshold=0.7)] == [0, 0]
