"""
What the organisers' own validators refuse, restated: whether a file passes, and no more.

A warning passes, and so does what is repaired in silence. Read in ragnarok (`rag24_validation`,
`rag25_validation`), TIRA 0.0.207 (`TrecRagRuns`) and mt-rag-benchmark (`format_checker`).
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ccrag.evaluation.validate import Format

Resolves = Callable[[Any, list[Any]], bool]
SEGMENT = re.compile(r"^msmarco_v2\.1_doc_\d+_\d+#\d+_\d+$")
KEYS24 = ("run_id", "topic_id", "topic", "references", "response_length", "answer")
MTRAG_KEYS: Mapping[Format, Mapping[str, type]] = {
    Format.MTRAG_A: {"task_id": str, "Collection": str, "contexts": list},
    Format.MTRAG_B: {"task_id": str, "input": list, "contexts": list, "predictions": list},
    Format.MTRAG_C: {
        "task_id": str,
        "Collection": str,
        "input": list,
        "contexts": list,
        "predictions": list,
    },
}


def accepts(format_: Format, text: str, asked: Mapping[str, str]) -> bool:
    """Whether the official tool of `format_` lets a file of `text` pass; `asked`: id → text."""
    try:
        return RULES[format_](text, asked)
    except (json.JSONDecodeError, TypeError, AttributeError, KeyError):
        return False  # an error there, or a traceback


def _rag24(text: str, asked: Mapping[str, str]) -> bool:
    records = [json.loads(line) for line in text.splitlines()]
    answered = Counter(record["topic_id"] for record in records)
    return (
        all(_rag24_record(record, asked) for record in records)
        and len({record["run_id"] for record in records}) == 1
        and max(answered.values()) == 1
    )


def _rag24_record(record: Any, asked: Mapping[str, str]) -> bool:
    references = record["references"]
    cited = [citation for sentence in record["answer"] for citation in sentence["citations"]]
    return (
        all(key in record for key in KEYS24)
        and asked.get(record["topic_id"]) == record["topic"]
        and all(map(SEGMENT.match, references))
        and len(set(references)) == len(references) <= 20
        and all(0 <= citation < len(references) for citation in cited)
        and all(isinstance(sentence["text"], str) for sentence in record["answer"])
    )


def _rag25(text: str, asked: Mapping[str, str]) -> bool:
    """As format 1 or as format 2, whichever is asked for; blank lines are skipped."""
    records = [json.loads(line) for line in text.splitlines() if line.strip()]
    return any(
        all(_rag25_record(record, asked, resolves) for record in records)
        for resolves in (_by_index, _by_id)
    )


def _rag25_record(record: Any, asked: Mapping[str, str], resolves: Resolves) -> bool:
    metadata, references = record["metadata"], record["references"]
    return (
        {"team_id", "run_id", "narrative_id"} <= metadata.keys()
        and str(metadata["narrative_id"]) in asked
        and metadata.get("type", "manual") in ("manual", "automatic")
        and isinstance(references, list)
        and all(
            isinstance(sentence["text"], str)
            and all(resolves(citation, references) for citation in sentence["citations"])
            for sentence in record.get("answer", [])
        )
    )


def _by_index(citation: Any, references: list[Any]) -> bool:
    return isinstance(citation, int) and 0 <= citation < len(references)


def _by_id(citation: Any, references: list[Any]) -> bool:
    return isinstance(citation, str) and citation in references


def _tira(text: str, _: Mapping[str, str]) -> bool:
    """More than two lines with metadata and an answer; after five others, no further line."""
    good, bad = 0, 0
    for line in text.split("\n"):
        if bad > 4:
            return False
        record: Any = None
        with suppress(json.JSONDecodeError, RecursionError):
            record = json.loads(line)
        if not isinstance(record, dict) or not isinstance(record.get("metadata"), dict):
            bad += 1
            continue
        metadata = record["metadata"]
        ids = [metadata[key] for key in ("topic_id", "narrative_id") if key in metadata]
        if any(name != ids[0] for name in ids):
            return False
        answered = "answer" in record or "responses" in record
        good, bad = good + answered, bad + (not answered)
    return good > 2


def _mtrag(format_: Format) -> Callable[[str, Mapping[str, str]], bool]:
    """The program ends with 0 whatever it finds: here, whether it finds nothing."""

    def found_nothing(text: str, asked: Mapping[str, str]) -> bool:
        records = [json.loads(line) for line in text.splitlines() if line.strip()]
        ids = [record["task_id"] for record in records]
        return sorted(ids) == sorted(asked) and all(
            _mtrag_record(record, MTRAG_KEYS[format_]) for record in records
        )

    return found_nothing


def _mtrag_record(record: Any, keys: Mapping[str, type]) -> bool:
    return (
        all(isinstance(record[key], kind) for key, kind in keys.items())
        and len(record["contexts"]) <= 10
        and all(
            isinstance(context["document_id"], str) and isinstance(context["score"], (int, float))
            for context in record["contexts"]
        )
        and all(isinstance(given["text"], str) for given in record.get("predictions", []))
    )


RULES: Mapping[Format, Callable[[str, Mapping[str, str]], bool]] = {
    Format.TREC_RAG24: _rag24,
    Format.TREC_RAG25: _rag25,
    Format.LONGEVAL: _tira,
    **{format_: _mtrag(format_) for format_ in MTRAG_KEYS},
}
