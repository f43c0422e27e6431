"""Exchanges and what a dialogue is over, for the tests of chats."""

from pathlib import Path
from typing import Any

import orjson

from ccrag.chat.exchanges import Conversation, Exchange
from ccrag.chat.file import ChatFile
from ccrag.chat.transcript import Ground
from ccrag.config.load import load_settings
from ccrag.runs.provenance import result_json
from ccrag.types import (
    Answer,
    AnswerSentence,
    Candidates,
    Evidence,
    Hit,
    Note,
    Query,
    Ranking,
    Result,
    Trace,
    Variant,
)
from tests.unit.stages import passage


def exchange(question: str = "Why?", answer: str = "Because.", *, doc_id: str = "a") -> Exchange:
    """An answer of one sentence, which cites one passage of `doc_id`, titled `Title of ID`."""
    read = passage(f"{doc_id}#1", answer, doc_id=doc_id, title=f"Title of {doc_id}")
    span = Evidence("e1", read.passage_id, doc_id, (), 0, len(answer), answer, 0.5)
    ranking = Ranking.of("q", "rrf", [Hit(read.passage_id, doc_id, 0.1)])
    result = Result(
        query=Query("q", question, Candidates.whole_index()),
        answer=Answer("q", (AnswerSentence(answer, ("e1",), (0,)),), (doc_id,), (span,)),
        ranking=ranking,
        read=(read.passage_id,),
        passages={read.passage_id: read},
        trace=Trace(
            (Variant("rewrite", question),), (ranking,), (Note("select", "said"),), {"lists": 0.25}
        ),
    )
    return Exchange(orjson.loads(orjson.dumps(result_json(result))), turns_read=2)


def abstention(question: str = "Why?", said: str = "No idea.") -> Exchange:
    told: Any = exchange(question).record
    sentence = {"text": said, "evidence": [], "citations": []}
    told |= {"abstained": True, "answer": [sentence], "references": []}
    return Exchange(told)


def ground(
    index: str = "demo",
    candidates: Candidates | None = None,
    *,
    pipeline: str = "chat",
    changes: tuple[str, ...] = (),
) -> Ground:
    return Ground(
        index,
        candidates or Candidates.of(["a", "b"], query_id="q"),
        load_settings(pipeline, changes),
    )


def reread(path: Path, over: Ground | None = None) -> Conversation:
    return ChatFile(path, over or ground()).read()
