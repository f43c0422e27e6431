"""Replies of listwise rerankers: whatever they say, no passage is lost and every repair is told."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccrag.retrieval.order_reply import MAX_TOLD, ORDER_KEYS, Order, label, read_order

AROUND = "text around the JSON was passed over"
REWORDED = "ids written in another way than shown: "
UNKNOWN = "unknown ids left out: "
REPEATED = "repeated ids left out: "
MISSING = "ids not named, put last as they stood: "
ENDS = "the order is cut off: the ids in it were read"
BROKEN = "the order is not whole JSON: the ids in it were read"
CHAIN = "`>` between ids was read as their order"
MENDED = "mended in the JSON: "
BARE = "a list without its object"

# Of three passages: what the model replies, the order it is read to, and what is told of it.
READ: list[tuple[str, str, str, list[str]]] = [
    ("as asked", '{"order": ["p3", "p1", "p2"]}', "312", []),
    ("as it was", '{"order": ["p1", "p2", "p3"]}', "123", []),
    ("prose around", 'Sure! {"order": ["p2", "p3", "p1"]} Hope it helps.', "231", [AROUND]),
    ("a code fence", '```json\n{"order": ["p2", "p3", "p1"]}\n```', "231", [AROUND]),
    (
        "markers in the prose after it",
        '{"order": ["p3", "p2", "p1"]} as [p1] is off the subject, see [1] and [2].',
        "321",
        [AROUND],
    ),
    (
        "thinking aloud",
        '<think>{"order": ["p1"]} or [3] > [2]?</think>{"order": ["p2", "p1", "p3"]}',
        "213",
        [AROUND],
    ),
    (
        "a first draft and the answer",
        '{"order": ["p1", "p2", "p3"]} No: {"order": ["p2", "p1", "p3"]}',
        "213",
        [AROUND, "of 2 JSON values the last was taken"],
    ),
    ("some missing", '{"order": ["p3"]}', "312", [MISSING + "p1, p2"]),
    ("unknown", '{"order": ["p9", "p3", "p2", "p1"]}', "321", [UNKNOWN + "'p9'"]),
    ("repeated", '{"order": ["p3", "p1", "p3", "p2", "p1"]}', "312", [REPEATED + "p3, p1"]),
    ("numbers from 1", '{"order": [3, 1, 2]}', "312", [REWORDED + "3, 1, 2"]),
    ("numbers as texts", '{"order": ["3", "1", "2"]}', "312", [REWORDED + "'3', '1', '2'"]),
    (
        "numbers from 0",
        '{"order": [2, 0, 1]}',
        "213",
        [REWORDED + "2, 1", UNKNOWN + "0", MISSING + "p3"],
    ),
    ("whole floats", '{"order": [3.0, 1.0, "p2"]}', "312", [REWORDED + "3.0, 1.0"]),
    (
        "other floats",
        '{"order": [2.5, NaN, Infinity, -Infinity, "2.5", "p3", "p2", "p1"]}',
        "321",
        [UNKNOWN + "2.5, nan, inf, -inf, '2.5'"],
    ),
    ("negative", '{"order": [-1, "-2", "p2"]}', "213", [UNKNOWN + "-1, '-2'", MISSING + "p1, p3"]),
    (
        "booleans and nothing",
        '{"order": [true, false, null, "p2", "p1", "p3"]}',
        "213",
        [UNKNOWN + "True, False, None"],
    ),
    (
        "lists within",
        '{"order": [["p3", "p1"], [["p2"]]]}',
        "312",
        ["lists within the list were taken as one"],
    ),
    (
        "objects with scores, which are not indices",
        '{"order": [{"id": "p2", "score": 9}, {"score": 8, "id": "p3"}, {"id": "p1"}]}',
        "231",
        [REWORDED + "{'id': 'p2', 'score': 9}, {'score': 8, 'id': 'p3'}, {'id': 'p1'}"],
    ),
    (
        "objects without ids",
        '{"order": [{"score": 9}, {}, "p3", "p2", "p1"]}',
        "321",
        [UNKNOWN + "{'score': 9}, {}"],
    ),
    ("another key", '{"ranking": ["p2", "p1", "p3"]}', "213", ["the order stands under 'ranking'"]),
    ("another case", '{"Order": ["P2", "p1", "p3"]}', "213", [REWORDED + "'P2'"]),
    ("an object around", '{"result": {"order": ["p2", "p1", "p3"]}}', "213", []),
    (
        "more keys",
        '{"order": ["p2", "p1", "p3"], "references": ["evil"], "ids": ["p3"]}',
        "213",
        [],
    ),
    (
        "one text",
        '{"order": "p3 > p1, p2"}',
        "312",
        [REWORDED + "'p3 > p1, p2'"],
    ),
    (
        "texts around ids",
        '{"order": ["[p3]", "Passage 1", "2. p2 (score 3)"]}',
        "312",
        [REWORDED + "'[p3]', 'Passage 1', '2. p2 (score 3)'"],
    ),
    ("one id", '{"order": "p2"}', "213", [MISSING + "p1, p3"]),
    (
        "evidence ids",
        '{"order": ["e3", "ep2", "p2"]}',
        "213",
        [UNKNOWN + "'e3', 'ep2'", MISSING + "p1, p3"],
    ),
    ("cut off", '{"order": ["p3", "p2", "p', "321", [ENDS, MISSING + "p1"]),
    ("cut off within a number", '{"order": [3, 1', "312", [ENDS, MISSING + "p1, p2"]),
    ("single quotes", "{'order': ['p3', 'p1', 'p2']}", "312", [MENDED + "single quotes"]),
    (
        "a comma too many",
        '{"order": ["p3", "p1", "p2",]}',
        "312",
        [MENDED + "a comma too many"],
    ),
    ("no quotes", "order: [p3, p1, p2]", "312", [BROKEN]),
    ("a trained reranker's chain", "[3] > [1] > [2]", "312", [CHAIN]),
    ("a chain in prose", "I would say p2 > p3, since [1] is old.", "231", [CHAIN, MISSING + "p1"]),
    ("a second chain", "At first p1 > p2 > p3, then p2 > p1 > p3.", "213", [CHAIN]),
    (
        "two lists of one length",
        "[3, 1, 2], or rather [2, 1, 3]",
        "213",
        [BARE, "of 2 lists the longest was taken", REWORDED + "2, 1, 3"],
    ),
    ("a bare list", '["p3", "p1", "p2"]', "312", [BARE]),
    (
        "a bare list of objects",
        '[{"id": "p3"}, {"id": "p1"}, "p2"]',
        "312",
        [BARE, REWORDED + "{'id': 'p3'}, {'id': 'p1'}"],
    ),
    (
        "lists in prose",
        "[3, 1, 2] because [1] is old",
        "312",
        [BARE, "of 2 lists the longest was taken", REWORDED + "3, 1, 2"],
    ),
    (
        "other digits",
        '{"order": ["٣", "p２", "（1）"]}',
        "321",
        [REWORDED + "'٣', 'p２', '（1）'"],
    ),
    (
        "an id of many digits",
        '{"order": ["p' + "9" * 5000 + '", "p1000000000", "p2"]}',
        "213",
        [UNKNOWN + "'p" + "9" * 57 + "…, 'p1000000000'", MISSING + "p1, p3"],
    ),
]

UNREAD = {
    "nothing": "",
    "prose instead of a list": "The most relevant document is the second one, then the third.",
    "scores, one of them missing": "Doc: 2, Relevance: 7\nDoc: 3, Relevance:\nDoc: 1",
    "a refusal": "I'm sorry, but I can't help with that.",
    "an empty order": '{"order": []}',
    "no order": '{"order": null}',
    "unknown ids alone": '{"order": ["p7", "e1", true, {}, []]}',
    "an empty list": "[]",
    "an object of another form": '{"answerable": true, "sentences": []}',
    "ranks by id, which could mean either": '{"order": {"p1": 3, "p2": 1, "p3": 2}}',
    "cut off before an id": '{"order": ["p3',
    "brackets without end": "[" * 100_000,
    "digits without end": "1" * 100_000,
    "a number beyond all bounds": '{"order": ' + "9" * 10_000 + "}",
}


@pytest.mark.parametrize(
    ("reply", "order", "told"), [case[1:] for case in READ], ids=[case[0] for case in READ]
)
def test_what_a_reply_says(reply: str, order: str, told: list[str]) -> None:
    found = read_order(reply, 3)
    assert "".join(str(place + 1) for place in found.places) == order
    assert list(found.repairs) == told
    assert found.readable


@pytest.mark.parametrize("reply", UNREAD.values(), ids=UNREAD)
def test_a_reply_without_an_order_keeps_the_one_there_was(reply: str) -> None:
    found = read_order(reply, 3)
    assert (found.places, found.readable) == ((0, 1, 2), False)
    assert found.repairs[-1].startswith(("no order in ", "no passage is named in "))


def test_a_reply_as_asked_needs_no_repair() -> None:
    wanted = [2, 0, 3, 1]
    assert read_order(json.dumps({"order": list(map(label, wanted))}), 4) == Order(tuple(wanted))


def test_of_many_repairs_the_first_are_named_and_the_rest_counted() -> None:
    ids = ["p1", *(f"x{n}" for n in range(MAX_TOLD + 3))]
    [unknown] = read_order(json.dumps({"order": ids}), 1).repairs
    assert unknown == "unknown ids left out: 'x0', 'x1', 'x2', 'x3', 'x4' and 3 more"


@pytest.mark.parametrize("key", ORDER_KEYS)
def test_every_key_is_read(key: str) -> None:
    assert read_order(json.dumps({key: ["p2", "p1"]}), 2).places == (1, 0)


NAMES = st.integers(0, 12).map("p{}".format)
KEYS = st.sampled_from(("id", "order", "x"))
NAMES = st.integers(0, 12).map("p{}".format)
KEYS = st.sampled_from(("id", "order", "x"))
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | NAMES
ANY = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(KEYS, inner),
    max_leaves=12,
)


@settings(deadline=None, max_examples=60)
@given(ANY, st.text(max_size=12), st.integers(0, 9), st.integers(0, 200))
def test_no_passage_is_lost_or_added_whatever_is_replied(
    value: object, prose: str, count: int, cut: int
) -> None:
    text = json.dumps({"order": value})
    for reply in (text, prose + text, text[:cut], json.dumps(value), prose):
        found = read_order(reply, count)
        assert sorted(found.places) == list(range(count))
