"""Reasons for which OpenSearch refuses a request, in one line, with advice. Pure."""

import re
from collections.abc import Mapping
from typing import Any

HEAP_ADVICE = (
    "give the engine a larger heap (embedded node: `ccrag node down`, then "
    "`ccrag node up --heap-mb 2048`), or split what is large"
)
_ADVICE = (
    (
        r"flood[-_ ]stage|read-only / allow delete",
        "free disk space on the engine's machine; the block goes away by itself then",
    ),
    (
        r"cluster create-index blocked|high disk watermark",
        "free disk space on the engine's machine, or unset cluster.blocks.create_index",
    ),
    (r"cluster read-only", "unset cluster.blocks.read_only in the engine's cluster settings"),
    (
        r"index (?:read-only|read|write|metadata)",
        "unset that block (index.blocks.*) in the index's settings",
    ),
    (
        r"no permissions for|security_exception|not authorized",
        "give engine.user the rights that the engine names",
    ),
    (r"Data too large|circuit_breaking", HEAP_ADVICE),
    (r"index_closed|closed index|^closed$", "open the index, or run `ccrag index` again"),
    (r"rejected execution|queue", "the engine is busy; try again in a moment"),
    (
        r"maximum shards open",
        "drop indexes that nobody needs, or raise cluster.max_shards_per_node",
    ),
)


def reason_of(info: Any) -> str:
    """Return the readable reasons in an error body of OpenSearch, each once; else its type."""
    if not isinstance(info, Mapping):
        return str(info)
    error = info.get("error", info)
    if not isinstance(error, Mapping):
        return str(error)
    reasons = [str(cause["reason"]) for cause in _causes(error) if cause.get("reason")]
    return _one_line("; ".join(dict.fromkeys(reasons))) or str(error.get("type", error))


def with_advice(reason: str, info: Any = None) -> str:
    """Return `reason`, followed by advice where there is some for it or for `info`'s types."""
    types = [str(cause.get("type")) for cause in _causes(_error(info))]
    for pattern, advice in _ADVICE:
        if any(re.search(pattern, text) for text in (reason, *types)):
            return f"{reason}; {advice}"
    return reason


def lasts(info: Any) -> bool:
    """Return whether the same request can only fail again: the engine calls it permanent."""
    return any(cause.get("durability") == "PERMANENT" for cause in _causes(_error(info)))


def is_blocked(info: Any) -> bool:
    """Return whether a block of the index or cluster refused it: waiting does not lift one."""
    return any(cause.get("type") == "cluster_block_exception" for cause in _causes(_error(info)))


def is_guard(info: Any) -> bool:
    """Return whether an embedded node turned the request away before anything read it."""
    return _error(info).get("type") == "ccrag_guard"


def incomplete(answer: Any) -> str | None:
    """
    Return why an answer with HTTP 200 is not all that was asked for; None: it is.

    OpenSearch answers with what it has when shards fail or time runs out.
    """
    if not isinstance(answer, Mapping):
        return None
    if answer.get("timed_out") is True:
        return "it timed out; its answer is incomplete and was not used"
    shards = answer.get("_shards")
    failed = shards.get("failed", 0) if isinstance(shards, Mapping) else 0
    if not isinstance(shards, Mapping) or not failed:
        return None
    failures = shards.get("failures") or [{}]
    why = reason_of({"error": failures[0].get("reason", failures[0])}) if failures[0] else ""
    message = f"{failed} of {shards.get('total', '?')} shards failed"
    return f"{message}: {why}" if why else message


def _error(info: Any) -> Mapping[str, Any]:
    error = info.get("error", info) if isinstance(info, Mapping) else {}
    return error if isinstance(error, Mapping) else {}


def _causes(error: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the error and all causes in it, the outermost first."""
    causes: list[Mapping[str, Any]] = [error, *error.get("root_cause", [])]
    nested = error.get("caused_by")
    while isinstance(nested, Mapping):
        causes.append(nested)
        nested = nested.get("caused_by")
    return causes


def _one_line(text: str) -> str:
    return " ".join(text.split())
