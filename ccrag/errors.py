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

from collections.abc import Iterable
from pathlib import Path


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
        super().__init__(
            f"query {query_id!r} has no candidate documents; "
            "name some, or ask for the whole index explicitly (--all)"
        )


class UnknownDocumentError(InputError):
    """Candidate ids that the index does not hold."""

    def __init__(self, query_id: str, doc_ids: Iterable[str], *, index: str) -> None:
        self.query_id = query_id
        self.doc_ids = tuple(doc_ids)
        self.index = index
        first = ", ".join(repr(doc_id) for doc_id in self.doc_ids[:3])
        more = f" and {len(self.doc_ids) - 3} more" if len(self.doc_ids) > 3 else ""
        super().__init__(
            f"query {query_id!r}: index {index!r} does not hold {first}{more}; "
            "correct the ids, index the documents, or pass --set candidates.unknown=warn"
        )


class UnknownCollectionError(InputError):
    """A query's candidates are a collection that the index does not hold."""

    def __init__(self, query_id: str, collection: str, *, known: Iterable[str], index: str) -> None:
        self.query_id = query_id
        self.collection = collection
        self.known = tuple(known)
        self.index = index
        names = ", ".join(map(repr, self.known))
        held = f"its collections are {names}" if names else "it has no collections"
        super().__init__(
            f"query {query_id!r}: index {index!r} does not hold collection {collection!r}; {held}; "
            "correct the name, or index the documents as NAME=PATH"
        )


class EngineError(CcragError):
    """OpenSearch refused a request, failed, or is out of reach."""


class EngineDownError(EngineError):
    """OpenSearch is out of reach or does not answer in time; the same request may work later."""


class IndexMissingError(EngineError):
    """The index a pipeline needs has not been built."""


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
            f"query {query_id!r}: documents outside its candidates: {sorted(self.doc_ids)}"
        )
