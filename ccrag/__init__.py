"""
Question answering inside a given set of documents, with citations that can be checked.

    from ccrag import Library

    library = Library.open("demo", pipeline="rrf-no-rerank")
    result = library.ask("Is assert still checked with -O?", candidates=["assert", "debugger"])
    for sentence in result.answer.sentences:
        print(sentence.text)
        for evidence in result.answer.evidence_of(sentence):
            print("   ", evidence.doc_id, evidence.start, evidence.end, evidence.text)

Importing this is cheap; what a name needs is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ccrag.version import __version__

if TYPE_CHECKING:
    from ccrag.errors import CcragError
    from ccrag.library import Library
    from ccrag.types import (
        Answer,
        AnswerSentence,
        Candidates,
        Document,
        Evidence,
        Hit,
        Passage,
        Query,
        Ranking,
        Result,
        Turn,
    )

__all__ = [
    "Answer",
    "AnswerSentence",
    "Candidates",
    "CcragError",
    "Document",
    "Evidence",
    "Hit",
    "Library",
    "Passage",
    "Query",
    "Ranking",
    "Result",
    "Turn",
    "__version__",
]

_HOMES = {"Library": "ccrag.library", "CcragError": "ccrag.errors"}
"""Where names live that are not in `ccrag.types`."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'ccrag' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "ccrag.types")), name)


def __dir__() -> list[str]:
    return sorted(__all__)
