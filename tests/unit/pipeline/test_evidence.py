"""The settings of form reach the sentences; the best stays, and what was passed over is told."""

from typing import Any

import pytest

from ccrag.config import PipelineSettings
from ccrag.pipeline.evidence import EvidenceSelector
from ccrag.pipeline.state import QueryState
from tests.support import query
from tests.unit.stages import by_id, passage

DOSE = "The maximum daily dose is 4 grams."
FILLER = "Never combine it with alcohol."
CAPTION = "Figure 2: The maximum daily dose in grams, by age."


def read(changes: dict[str, dict[str, Any]], *sentences: str) -> QueryState:
    found = passage("d", sentences=[f"{sentence} " for sentence in sentences])
    asked = query("What is the maximum daily dose?", "d", query_id="q1")
    state = QueryState(asked, question=asked.text, passages=by_id(found), read=(found,))
    EvidenceSelector(PipelineSettings.model_validate(changes), None, None).select([state])
    return state


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ()),
        ({"answer": {"min_words": 12}}, ("short",)),
        ({"answer": {"max_sentence_words": 5}}, ("long",)),
        ({"evidence": {"max_sentence_words": 5}}, ("long",)),
    ],
)
@pytest.mark.parametrize("scorer", ["lexical", "bm25", "order"])
def test_limits_of_length_are_heard_and_lose_nothing(
    changes: dict[str, dict[str, Any]], expected: tuple[str, ...], scorer: str
) -> None:
    evidence = {**changes.get("evidence", {}), "scorer": scorer}
    state = read({**changes, "evidence": evidence}, DOSE, FILLER)
    assert state.evidence[0].text == DOSE
    assert state.merits["e1"].defects == expected


def test_what_was_passed_over_is_told() -> None:
    state = read({"evidence": {"max_sentences": 1}}, CAPTION, DOSE)
    assert [item.text for item in state.evidence] == [DOSE]
    assert [note.message for note in state.notes] == [f"passed over (caption): {CAPTION!r} of d"]
