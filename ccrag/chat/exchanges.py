"""A dialogue as it goes on: questions and what came of them. Pure: no I/O, no settings object."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from ccrag.formats.provenance import QueryRecord
from ccrag.text.analysis import budget_words
from ccrag.types import DocId, Turn


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question and its answer."""

    record: QueryRecord
    """The answer and all that leads from it to its documents; see `runs.provenance.result_json`."""
    turns_read: int = 0
    """Earlier turns that the question was read with."""

    @property
    def question(self) -> str:
        return str(self.record["query"])

    @property
    def answer(self) -> str:
        """Return the answer's sentences without their citations."""
        return " ".join(sentence["text"] for sentence in self.record["answer"])

    def turns(self) -> tuple[Turn, Turn]:
        """Return what a later question may lean on: words alone, nothing that could be cited."""
        return Turn("user", self.question), Turn("agent", self.answer)


@dataclass(frozen=True, slots=True)
class Conversation:
    """The exchanges of one dialogue, oldest first."""

    exchanges: tuple[Exchange, ...] = ()

    def __len__(self) -> int:
        return len(self.exchanges)

    @property
    def last(self) -> Exchange | None:
        return self.exchanges[-1] if self.exchanges else None

    def and_then(self, exchange: Exchange) -> Self:
        """Return the dialogue with one more exchange."""
        return replace(self, exchanges=(*self.exchanges, exchange))

    def recent_turns(self, *, max_words: int) -> tuple[Turn, ...]:
        """
        Return the turns of the last exchanges that have at most `max_words` words together, oldest
        first.

        Exchanges are taken whole, and none before one that does not fit.
        """
        turns: tuple[Turn, ...] = ()
        left = max_words
        for exchange in reversed(self.exchanges):
            left -= _words(exchange.turns())
            if left < 0:
                break
            turns = (*exchange.turns(), *turns)
        return turns

    def cited(self) -> dict[DocId, str]:
        """Return the title of every document that an answer cites, in the order they first are."""
        titles: dict[DocId, str] = {}
        for exchange in self.exchanges:
            read = {place["doc_id"]: place["title"] for place in exchange.record["read"]}
            for doc_id in exchange.record["references"]:
                titles.setdefault(doc_id, read.get(doc_id, ""))
        return titles


def _words(turns: Iterable[Turn]) -> int:
    return sum(budget_words(turn.text) for turn in turns)
