"""Failures told by their cause: one line each, however often it came."""

import pytest

from ccrag.errors import ONE_QUESTION, UnknownDocumentError, some_ids
from ccrag.runs.causes import Trouble, by_cause, cause_lines


def test_two_hundred_queries_with_one_cause_are_one_line() -> None:
    errors = [UnknownDocumentError(f"q{n}", [f"doc{n}"], index="demo") for n in range(200)]
    troubles = [Trouble(e.query_id, str(e), "UnknownDocumentError") for e in errors]
    [line] = cause_lines(troubles, noun="queries")
    assert line.startswith("200 queries (q0, q1, q2, …), the first: query 'q0': index 'demo'")
    assert len(cause_lines(troubles, noun="queries", verbose=True)) == 200


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("no reply within 60.0 s", "no reply within 59.7 s", True),
        ("query 'a': no document 'x'", "query 'b': no document 'y z'", True),
        ("doc12 is not known", "doc7 is not known", True),
        ("the server refused (HTTP 429)", "the server refused (HTTP 401)", False),
        ("no reply", "an empty reply", False),
    ],
)
def test_ids_and_numbers_part_no_causes_and_words_do(one: str, other: str, same: bool) -> None:
    assert (len(by_cause([Trouble("a", one), Trouble("b", other)])) == 1) is same


def test_two_types_of_error_are_two_causes_most_frequent_first() -> None:
    troubles = [Trouble("a", "gone", "X"), Trouble("b", "gone", "Y"), Trouble("c", "gone", "Y")]
    assert [cause.places for cause in by_cause(troubles)] == [("b", "c"), ("a",)]


def test_one_failure_keeps_its_own_message_with_its_id() -> None:
    assert cause_lines([Trouble("q1", "query 'q1': gone")], noun="queries") == ["query 'q1': gone"]
    assert cause_lines([Trouble("q1", "gone")], noun="queries") == ["q1: gone"]
    assert cause_lines([], noun="queries") == []


@pytest.mark.parametrize(
    ("count", "end"), [(0, ""), (1, "'d0'"), (10, "'d9'"), (11, "'d9' … (11 in all)")]
)
def test_a_list_of_ids_is_cut_to_ten_and_a_count(count: int, end: str) -> None:
    assert some_ids([f"d{n}" for n in range(count)]).endswith(end)


def test_twenty_thousand_unknown_ids_make_a_short_message_without_an_id_nobody_gave() -> None:
    ids = [f"document-{n}" for n in range(20_000)]
    message = str(UnknownDocumentError(ONE_QUESTION, ids, index="demo"))
    assert message.startswith("index 'demo' does not hold 'document-0', 'document-1'")
    assert "(20,000 in all)" in message
    assert len(message) < 400


def test_ids_that_are_numbers_are_told_from_other_numbers() -> None:
    message = "127.0.0.1: status 429, tried 2 times: slow down"
    assert cause_lines([Trouble(n, message) for n in ("1", "2", "27")], noun="queries") == [
        f"3 queries (1, 2, 27), the first: {message}"
    ]
    assert cause_lines([Trouble("2", message)], noun="queries") == [f"2: {message}"]
    replies = [Trouble(n, f"query '{n}': reply 1: cut off") for n in ("1", "2")]
    assert len(cause_lines(replies, noun="queries")) == 1
    named = "query '2': no candidates"
    assert cause_lines([Trouble("2", named)], noun="queries") == [named]
    assert cause_lines([Trouble("a", "q.jsonl: a fault")], noun="x") == ["a: q.jsonl: a fault"]
    assert cause_lines([Trouble("f.json:1", "f.json:1: bad")], noun="x") == ["f.json:1: bad"]
    assert cause_lines([Trouble("q", "quick")], noun="queries") == ["q: quick"]
