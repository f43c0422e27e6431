"""
Every error ccrag raises on purpose. Imports nothing of ours.

    CcragError
    ├── ConfigError                 a setting is unknown, malformed or contradictory
    ├── InputError                  a file, record or argument of the user's
    │   ├── EmptyCandidatesError    a query without candidates
    │   ├── UnknownDocumentError    candidate ids that the index does not hold
    │   └── UnknownCollectionError  a collection that the index does not hold
    ├── EngineError                 OpenSearch refused, failed or is out of reach
    │   ├── EngineDownError         OpenSearch is out of reach; the same request may work later
    │   ├── IndexMissingError       no such index yet
    │   ├── IndexMismatchError      an index built from other settings or texts
    │   ├── BulkWriteError          items that could not be written
    │   └── NodeError               the embedded node
    ├── ModelError                  a model cannot be found or loaded
    │   └── UnusableReplyError      a language model replied, and nothing can be read from it
    └── InvariantError              a bug of ours; never caught, keeps its traceback
        └── CandidateLeakError      something outside the candidates came back
"""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final

IDS_SHOWN: Final = 10


class UnnamedQueryId(str):
    """The id of a single question: its asker never gave one, so messages leave it out."""

    __slots__ = ()


ONE_QUESTION: Final = UnnamedQueryId("q")


def of_query(query_id: str) -> str:
    """Return how a message begins that is about one query: its id, or nothing if it has none."""
    return "" if isinstance(query_id, UnnamedQueryId) else f"query {query_id!r}: "


def some_ids(ids: Collection[str]) -> str:
    """Return the first ten of `ids` and how many there are, for a message of bounded length."""
    shown = ", ".join(repr(str(name)) for _, name in zip(range(IDS_SHOWN), ids, strict=False))
    return shown if len(ids) <= IDS_SHOWN else f"{shown} … ({len(ids):,} in all)"


class CcragError(Exception):
    """Base of all errors below; its message is one line and names the next step."""


class ConfigError(CcragError):
    """A setting is unknown, malformed or contradicts another."""


class InputError(CcragError):
    """
    Something the user gave cannot be used.

    Args:
        problem: what is wrong and what was expected.
        path: the file at fault, if there is one.
        line: its line, counted from 1.
    """

    def __init__(self, problem: str, *, path: Path | None = None, line: int | None = None) -> None:
        self.problem = problem
        self.path = path
        self.line = line
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(place + problem)


class EmptyCandidatesError(InputError):
    """A query names no candidate document, so nothing may answer it."""

    def __init__(self, query_id: str) -> None:
        self.query_id = query_id
        asked = of_query(query_id).removesuffix(": ") or "the question"
        super().__init__(
            f"{asked} has no candidate documents; "
            "name some, or ask for the whole index explicitly (--all)"
        )


class UnknownDocumentError(InputError):
    """Candidate ids that the index does not hold."""

    def __init__(self, query_id: str, doc_ids: Iterable[str], *, index: str) -> None:
        self.query_id = query_id
        self.doc_ids = tuple(doc_ids)
        self.index = index
        super().__init__(
            f"{of_query(query_id)}index {index!r} does not hold {some_ids(self.doc_ids)}; "
            "correct the ids, index the documents, or pass --set candidates.unknown=warn"
        )


class UnknownCollectionError(InputError):
    """A query's candidates are a collection that the index does not hold."""

    def __init__(self, query_id: str, collection: str, *, known: Iterable[str], index: str) -> None:
        self.query_id = query_id
        self.collection = collection
        self.known = tuple(known)
        self.index = index
        names = some_ids(self.known)
        held = f"its collections are {names}" if names else "it has no collections"
        super().__init__(
            f"{of_query(query_id)}index {index!r} does not hold collection {collection!r}; {held}; "
            "correct the name, or index the documents as NAME=PATH"
        )


class EngineError(CcragError):
    """OpenSearch refused a request, failed, or is out of reach."""


class EngineDownError(EngineError):
    """OpenSearch is out of reach or does not answer in time; the same request may work later."""


class IndexMissingError(EngineError):
    """
    The index a pipeline needs has not been built.

    Args:
        alias: what was looked for.
        built: the index specs that the index holds instead, sorted; none: it does not exist.
    """

    def __init__(self, message: str, *, alias: str = "", built: Iterable[str] = ()) -> None:
        self.alias = alias
        self.built = tuple(built)
        super().__init__(message)


class IndexMismatchError(EngineError):
    """The index was built from other settings or other documents than the pipeline needs."""


class BulkWriteError(EngineError):
    """
    Items of a bulk request that could not be written.

    Args:
        index: the concrete index.
        failed: `_id` → reason, one entry per lost item.
    """

    def __init__(self, index: str, failed: dict[str, str]) -> None:
        self.index = index
        self.failed = failed
        first_id, first_reason = next(iter(failed.items()))
        super().__init__(
            f"{index}: {len(failed)} items could not be written, first {first_id!r}: "
            f"{first_reason}; mend the cause and run the same command again, it resumes"
        )


class NodeError(EngineError):
    """The embedded OpenSearch node cannot be started, found or stopped."""


class ModelError(CcragError):
    """A model cannot be found, loaded or used."""


class UnusableReplyError(ModelError):
    """A language model replied, and the reply is empty, cut off, filtered or cannot be read."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the model's reply cannot be used: {reason}")


class InvariantError(CcragError):
    """A promise of the design was broken: a bug of ours."""


class CandidateLeakError(InvariantError):
    """A document outside the query's candidates reached a response."""

    def __init__(self, query_id: str, doc_ids: Iterable[str]) -> None:
        self.query_id = query_id
        self.doc_ids = frozenset(doc_ids)
        super().__init__(
            f"{of_query(query_id)}documents outside its candidates: "
            f"{some_ids(sorted(self.doc_ids))}"
        )
