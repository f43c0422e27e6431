"""The settings of form reach the sentences; the best stays, and what was passed over is told."""

from typing import Any

import pytest

from ccrag.config import PipelineSettings
from ccrag.pipeline.evidence import Reader
from ccrag.pipeline.state import Way
from tests.support import query
from tests.unit.stages import by_id, passage

DOSE = "The maximum daily dose is 4 grams."
FILLER = "Never combine it with alcohol."
CAPTION = "Figure 2: The maximum daily dose in grams, by age."


def read(changes: dict[str, dict[str, Any]], *sentences: str) -> Way:
    found = passage("d", sentences=[f"{sentence} " for sentence in sentences])
    asked = query("What is the maximum daily dose?", "d", query_id="q1")
    way = Way(asked, question=asked.text, passages=by_id(found), read=(found,))
    Reader(PipelineSettings.model_validate(changes), None, None).read([way])
    return way


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
    way = read({**changes, "evidence": evidence}, DOSE, FILLER)
    assert way.evidence[0].text == DOSE
    assert way.merits["e1"].defects == expected


def test_what_was_passed_over_is_told() -> None:
    way = read({"evidence": {"max_sentences": 1}}, CAPTION, DOSE)
    assert [item.text for item in way.evidence] == [DOSE]
    assert [note.message for note in way.notes] == [f"passed over (caption): {CAPTION!r} of d"]
