"""A dialogue as it goes on."""

from typing import Any

import pytest

from ccrag.chat.exchanges import Conversation, Exchange
from ccrag.types import Turn
from tests.unit.chats import abstention, exchange


def test_a_new_one_is_empty() -> None:
    new = Conversation()
    assert (len(new), new.last, new.cited()) == (0, None, {})
    assert new.recent_turns(max_words=100) == ()


def test_it_goes_on_by_a_new_value() -> None:
    first, second = exchange("One?"), exchange("Two?")
    begun = Conversation().and_then(first)
    gone_on = begun.and_then(second)
    assert begun.exchanges == (first,)
    assert gone_on.exchanges == (first, second)
    assert gone_on.last == second


def test_turns_are_what_was_said_and_no_citation() -> None:
    told: Any = exchange("Why?").record
    sentences = [{**told["answer"][0], "text": text} for text in ("It is so.", "It was so.")]
    told |= {"answer": sentences}
    said = Exchange(told)
    assert said.turns() == (Turn("user", "Why?"), Turn("agent", "It is so. It was so."))
    assert abstention("Who?").turns() == (Turn("user", "Who?"), Turn("agent", "No idea."))


LONG = Conversation(
    (exchange("one two", "three"), exchange("four", "five six seven"), exchange("eight", "nine"))
)


@pytest.mark.parametrize(
    ("max_words", "kept"),
    [(0, 0), (1, 0), (2, 1), (5, 1), (6, 2), (8, 2), (9, 3), (1_000, 3)],
)
def test_the_last_exchanges_that_fit_are_read_whole_and_in_order(max_words: int, kept: int) -> None:
    turns = LONG.recent_turns(max_words=max_words)
    wanted = [turn for said in LONG.exchanges[3 - kept :] for turn in said.turns()]
    assert turns == tuple(wanted)


def test_nothing_before_an_exchange_that_does_not_fit_is_read() -> None:
    gone_on = Conversation((exchange("short", "too"), exchange("long " * 50), exchange("a", "b")))
    assert [turn.text for turn in gone_on.recent_turns(max_words=20)] == ["a", "b"]


def test_chinese_counts_by_its_characters_and_not_as_one_word() -> None:
    asked = Conversation((exchange("这个模型有什么限制", "它很慢"),))
    assert asked.recent_turns(max_words=2) == ()


def test_cited_documents_stand_once_in_the_order_they_were_cited() -> None:
    gone_on = Conversation(
        (exchange(doc_id="b"), abstention(), exchange(doc_id="a"), exchange(doc_id="b"))
    )
    assert list(gone_on.cited().items()) == [("b", "Title of b"), ("a", "Title of a")]
