"""TREC RAG 2025 records, format 1, as LongEval takes them. Values in, values out; no files."""

import unicodedata
from typing import Any

from ccrag.errors import InvariantError
from ccrag.types import Answer, AnswerSentence, Query


def record(
    query: Query, answer: Answer, *, team_id: str, run_id: str, automatic: bool = True
) -> dict[str, Any]:
    """
    Return one line of a submission, keys in the guidelines' order, so equal answers give equal
    bytes.

    The narrative is the query's text, untouched, since validators compare it. An abstention
    becomes its one sentence with empty citations and empty references.

    Raises:
        InvariantError: the answer belongs to another query.
    """
    if answer.query_id != query.query_id:
        raise InvariantError(f"answer of {answer.query_id!r} written for query {query.query_id!r}")
    return {
        "metadata": {
            "team_id": team_id,
            "run_id": run_id,
            "type": "automatic" if automatic else "manual",
            "narrative_id": query.query_id,
            "narrative": query.text,
        },
        "references": list(answer.references),
        "answer": [_sentence(sentence) for sentence in answer.sentences],
    }


def one_line(text: str) -> str:
    """Return `text` in NFC on one line, every run of white space one space, none at the ends."""
    return unicodedata.normalize("NFC", " ".join(text.split()))


def _sentence(sentence: AnswerSentence) -> dict[str, Any]:
    return {"text": one_line(sentence.text), "citations": list(sentence.citations)}
