"""
What the answerability decision is worth, and how far it is owed to a reduced pool:
`python -m benchmarks.answerability FOLDER [OUT]`, a folder as `benchmarks.dialogue` reads it, whose
tasks say `answerability` and `relevant`.

In such a pool an unanswerable task has no passage of its own, and often none on its topic, which
makes it easy to tell. So the same is measured over a second pool, to which every dialogue's earlier
replies of the agent are added as passages: then the topic is there, and the answer still is not.
Two more checks: tasks of neither kind, with and without relevant passages in the pool, and
answerable tasks from whose candidates the relevant passages were taken away.

Prints Markdown. Every figure is of tasks whose dialogue was not learnt from. What is learnt over
both pools together, the calibration that is shipped, is written to OUT.
"""

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import orjson

from benchmarks.abstaining import effect
from ccrag.answering.answerability import AnswerabilityFeatures
from ccrag.config.load import load_settings
from ccrag.corpus.queries import read_queries
from ccrag.evaluation.abstention_metrics import (
    MEASURES,
    NEVER,
    Array,
    FigureWithInterval,
    Sample,
    against_never,
    decisions,
    ranked_right,
)
from ccrag.evaluation.mtrag import read_answerability, read_relevant
from ccrag.indexing.build import index_documents
from ccrag.pipeline.calibrations import write_calibration
from ccrag.pipeline.factory import open_to_calibrate
from ccrag.training.calibration import HeldOutDecisions, calibrate, calibration_from, measure
from ccrag.training.logistic import fit, held_out, held_out_by
from ccrag.types import JSON, Candidates, DocId, Query, QueryId

PIPELINE, REAL, REPLIES = "mtrag", "bench-answerable", "bench-answerable-replies"
MIN_WORDS = 20
"""A shorter reply is no passage."""
KINDS: Mapping[str, tuple[str, ...]] = {
    "`dense-top` alone": ("dense-top",),
    "scores and agreement": (
        *("bm25-top", "bm25-drop", "dense-top", "dense-drop", "first-agreed", "agreement"),
        "sentence-top",
    ),
    "words in common": (
        *("read-covers", "passage-covers", "sentence-covers"),
        *("turn-passage-covers", "turn-sentence-covers"),
    ),
    "the dialogue alone": ("turns", "length", "said-before", "leans-back"),
}


@dataclass(frozen=True, slots=True)
class Pool:
    """All tasks over one pool of passages."""

    name: str
    documents: Mapping[str, Sequence[DocId]]
    """By collection."""
    features: Mapping[QueryId, AnswerabilityFeatures]
    worth: HeldOutDecisions


def pool(name: str, corpus: Path, tasks: Path) -> Pool:
    """Index the collections in `corpus` as `name`, and look at the way of each task."""
    paths = {path: path.stem for path in sorted(corpus.glob("*.jsonl"))}
    index_documents(list(paths), name, load_settings(PIPELINE), collections=paths, replace=True)
    queries = read_queries(tasks)
    features = looked_at(name, queries)
    _, worth = calibrate(features, queries, read_answerability(tasks))
    ids = {stem: [str(record["id"]) for record in _records(path)] for path, stem in paths.items()}
    return Pool(name, ids, features, worth)


def looked_at(name: str, queries: Sequence[Query]) -> dict[QueryId, AnswerabilityFeatures]:
    """Features of the queries' ways over the index `name`."""
    pipeline, measuring = open_to_calibrate(load_settings(PIPELINE), name)
    return measure(pipeline, measuring, queries)


def write_with_replies(corpus: Path, tasks: Path, out: Path) -> None:
    """The collections, and in each the agent's longer replies of the dialogues over it."""
    replies: dict[str, list[bytes]] = {}
    for number, task in enumerate(_records(tasks)):
        for at, turn in enumerate(task["turns"]):
            if turn["speaker"] == "agent" and len(turn["text"].split()) >= MIN_WORDS:
                record = {"id": f"reply-{number}-{at}", "text": turn["text"]}
                replies.setdefault(task["collection"], []).append(orjson.dumps(record) + b"\n")
    for path in sorted(corpus.glob("*.jsonl")):
        whole = path.read_bytes().rstrip(b"\n") + b"\n"
        (out / path.name).write_bytes(whole + b"".join(replies.get(path.stem, ())))


def without_relevant(found: Pool, tasks: Path) -> Sample:
    """The judged tasks as they look when their relevant passages are no candidates."""
    relevant = read_relevant(tasks)
    fewer = [
        replace(query, candidates=_without(query, found.documents, relevant[query.query_id]))
        for query in read_queries(tasks)
        if query.query_id in relevant
    ]
    features = {**found.features, **looked_at(found.name, fewer)}
    sample = found.worth.sample
    values = [[features[query_id][name] for name in sample.names] for query_id in sample.query_ids]
    return replace(sample, values=np.array(values))


def _without(
    query: Query, documents: Mapping[str, Sequence[DocId]], relevant: Mapping[DocId, int]
) -> Candidates:
    held = documents[query.candidates.collection or ""]
    kept = [doc_id for doc_id in held if doc_id not in relevant]
    return Candidates.of(kept, query_id=query.query_id)


def head(first: str) -> Iterator[str]:
    """The first lines of a table."""
    yield f"| {first} | {' | '.join(MEASURES)} | against never | pairs ranked right |"
    yield "|---|" + "---|" * (len(MEASURES) + 2)


def table(found: Pool) -> Iterator[str]:
    """Kinds of features and trivial rules, as Markdown."""
    sample = found.worth.sample
    yield from head("abstain from .5, by")
    yield row("nothing: never", sample, np.zeros((1, len(sample.query_ids))), threshold=NEVER)
    yield row("nothing: always", sample, np.ones((1, len(sample.query_ids))))
    for name, wanted in KINDS.items():
        yield row(name, sample, held_out(_only(sample, wanted)))
    yield row("all features", sample, found.worth.said)


def row(name: str, sample: Sample, said: Array, *, threshold: float = 0.5) -> str:
    """One line of a table."""
    figures = decisions(sample, said, threshold=threshold).figures
    cells = [_cell(figures[m]) if m in figures else "–" for m in MEASURES]
    compared = against_never(sample, said, threshold=threshold)
    gain = "–" if compared is None else f"{compared.difference:+.3f}, p = {compared.p:.4f}"
    return f"| {name} | {' | '.join(cells)} | {gain} | {ranked_right(sample, said):.3f} |"


def _cell(figure: FigureWithInterval) -> str:
    return f"{figure.value:.3f} ({figure.low:.2f}–{figure.high:.2f})"


def _only(sample: Sample, wanted: Sequence[str]) -> Sample:
    at = [place for place, name in enumerate(sample.names) if name in wanted]
    return replace(sample, names=tuple(sample.names[i] for i in at), values=sample.values[:, at])


def neither_kind(found: Pool, tasks: Path) -> str:
    """How often it is abstained from tasks that are underspecified, by what the pool holds."""
    relevant, judged = read_relevant(tasks), read_answerability(tasks)
    rest = [q.query_id for q in read_queries(tasks) if q.query_id not in judged]
    has = np.array([query_id in relevant for query_id in rest])
    said = found.worth.unjudged >= 0.5
    return (
        f"underspecified, with relevant passages in the pool ({has.sum()}): {said[has].mean():.2f} "
        f"abstained from; without ({(~has).sum()}): {said[~has].mean():.2f}"
    )


def joined(here: Sample, there: Sample) -> Sample:
    """The same tasks over two pools, `here` first; a dialogue's are learnt from together."""
    return Sample(
        query_ids=(*here.query_ids, *(f"{query_id}, again" for query_id in there.query_ids)),
        names=here.names,
        values=np.vstack([here.values, there.values]),
        unanswerable=np.concatenate([here.unanswerable, there.unanswerable]),
        groups=(*here.groups, *there.groups),
    )


def over_both(real: Pool, other: Pool, both: Sample, said: Array) -> Iterator[str]:
    """What is learnt over both pools, decided over each; then without a collection's tasks."""
    here, there = real.worth.sample, other.worth.sample
    count = len(here.query_ids)
    yield row("both pools, then as it is", here, said[:, :count])
    yield row("both pools, then with replies", there, said[:, count:])
    parts = real.worth.by_collection
    collection = {q: name for name, (part, _) in parts.items() for q in part.query_ids}
    kinds = [collection[query_id] for query_id in here.query_ids]
    for name, part, probabilities in held_out_by(both, [*kinds, *kinds]):
        half = len(part.query_ids) // 2
        first = part.part(np.arange(2 * half) < half)
        share = 1 - float(first.unanswerable.mean())
        label = f"the other collections over both, then {name} as it is (never {share:.3f})"
        yield row(label, first, probabilities[None, :half])


def report(real: Pool, other: Pool, both: Sample, tasks: Path) -> Iterator[str]:
    """All of it, line by line."""
    for found, name in ((real, "the pool as it is"), (other, "with earlier replies as passages")):
        yield f"\n{name}\n"
        yield from table(found)
        yield "\n" + neither_kind(found, tasks)
    here, there = real.worth.sample, other.worth.sample
    yield ""
    yield from head("learnt over, then decided over")
    yield row("as it is, then with replies", there, held_out(here, on=there))
    yield row("with replies, then as it is", here, held_out(there, on=here))
    over = held_out(both)
    yield from over_both(real, other, both, over)
    yield ""
    known = dict(zip(here.query_ids, here.unanswerable.tolist(), strict=True))
    said = over[0, : len(known)]
    yield from effect(PIPELINE, real.name, tasks, unanswerable=known, said=said)
    bereft = held_out(here, on=without_relevant(real, tasks))[:, ~here.unanswerable] >= 0.5
    yield f"\nanswerable, their relevant passages taken away: {bereft.mean():.2f} abstained from"


def _records(path: Path) -> list[JSON]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def main() -> None:
    """Print the report; write the calibration."""
    corpus, tasks = Path(sys.argv[1]) / "corpus", Path(sys.argv[1]) / "tasks.jsonl"
    real = pool(REAL, corpus, tasks)
    with tempfile.TemporaryDirectory() as folder:
        write_with_replies(corpus, tasks, Path(folder))
        other = pool(REPLIES, Path(folder), tasks)
    both = joined(real.worth.sample, other.worth.sample)
    if len(sys.argv) > 2:
        worth = HeldOutDecisions(both, held_out(both), {}, np.zeros(0))
        calibration = calibration_from(fit(both), worth, load_settings(PIPELINE))
        write_calibration(calibration, Path(sys.argv[2]))
    lines = list(report(real, other, both, tasks))
    sys.stdout.write("\n".join(lines).lstrip("\n") + "\n")


if __name__ == "__main__":
    main()
