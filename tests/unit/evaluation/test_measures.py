from typing import NamedTuple

import pytest

from ccrag.errors import InputError
from ccrag.evaluation.measures import cited_precision_recall, evidence_found


@pytest.mark.parametrize(
    ("references", "precision", "recall", "unjudged"),
    [
        (["a", "x"], 1 / 2, 1 / 2, 0),
        (["a", "b"], 2 / 2, 2 / 2, 0),
        (["x"], 0 / 1, 0 / 2, 0),
        (["a", "new"], 1 / 1, 1 / 2, 1),
        (["new"], None, 0 / 2, 1),
        (["a", "a", "x"], 1 / 2, 1 / 2, 0),
        ([], None, 0 / 2, 0),
    ],
)
def test_cited_documents(
    references: list[str], precision: float | None, recall: float, unjudged: int
) -> None:
    cited = cited_precision_recall(references, relevant={"a", "b"}, judged={"a", "b", "x"})
    assert (cited.precision, cited.recall, cited.unjudged_cited) == (precision, recall, unjudged)


def test_recall_of_nothing_is_undefined() -> None:
    assert cited_precision_recall(["x"], relevant=[], judged=["x"]).recall is None


def test_relevant_documents_are_judged() -> None:
    with pytest.raises(InputError, match=r"relevant but not judged: \['b'\]"):
        cited_precision_recall(["a"], relevant=["a", "b"], judged=["a"])


class At(NamedTuple):
    doc_id: str
    start: int
    end: int


TEXT = "One ends.  Two goes on. Three."
TEXTS = {"d": TEXT, "e": "Elsewhere."}
ONE, TWO, THREE = At("d", 0, 9), At("d", 11, 23), At("d", 24, 30)


def shares(quotes: list[str], evidence: list[At], passages: list[At]) -> tuple[object, object]:
    found = evidence_found(quotes, texts=TEXTS, evidence=evidence, passages=passages)
    return found.evidence_share, found.passage_share


def test_quote_across_sentences_needs_their_union() -> None:
    quotes = ["ends. Two goes"]
    assert shares(quotes, [ONE], [TWO, ONE]) == (0 / 1, 1 / 1)


def test_shares_count_quotes() -> None:
    assert shares(["One", "Two", "Three"], [THREE], [TWO, THREE]) == (1 / 3, 2 / 3)


def test_span_of_another_document_does_not_count() -> None:
    assert shares(["One ends."], [At("e", 0, 9)], [At("f", 0, 9)]) == (0 / 1, 0 / 1)


def test_any_occurrence_counts() -> None:
    found = evidence_found(
        ["again"], texts={"d": "again and again"}, evidence=[At("d", 6, 15)], passages=[]
    )
    assert (found.in_evidence, found.in_passages) == (1, 0)


def test_unknown_quote_is_no_miss() -> None:
    found = evidence_found(["Two", "Four"], texts=TEXTS, evidence=[TWO], passages=[TWO])
    assert found.unknown == ("Four",)
    assert found.evidence_share == found.passage_share == 1 / 1


def test_nothing_known_has_no_share() -> None:
    assert shares(["Four"], [TWO], [TWO]) == (None, None)
    assert shares([], [], []) == (None, None)
