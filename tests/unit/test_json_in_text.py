"""JSON out of what models write around it."""

from typing import Any

import pytest

from ccrag.chat.json_in_text import find_json, json_values

AROUND = "text around the JSON was passed over"
LAST = "of 2 JSON values the last was taken"


@pytest.mark.parametrize(
    ("text", "value", "repairs"),
    [
        ('{"a": 1}', {"a": 1}, ()),
        ('  {"a": [1, {"b": "}"}]}\n', {"a": [1, {"b": "}"}]}, ()),
        ('Here it is: {"a": 1}', {"a": 1}, (AROUND,)),
        ('{"a": 1} Hope this helps [1]!', {"a": 1}, (AROUND,)),
        ('```json\n{"a": 1}\n```', {"a": 1}, (AROUND,)),
        ('<think>Is it {"a": 0}?</think>{"a": 1}', {"a": 1}, (AROUND,)),
        ('The passage says {"a": 0}, so {"a": 1}', {"a": 1}, (AROUND, LAST)),
        ('{ not JSON {"a": 1}', {"a": 1}, (AROUND,)),
        ('{"a": "\\ud83d\\ude00 “é”"}', {"a": "😀 “é”"}, ()),
    ],
)
def test_the_object_is_found_and_repairs_are_said(
    text: str, value: Any, repairs: tuple[str, ...]
) -> None:
    found = find_json(text)
    assert found is not None
    assert (found.value, found.repairs) == (value, repairs)


@pytest.mark.parametrize(
    "text",
    ["", "no JSON", "[1, 2]", "7", '{"a": 1', "{" * 5_000, "[" * 200_000, "null"],
)
def test_without_a_whole_object_there_is_none(text: str) -> None:
    assert find_json(text) is None


def test_what_is_wanted_decides_between_values() -> None:
    found = find_json("see [1] and {} then [3, 2]", wanted=lambda v: isinstance(v, list))
    assert found is not None
    assert found.value == [3, 2]


def test_values_inside_others_do_not_count_alone() -> None:
    assert json_values('{"a": {"b": 1}} [2] {"c": {"d": 3}') == [{"a": {"b": 1}}, [2]]
