"""`ccrag models train-evidence` over a real index: learns, says what it is worth, and is used."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson
import pytest

from ccrag.pipeline.rankings import load_ranking
from tests.integration.commands import ccrag as command

pytestmark = pytest.mark.usefixtures("on_engine")

COUNT = 24
THINGS = ("dam", "bridge", "tower", "canal", "tunnel", "harbour")


def write(path: Path, records: Sequence[Mapping[str, object]]) -> Path:
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Each document names its thing often, and says once, in other words, when it was opened."""
    documents, queries, quotes = [], [], []
    for n in range(COUNT):
        name = f"{THINGS[n % len(THINGS)]} of place{n}"
        gold = f"Traffic has used it since {1900 + n}."
        fillers = [f"The {name} is known as the {name}, says note {k}." for k in range(12)]
        text = " ".join((*fillers[:6], f"Work on the {name} took years.", gold, *fillers[6:]))
        documents.append({"id": f"d{n}", "title": name, "text": text})
        queries.append(
            {"query_id": f"q{n}", "query": f"When was the {name} opened?", "doc_ids": [f"d{n}"]}
        )
        quotes.append({"query_id": f"q{n}", "doc_id": f"d{n}", "quote": gold})
    return (
        write(tmp_path / "documents.jsonl", documents),
        write(tmp_path / "queries.jsonl", queries),
        write(tmp_path / "quotes.jsonl", quotes),
    )


def test_what_is_learnt_shows_more_and_is_used(
    index_name: str, files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    documents, queries, quotes = map(str, files)
    out = tmp_path / "mine.json"
    lexical = ("--index", index_name, "--pipeline", "lexical")
    command("index", documents, *lexical)
    fewer = ("--set", "evidence.max_sentences=2")
    told = command("models", "train-evidence", queries, quotes, *lexical, *fewer, "--out", str(out))
    assert "24 questions held back in turn" in told.stdout
    ranking = load_ranking(str(out))
    assert ranking.figures["recall_learnt"] > ranking.figures["recall_own"]
    used = ("--set", "evidence.scorer=learnt-lexical", "--set", f"evidence.ranking={out}")
    question = "When was the dam of place0 opened?"
    said = command("ask", question, *lexical, "--docs", "d0", *fewer, *used, "--json")
    evidence = orjson.loads(said.stdout)["evidence"]
    assert "Traffic has used it since 1900." in {item["text"] for item in evidence}
    assert evidence[0]["reasons"]


def test_too_few_questions_teach_nothing(
    index_name: str, files: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    documents, queries, quotes = map(str, files)
    few = write(tmp_path / "few.jsonl", [orjson.loads(Path(quotes).read_bytes().splitlines()[0])])
    out = tmp_path / "mine.json"
    lexical = ("--index", index_name, "--pipeline", "lexical")
    command("index", documents, *lexical)
    told = command(
        "models", "train-evidence", queries, str(few), *lexical, "--out", str(out), code=1
    )
    assert "1 questions have a gold quote in the passages read" in told.stderr
    assert not out.exists()
