"""
The picture of a query's way: where each stage ranked each passage. Pure.

A column for each ranking and one for what was read; a dot for each passage, as high as its rank and
with the rank in it. Passages that were read are followed through all columns; of the others, each
ranking's best are shown, so that what was lost can be seen too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ccrag.formats.provenance import PassageRecord, QueryRecord
from ccrag.text.truncate import shortened

COLUMN, STEP, TOP, LEFT = 84, 22, 46, 30
LABEL = 214
SHOWN = 24
"""Passages that were read and are drawn."""
LOST_PER_RANKING = 2
"""Of each ranking's best that were not read, so many are drawn."""
LABEL_CHARS, COLUMN_CHARS = 26, 13


@dataclass(frozen=True, slots=True)
class TraceDot:
    """A passage in a column."""

    x: int
    y: int
    rank: int


@dataclass(frozen=True, slots=True)
class TraceThread:
    """A passage through all columns."""

    passage_id: str
    label: str
    title: str
    """Every rank in words."""
    kind: str
    """`cited`, `read` or `lost`."""
    dots: tuple[TraceDot, ...]
    path: str
    """Of its line, as SVG writes it; a gap where a ranking does not hold it."""
    label_y: int | None


@dataclass(frozen=True, slots=True)
class TraceColumn:
    """A stage."""

    name: str
    group: str
    """`lists`, `fusion`, `rerank`, `read`."""
    x: int
    count: int


@dataclass(frozen=True, slots=True)
class TracePicture:
    """All of it, in SVG's units."""

    width: int
    height: int
    columns: tuple[TraceColumn, ...]
    threads: tuple[TraceThread, ...]
    """The least important first: what is drawn last lies on top."""
    rows: tuple[tuple[str, str, tuple[str, ...]], ...]
    """The same as a table: label, kind, and a rank or a dash for each column."""


def picture_of(record: QueryRecord) -> TracePicture:
    """Return the picture of an answer with its trace, as `result_json` tells it."""
    rankings = [(r["stage"], [hit[0] for hit in r["hits"]]) for r in record["rankings"]]
    read = [passage["passage_id"] for passage in record["read"]]
    named = [*rankings, ("read", read)]
    ranks = [{pid: rank for rank, pid in enumerate(ids, start=1)} for _, ids in named]
    cited = {
        item["passage_id"]
        for item in record["evidence"]
        if any(item["evidence_id"] in sentence["evidence"] for sentence in record["answer"])
    }
    shown = [*read[:SHOWN], *_lost(rankings, set(read))]
    places = [_places(column, shown) for column in ranks]
    columns = tuple(
        TraceColumn(_short(stage), _group(stage), LEFT + COLUMN * at, len(ids))
        for at, (stage, ids) in enumerate(named)
    )
    labels = {p["passage_id"]: _label(p) for p in record["read"]}
    threads = [
        _thread(
            pid,
            labels.get(pid, pid.rpartition("#")[0]),
            "cited" if pid in cited else "read" if pid in read else "lost",
            columns,
            ranks,
            places,
        )
        for pid in shown
    ]
    lowest = max((dot.y for thread in threads for dot in thread.dots), default=TOP)
    order = {"lost": 0, "read": 1, "cited": 2}
    return TracePicture(
        width=columns[-1].x + LABEL,
        height=lowest + STEP,
        columns=columns,
        threads=tuple(sorted(threads, key=lambda thread: order[thread.kind])),
        rows=tuple(
            (t.label, t.kind, tuple(str(r.get(t.passage_id, "–")) for r in ranks)) for t in threads
        ),
    )


def _lost(rankings: Sequence[tuple[str, Sequence[str]]], read: set[str]) -> list[str]:
    """Return the best of each ranking that were not read, each once."""
    best = [
        passage_id
        for _, ids in rankings
        for passage_id in [pid for pid in ids if pid not in read][:LOST_PER_RANKING]
    ]
    return list(dict.fromkeys(best))


def _places(ranks: Mapping[str, int], shown: Sequence[str]) -> dict[str, int]:
    """
    Return the row of each passage shown in a column: its rank, or the next free one far below.
    """
    placed: dict[str, int] = {}
    row = 0
    for passage_id in sorted((p for p in shown if p in ranks), key=lambda p: ranks[p]):
        row = max(row + 1, min(ranks[passage_id], SHOWN + 1))
        placed[passage_id] = row
    return placed


def _thread(
    passage_id: str,
    label: str,
    kind: str,
    columns: Sequence[TraceColumn],
    ranks: Sequence[Mapping[str, int]],
    places: Sequence[Mapping[str, int]],
) -> TraceThread:
    dots = tuple(
        TraceDot(column.x, TOP + STEP * places[at][passage_id], ranks[at][passage_id])
        for at, column in enumerate(columns)
        if passage_id in places[at]
    )
    said = ", ".join(
        f"{column.name} {ranks[at].get(passage_id, '–')}" for at, column in enumerate(columns)
    )
    last = dots[-1] if dots and dots[-1].x == columns[-1].x else None
    return TraceThread(
        passage_id=passage_id,
        label=label,
        title=f"{label}: {said}",
        kind=kind,
        dots=dots,
        path=_path(dots),
        label_y=None if last is None else last.y,
    )


def _path(dots: Sequence[TraceDot]) -> str:
    """Return a smooth line through `dots`, broken where a column lies between without one."""
    parts: list[str] = []
    for before, dot in zip((None, *dots), dots, strict=False):
        if before is None or dot.x - before.x > COLUMN:
            parts.append(f"M{dot.x} {dot.y}")
        else:
            middle = (before.x + dot.x) // 2
            parts.append(f"C{middle} {before.y} {middle} {dot.y} {dot.x} {dot.y}")
    return "".join(parts)


def _group(stage: str) -> str:
    if stage == "read":
        return "read"
    if stage == "rrf":
        return "fusion"
    return "lists" if ":" in stage or stage in ("dense", "candidate-order") else "rerank"


def _short(stage: str) -> str:
    """Return a stage's name as a column can hold it."""
    name = stage.removeprefix("bm25:").removesuffix(":original")
    return shortened(name, max_chars=COLUMN_CHARS)


def _label(passage: PassageRecord) -> str:
    """Return a passage's document and section, as the picture's edge can hold it."""
    section = passage["section"][-1] if passage["section"] else ""
    text = f"{passage['doc_id']} · {section}" if section else str(passage["doc_id"])
    return shortened(" ".join(text.split()), max_chars=LABEL_CHARS)
