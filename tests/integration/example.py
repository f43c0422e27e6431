"""A small collection on disk, with decoys that match every question better than its candidates."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson

CANDIDATES = 6


def write_lines(path: Path, records: Sequence[Mapping[str, object]]) -> Path:
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return path


def topic_text(number: int) -> str:
    return (
        f"The reservoir number {number} stores water for the valley. "
        f"Its dam was finished in {1900 + number}, as the archive shows. "
        f"Fig. {number} gives p < 0.05. The level falls in summer and rises in spring, et al. [3]."
    )


def write_documents(folder: Path, count: int = 40) -> Path:
    """`count` documents and as many decoys."""
    records: list[dict[str, object]] = [
        {
            "id": f"res{n}",
            "title": f"Reservoir {n}",
            "text": topic_text(n),
            "date": f"{1990 + n % 30}-05-01",
            "links": [f"res{(n + 1) % count}"],
        }
        for n in range(count)
    ]
    records += [
        {"id": f"decoy{n}", "title": "Water", "text": "Water level of the dam in the valley. " * 3}
        for n in range(count)
    ]
    return write_lines(folder / "documents.jsonl", records)


def write_queries(folder: Path, count: int = 12) -> Path:
    records: list[dict[str, object]] = [
        {
            "query_id": f"q{n}",
            "query": f"When was the dam of reservoir {n} in the valley finished?",
            "doc_ids": [f"res{n + at}" for at in range(CANDIDATES)],
        }
        for n in range(count)
    ]
    return write_lines(folder / "queries.jsonl", records)
