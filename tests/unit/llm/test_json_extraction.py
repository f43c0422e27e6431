"""JSON out of what models write around it."""

import json
from typing import Any

import pytest

from ccrag.llm.json_extraction import FoundJson, find_json, json_values, without_thinking

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


@pytest.mark.parametrize(
    ("text", "value", "repair"),
    [
        ('{"a": "1\n2\t3"}', {"a": "1\n2\t3"}, "raw line breaks or tabs in strings"),
        ('{"a": [1, 2,], }', {"a": [1, 2]}, "a comma too many"),
        ("{'a': 'it\\'s \"so\"'}", {"a": 'it\'s "so"'}, "single quotes"),
        ("{“a”: “b”}", {"a": "b"}, "typographic quotes"),
        ('{"a": True, "b": None}', {"a": True, "b": None}, "Python's True, False or None"),
        ('{"a": 1 // one\n, /* two */ "b": 2}', {"a": 1, "b": 2}, "comments"),
        (r'{"a": "\alpha \(x\)"}', {"a": r"\alpha \(x\)"}, "backslashes that escape nothing"),
        ('{"a": 1, "a": 2}', {"a": 2}, "a key that stands twice, of which the last counts"),
    ],
)
def test_slips_are_mended_and_told(text: str, value: Any, repair: str) -> None:
    found = find_json(text)
    assert found is not None
    assert (found.value, found.repairs) == (value, (f"mended in the JSON: {repair}",))


@pytest.mark.parametrize("text", ["\ufeff{}", " {}\n", "\ufeff \n{}"])
def test_a_byte_order_mark_and_blanks_are_nothing(text: str) -> None:
    assert find_json(text) == FoundJson({})


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "b}',
        '{"a": [1, 2}',
        '{"a": 1 "b": 2}',
        "{'a': 'it's'}",
        '{"a": b}',
        '{"a": ,}',
        '{"ok": flase, "a": {"b": 1}}',
        '{"ok": flase, "a": [{"b": 1}, {"b": 2}]}',
        '[{"b": 1}, {"b": 2}, {"b": ',
    ],
)
def test_nothing_is_completed_or_taken_out_of_what_is_broken(text: str) -> None:
    assert find_json(text) is None


THOUGHT = [
    "<think>{0}</think>",
    "<THINK>\n{0}\n</THINK>",
    "<thinking>{0}</thinking>",
    "<reasoning>{0}</reasoning>",
    '<think type="x">{0}</think>',
    "<seed:think>{0}</seed:think>",
    "◁think▷{0}◁/think▷",
    "[THINK]{0}[/THINK]",
    "<|begin_of_thought|>{0}<|end_of_thought|>",
    "<|START_THINKING|>{0}<|END_THINKING|>",
    "<|channel|>analysis<|message|>{0}<|end|><|start|>assistant<|channel|>final<|message|>",
    "<unused94>thought {0}<unused95>",
]


@pytest.mark.parametrize("tags", THOUGHT)
def test_thinking_is_no_answer_with_or_without_its_end(tags: str) -> None:
    thought = tags.replace("{0}", '{"a": 0} but')
    found = find_json(f'{thought}{{"a": 1}}')
    assert found is not None
    assert (found.value, found.values) == ({"a": 1}, 1)
    assert without_thinking(f"{thought}so").endswith("so")
    begun = thought[: thought.index(" but") + 4]
    assert find_json(begun) is None
    assert without_thinking(begun).strip() == ""
    end = thought[len(begun) :]
    assert find_json(f'{{"a": 0}} but{end}') is None
    assert without_thinking(f"but{end}so") == "so"


@pytest.mark.parametrize("tag", ["<think>", "</think>", "<|end_of_thought|>"])
def test_a_tag_within_a_value_is_what_the_value_says(tag: str) -> None:
    text = json.dumps({"a": f"the tag {tag} ends"})
    for reply in (text, f"```json\n{text}\n```", f"<think>x</think>{text}"):
        found = find_json(reply)
        assert found is not None
        assert found.value == json.loads(text)


def test_an_answer_before_thinking_that_does_not_end_counts() -> None:
    found = find_json('{"a": 1}<think>or {"a": 2}')
    assert found is not None
    assert found.value == {"a": 1}
