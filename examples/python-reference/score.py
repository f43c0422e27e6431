"""
Score runs over the example: `python examples/python-reference/score.py DATA_DIR RUN_DIR...`.

Prints evidence found, precision and recall of the cited documents, abstentions, and seconds.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import orjson
from rich.console import Console
from rich.table import Table

from ccrag.evaluation.measures import cited_precision_recall, evidence_found

Record = dict[str, Any]


class Place(NamedTuple):
    """Where an evidence span or a passage of a run lies."""

    doc_id: str
    start: int
    end: int


def read_lines(path: Path) -> list[Record]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def places(items: Iterable[Record]) -> list[Place]:
    return [Place(item["doc_id"], item["start"], item["end"]) for item in items]


def mean(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{fmean(known):.3f}" if known else "–"


def rows(run: Path, data: Path) -> Mapping[str, str]:
    """What the table shows, by name."""
    queries = orjson.loads((run / "provenance.json").read_bytes())["queries"]
    texts = {record["id"]: record["text"] for record in read_lines(data / "documents.jsonl")}
    candidates = {r["query_id"]: r["doc_ids"] for r in read_lines(data / "queries.jsonl")}
    quotes: defaultdict[str, list[Record]] = defaultdict(list)
    for record in read_lines(data / "quotes.jsonl"):
        quotes[record["query_id"]].append(record)
    answerable = {r["query_id"]: r["answerable"] for r in read_lines(data / "answerable.jsonl")}

    found, cited = [], []
    for query in queries:
        gold = quotes[query["query_id"]]
        if not gold:
            continue
        relevant = {record["doc_id"] for record in gold}
        found.append(
            evidence_found(
                [record["quote"] for record in gold],
                texts={doc_id: texts[doc_id] for doc_id in relevant},
                evidence=places(query["evidence"]),
                passages=places(query["read"]),
            )
        )
        cited.append(
            cited_precision_recall(query["references"], relevant, candidates[query["query_id"]])
        )
    abstained = {query["query_id"] for query in queries if query["abstained"]}
    unanswerable = {query_id for query_id, can in answerable.items() if not can}
    seconds = [sum(query["seconds"].values()) for query in queries]
    return {
        "queries": str(len(queries)),
        "gold quotes in the passages read": mean(item.passage_share for item in found),
        "gold quotes in the evidence shown": mean(item.evidence_share for item in found),
        "cited documents, precision": mean(item.precision for item in cited),
        "cited documents, recall": mean(item.recall for item in cited),
        "abstained, of the unanswerable": f"{len(abstained & unanswerable)} of {len(unanswerable)}",
        "abstained, of the answerable": f"{len(abstained - unanswerable)} of "
        f"{len(answerable) - len(unanswerable)}",
        "seconds per query": f"{fmean(seconds):.3f}",
    }


def main() -> None:
    data, *runs = map(Path, sys.argv[1:])
    columns = [rows(run, data) for run in runs]
    table = Table("measure", *(run.name for run in runs))
    for name in columns[0]:
        table.add_row(name, *(column[name] for column in columns))
    Console().print(table)


if __name__ == "__main__":
    main()
