"""Calls to language models: what they add up to, in a line, and the judge that commands use."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ccrag.config import ProviderSettings
    from ccrag.evaluation.judge import Judge
    from ccrag.evaluation.nuggets import NuggetFile
    from ccrag.llm.reply import ChatReply
    from ccrag.llm.request import ChatRequest
    from ccrag.runs.calls import CallTotals


def calls_line(totals: "CallTotals", provider: "ProviderSettings") -> str:
    """Return a line on the calls to a language model and their cost."""
    cost = totals.cost(provider)
    return (
        f"{totals.calls} calls, {totals.cached} of them known before; "
        f"{totals.prompt_tokens} prompt and {totals.completion_tokens} completion tokens"
        + (f", {totals.uncounted} calls uncounted" if totals.uncounted else "")
        + (f", cost {cost:.4f}" if cost else "")
    )


@dataclass(frozen=True, slots=True)
class OpenedJudge:
    """A judge, where it keeps nuggets, and the count of what it is asked."""

    judge: "Judge"
    nuggets: "NuggetFile | None"
    totals: "CallTotals"
    provider: "ProviderSettings"


def wanted_judge(
    wanted: bool, overrides: Sequence[str], nuggets: Path | None
) -> OpenedJudge | None:
    """
    A judge where one is wanted.

    Raises:
        InputError: nuggets are given and no judge is wanted.
        ConfigError, ModelError: as `open_judge`.
    """
    from ccrag.errors import InputError

    if wanted:
        return open_judge(overrides, nuggets)
    if nuggets is not None:
        raise InputError("--nuggets is for a judge; add --judge")
    return None


def open_judge(overrides: Sequence[str], nuggets: Path | None) -> OpenedJudge:
    """
    The model that the sections `llm` and `provider` name, as a judge.

    Raises:
        ConfigError: a setting is wrong.
        ModelError: the client's package is not installed.
        InputError: the file of nuggets is none.
    """
    from ccrag.concurrency import one_at_a_time
    from ccrag.config.load import load_settings
    from ccrag.evaluation.judge import Judge
    from ccrag.evaluation.nuggets import NuggetFile
    from ccrag.llm.calls import call_record
    from ccrag.llm.client import load_llm, parameters_of
    from ccrag.runs.calls import CallTotals
    from ccrag.runs.provenance import call_json

    settings = load_settings(None, overrides)
    llm, totals = load_llm(settings.provider), CallTotals()
    count = one_at_a_time(totals.add)

    def ask(request: "ChatRequest") -> "ChatReply":
        reply = llm.complete(request)
        count([call_json(call_record(request, reply))])
        return reply

    return OpenedJudge(
        judge=Judge(ask, parameters_of(settings.llm), settings.provider.concurrency),
        nuggets=None if nuggets is None else NuggetFile(nuggets),
        totals=totals,
        provider=settings.provider,
    )
