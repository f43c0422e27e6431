"""
Nugget coverage: which facts of a query an answer holds.

After the AutoNuggetizer of TREC RAG (Pradeep et al., 2025). The nuggets of a query are made once,
from its gold answer or else its gold quotes, and kept in a file, so that all runs are held against
the same ones; a file made or corrected by hand serves as well. One JSON line a query:
`{"query_id", "nuggets": [{"text", "importance"}], "source", "made_by"}`.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from ccrag.concurrency import in_order
from ccrag.errors import InputError
from ccrag.evaluation.gold import Gold
from ccrag.evaluation.judge import NOT_GIVEN, UNREADABLE, Judge, closed_schema, judged
from ccrag.evaluation.records import by_query
from ccrag.evaluation.registry import Case, FigureOrGap, FiguresByQuery, LeftOut, Measure, Need
from ccrag.evaluation.rundata import RunData
from ccrag.evaluation.validate.jsonl import JsonlRecord
from ccrag.evaluation.validate.shape import Kinds
from ccrag.llm.prompts import load_prompt
from ccrag.llm.quote import quoted
from ccrag.llm.request import ReplySchema
from ccrag.types import QueryId

NAME = "nugget-coverage"
MAKE, FIND = "make-nuggets", "judge-nuggets"
MAX_NUGGETS = 20
WEIGHTS = {"vital": 1.0, "okay": 0.5}
LABELS = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
KINDS: Kinds = {"nuggets": "a list"}
NO_SOURCE = LeftOut("no nuggets: neither a gold answer nor quotes")
NOT_MADE = LeftOut("no nuggets: the judge made none that can be read")


@dataclass(frozen=True, slots=True)
class Nugget:
    """One fact that a good answer holds."""

    text: str
    importance: str
    """A key of `WEIGHTS`."""


class NuggetFile:
    """The nuggets of queries, in a file that grows by those made for further queries."""

    def __init__(self, path: Path) -> None:
        """
        Read `path`, which need not exist.

        Raises:
            InputError: a line of it is no list of nuggets.
        """
        self.path = path
        self._kept: dict[QueryId, tuple[str | None, tuple[Nugget, ...]]] = {}
        if path.exists():
            self._kept = by_query(path, KINDS, lambda record: _kept(path, record))
        self._not_made: dict[QueryId, LeftOut] = {}

    def of(self, query_id: QueryId) -> tuple[Nugget, ...] | LeftOut:
        """Return the query's nuggets, or why there are none."""
        if query_id in self._kept:
            return self._kept[query_id][1]
        return self._not_made.get(query_id, NO_SOURCE)

    def make_missing(self, judge: Judge, gold: Gold) -> None:
        """
        Let `judge` make the nuggets of queries that have none and a source; each is kept at once.

        A reply that cannot be read is tried again the next time nuggets are asked for in a new
        command.

        Raises:
            InputError: kept nuggets were made from another gold answer, or the file cannot be
                written.
        """
        self._check_sources(gold)
        missing = [
            (query_id, sources)
            for query_id in gold.queries
            if query_id not in self._kept
            and query_id not in self._not_made
            and (sources := _sources(query_id, gold))
        ]
        made = in_order(
            lambda item: _made(judge, gold.queries[item[0]], item[1]),
            missing,
            workers=judge.at_once,
        )
        for (query_id, sources), nuggets in zip(missing, made, strict=True):
            if isinstance(nuggets, LeftOut):
                self._not_made[query_id] = NOT_MADE if nuggets is UNREADABLE else nuggets
            else:
                self._keep(query_id, nuggets, digest_of(sources), judge)

    def _check_sources(self, gold: Gold) -> None:
        for query_id in gold.queries:
            made_from = self._kept[query_id][0] if query_id in self._kept else None
            sources = _sources(query_id, gold)
            if made_from is not None and sources and made_from != digest_of(sources):
                raise InputError(
                    f"the nuggets of query {query_id!r} were made from another gold answer; take "
                    "its line out, so that they are made anew, or give another file",
                    path=self.path,
                )

    def _keep(
        self, query_id: QueryId, nuggets: tuple[Nugget, ...], source: str, judge: Judge
    ) -> None:
        line = {
            "query_id": query_id,
            "nuggets": [asdict(nugget) for nugget in nuggets],
            "source": source,
            "made_by": {"model": judge.parameters.model, "prompt": load_prompt(MAKE).label},
        }
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self.path.open("ab") as file:
                file.write(orjson.dumps(line) + b"\n")
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", path=self.path) from error
        self._kept[query_id] = (source, nuggets)


def nugget_measure(judge: Judge | None, nuggets: NuggetFile | None) -> Measure:
    """
    Return the share of a query's nuggets that the answer holds, by weight.

    Sum of weight · support / sum of weight: vital 1, okay 1/2; support 1, partial 1/2. An empty
    answer is 0 without being asked for.
    """
    missing = NOT_GIVEN if judge is None else "needs a file for nuggets (--nuggets)"

    def figures(run: RunData, gold: Gold) -> FiguresByQuery:
        if judge is None or nuggets is None:
            return {}
        nuggets.make_missing(judge, gold)
        return judged(judge, run, gold, lambda case: _coverage(judge, nuggets, case))

    return Measure(
        name=NAME,
        summary="share of the query's nuggets, by importance, that the answer holds",
        needs=(Need.ANSWERS,),
        higher_is_better=True,
        figures=figures,
        unavailable=missing if judge is None or nuggets is None else None,
    )


def _coverage(judge: Judge, kept: NuggetFile, case: Case) -> FigureOrGap:
    nuggets = kept.of(case.query_id)
    if isinstance(nuggets, LeftOut):
        return nuggets
    if not case.answer.text.strip():
        return 0.0
    weights = [WEIGHTS[nugget.importance] for nugget in nuggets]

    def share_in(said: Mapping[str, Any]) -> float | None:
        labels = said.get("labels")
        if not isinstance(labels, list) or len(labels) != len(nuggets):
            return None
        if not all(isinstance(label, str) and label in LABELS for label in labels):
            return None
        held = sum(w * LABELS[label] for w, label in zip(weights, labels, strict=True))
        return held / sum(weights)

    return judge.read(
        load_prompt(FIND),
        _labels_schema(),
        share_in,
        question=quoted(case.query),
        nuggets=[quoted(nugget.text) for nugget in nuggets],
        answer=quoted(case.answer.text),
    )


def _made(judge: Judge, question: str, sources: Sequence[str]) -> tuple[Nugget, ...] | LeftOut:
    return judge.read(
        load_prompt(MAKE),
        _nuggets_schema(),
        lambda said: read_nuggets(said.get("nuggets")),
        question=quoted(question),
        sources=[quoted(text) for text in sources],
        max_nuggets=MAX_NUGGETS,
    )


def read_nuggets(value: object) -> tuple[Nugget, ...] | None:
    """
    Return nuggets out of JSON, at most `MAX_NUGGETS`, texts each once; None when any is not one.
    """
    if not isinstance(value, list) or not value:
        return None
    found: dict[str, Nugget] = {}
    for item in value[:MAX_NUGGETS]:
        text = item.get("text") if isinstance(item, Mapping) else None
        importance = item.get("importance") if isinstance(item, Mapping) else None
        if not isinstance(text, str) or not text.strip() or importance not in WEIGHTS:
            return None
        found.setdefault(text, Nugget(text, str(importance)))
    return tuple(found.values())


def _kept(path: Path, record: JsonlRecord) -> tuple[str | None, tuple[Nugget, ...]]:
    nuggets = read_nuggets(record.value["nuggets"])
    if nuggets is None:
        kinds = " or ".join(WEIGHTS)
        raise InputError(
            f"expected nuggets, each with a text and an importance ({kinds})",
            path=path,
            line=record.line,
        )
    source = record.value.get("source")
    return (source if isinstance(source, str) else None), nuggets


def _sources(query_id: QueryId, gold: Gold) -> tuple[str, ...]:
    answer = (gold.answers or {}).get(query_id)
    if answer is not None and answer.strip():
        return (answer,)
    return tuple(quote.text for quote in (gold.quotes or {}).get(query_id, ()))


def digest_of(sources: Sequence[str]) -> str:
    """Return 16 hex digits over the texts that nuggets were made from."""
    return hashlib.blake2b(orjson.dumps(list(sources)), digest_size=8).hexdigest()


def _nuggets_schema() -> ReplySchema:
    importance = {"type": "string", "enum": list(WEIGHTS)}
    nugget = closed_schema("", {"text": {"type": "string"}, "importance": importance}).schema
    return closed_schema("nuggets", {"nuggets": {"type": "array", "items": nugget}})


def _labels_schema() -> ReplySchema:
    labels = {"type": "array", "items": {"type": "string", "enum": list(LABELS)}}
    return closed_schema("labels", {"labels": labels})
