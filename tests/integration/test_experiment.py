"""`ccrag experiment` on a real engine: what is made, reused, gone on with, and found."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import typer.main
from typer.testing import Result

from ccrag.cli import app
from ccrag.errors import EngineError
from ccrag.formats.trec_run import read_run
from ccrag.pipeline.pipeline import Pipeline
from ccrag.runs.run import run_queries
from ccrag.types import doc_id_of
from tests.fakes import HashEncoder
from tests.integration.commands import ccrag
from tests.integration.example import write_documents, write_lines, write_queries
from tests.provider import serving

pytestmark = pytest.mark.usefixtures("on_engine")

COMMAND: Any = typer.main.get_command(app).commands["experiment"]  # type: ignore[attr-defined]
QUERIES = 12
GRID = ("--pipelines", "single-query-bm25,rrf-no-rerank", "--grid", "fusion.rrf_k=10,60")
NAMES = [
    f"{name} fusion.rrf_k={k}" for name in ("single-query-bm25", "rrf-no-rerank") for k in (10, 60)
]


class Bench:
    """A collection with queries and judgements, indexed, and an experiment's folder."""

    def __init__(self, folder: Path, index: str) -> None:
        self.index = index
        self.out = folder / "out"
        self.queries = write_queries(folder, QUERIES)
        self.qrels = folder / "qrels.txt"
        self.qrels.write_text(
            "".join(f"q{n} 0 res{n + at} 1\n" for n in range(QUERIES) for at in range(3))
        )
        self.documents = write_documents(folder)
        ccrag("index", self.documents, "--index", index)

    def run(self, *arguments: object, code: int = 0) -> Result:
        given = ("--index", self.index, "--qrels", self.qrels, "--out", self.out, "--draws", 1000)
        return ccrag("experiment", self.queries, *given, *arguments, code=code)

    def results(self) -> dict[str, Any]:
        content: dict[str, Any] = orjson.loads((self.out / "results.json").read_bytes())
        return content

    def comparisons(self, measure: str) -> list[dict[str, Any]]:
        return [c for c in self.results()["comparisons"] if c["measure"] == measure]


@pytest.fixture
def bench(tmp_path: Path, index_name: str) -> Bench:
    return Bench(tmp_path, index_name)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders for which queries were really asked, as it happens."""
    folders: list[str] = []

    def spy(pipeline: Any, queries: Any, out: Path, *rest: Any, **options: Any) -> Any:
        folders.append(out.name)
        return run_queries(pipeline, queries, out, *rest, **options)

    monkeypatch.setattr("ccrag.experiment.runner.run_queries", spy)
    return folders


def test_a_grid_is_run_measured_shown_and_not_run_again(bench: Bench, made: list[str]) -> None:
    first = bench.run(*GRID)
    folders = [name.replace(" ", "_") for name in NAMES]
    assert made == folders
    assert str(bench.out / "report.html") in first.stdout
    for folder in folders:
        run = bench.out / "runs" / folder
        ccrag("validate", run, "--format", "longeval", "--queries", bench.queries)
        assert f" {folder}\n" in (run / "run.trec").read_text()
    results = bench.results()
    assert [run["run"] for run in results["made"]] == NAMES
    assert results["baseline"] == NAMES[0]
    rows = list(csv.reader((bench.out / "results.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 1 + len(NAMES) * QUERIES
    report = (bench.out / "report.html").read_text(encoding="utf-8")
    assert all(name in report for name in NAMES)

    before = (bench.out / "results.json").read_bytes()
    again = bench.run(*GRID)
    assert made == folders
    assert again.stderr.count("finished earlier, reused") == len(NAMES)
    assert (bench.out / "results.json").read_bytes() == before
    assert (bench.out / "report.html").read_text(encoding="utf-8") == report


def test_runs_of_other_settings_are_made_anew_and_only_those(bench: Bench, made: list[str]) -> None:
    bench.run("--pipelines", "single-query-bm25,default")
    changes = ("--pipelines", "concat-baseline,default", "--set", "select.passages=3")
    refused = bench.run(*changes, code=1)
    assert "differs in: select.passages 20 (here 3); use another --out, or --over" in refused.stderr
    assert made == ["single-query-bm25", "default"]
    changed = bench.run(*changes, "--overwrite")
    assert made == ["single-query-bm25", "default", "concat-baseline", "default"]
    assert "default: of other settings, index or queries, made anew" in changed.stderr


def test_a_stopped_run_goes_on(
    bench: Bench, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    whole = Pipeline.run

    def stopping(self: Pipeline, queries: Any, **options: Any) -> Iterator[Any]:
        for at, outcome in enumerate(whole(self, queries, **options)):
            if self.settings.name == "default" and at == 5:
                raise EngineError("the engine went away")
            yield outcome

    def listening(self: Pipeline, queries: Any, **options: Any) -> Iterator[Any]:
        asked.extend(query.query_id for query in queries)
        return whole(self, queries, **options)

    monkeypatch.setattr("ccrag.experiment.runner.WARM_UP_QUERIES", 0)
    monkeypatch.setattr(Pipeline, "run", stopping)
    pipelines = ("--pipelines", "single-query-bm25,default")
    stopped = bench.run(*pipelines, code=1)
    assert stopped.stderr.splitlines()[-1] == "error: the engine went away"
    assert not (bench.out / "report.html").exists()
    monkeypatch.setattr(Pipeline, "run", listening)
    done = bench.run(*pipelines)
    assert "default: unfinished, gone on with" in done.stderr
    assert asked == [f"q{n}" for n in range(5, QUERIES)]
    assert made == ["single-query-bm25", "default", "default"]
    assert (bench.out / "report.html").exists()


def test_a_missing_index_is_said_before_anything_is_run(bench: Bench, made: list[str]) -> None:
    refused = bench.run("--pipelines", "single-query-bm25,hybrid", code=1)
    assert (
        f"ccrag index PATH... --index {bench.index} --pipeline single-query-bm25,hybrid"
        in refused.stderr
    )
    assert (made, bench.out.exists()) == ([], False)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--baseline", "nobody"), "--baseline 'nobody': there are default"),
        (("--primary", "nothing"), "--primary 'nothing': there are nDCG@10"),
        (("--measures", "nothing"), "no measure is called 'nothing'"),
    ],
)
def test_wrong_names_are_said_before_anything_is_run(
    bench: Bench, made: list[str], options: tuple[str, str], problem: str
) -> None:
    assert problem in bench.run("--pipelines", "default", *options, code=1).stderr
    assert (made, bench.out.exists()) == ([], False)


def test_the_control_pair_is_identical(bench: Bench) -> None:
    bench.run("--pipelines", "caes-rag-rrf,default")
    comparisons = bench.results()["comparisons"]
    assert len(comparisons) > 8
    assert all((c["equal"], c["p"], c["difference"]) == (c["n"], 1, 0) for c in comparisons)


def test_a_planted_worse_run_is_significantly_worse(bench: Bench) -> None:
    """With one hit a list, two of the three relevant documents cannot be found."""
    bench.run("--pipelines", "single-query-bm25", "--grid", "retrieval.depth=200,1")
    (found,) = bench.comparisons("R@10")
    assert found["other"] == "single-query-bm25 retrieval.depth=1"
    assert found["difference"] <= 1 / 3 - 1
    assert found["p_holm"] < 0.05
    losses = [run["relevant"]["ended"] for run in bench.results()["made"]]
    assert losses[1]["first lists"] >= 2 * QUERIES > losses[0].get("first lists", 0)
    report = (bench.out / "report.html").read_text(encoding="utf-8")
    assert '<span class="worse">▼</span>' in report


def test_a_failing_query_stops_nothing_and_is_tried_again(bench: Bench, made: list[str]) -> None:
    with bench.queries.open("ab") as file:
        file.write(b'{"query_id":"bad","query":"dam?","doc_ids":["nowhere"]}\n')
    pipelines = ("--pipelines", "single-query-bm25,default")
    failed = bench.run(*pipelines, code=1)
    assert f"default: 1 of {QUERIES + 1} queries failed" in failed.stderr
    assert "single-query-bm25: query 'bad': index" in failed.stderr
    assert [len(run["failures"]) for run in bench.results()["made"]] == [1, 1]
    assert "queries failed" in (bench.out / "report.html").read_text(encoding="utf-8")
    bench.run(*pipelines, code=1)
    assert made == ["single-query-bm25", "default"] * 2


def test_judged_passages_are_measured_and_followed(bench: Bench) -> None:
    """Cut so that documents have several; the second ranked one is relevant, and one not there."""
    cut = ("--set", "chunking.max_words=16", "--set", "chunking.overlap_sentences=0")
    level = ("--set", "output.run_level=passage", "--set", "select.passages=2")
    ccrag("index", bench.documents, "--index", bench.index, *cut)
    bench.run("--pipelines", "single-query-bm25", *cut, *level)
    run = bench.out / "runs" / "single-query-bm25"
    ranked = read_run(run / "run.trec")
    assert all(
        len({doc_id_of(name) for name, _ in found}) < len(found) for found in ranked.values()
    )
    bench.qrels.write_text(
        "".join(
            f"{query_id} 0 {found[0][0]} 0\n{query_id} 0 {found[1][0]} 1\n"
            f"{query_id} 0 {found[2][0]} 1\n{query_id} 0 res1{'#' + '0' * 16} 1\n"
            for query_id, found in ranked.items()
        )
    )
    bench.run("--pipelines", "single-query-bm25", *cut, *level)
    made, measured = bench.results()["made"][0]["relevant"], bench.results()["runs"][0]
    assert measured["measures"]["RR"]["mean"] == 1 / 2
    ways = made["ways"]["q1"]
    ends = [way["ended"] for way in ways.values()]
    assert [way["ranks"]["bm25:original"] for way in ways.values()] == [2, 3, None]
    assert ends[0] in ("cited", "answer", "evidence")
    assert ends[1:] == ["first lists", "passages"]
    report = (bench.out / "report.html").read_text(encoding="utf-8")
    assert "Where relevant passages were lost" in report
    evaluated = ccrag("eval", run, "--queries", bench.queries, "--qrels", bench.qrels, "--json")
    assert orjson.loads(evaluated.stdout)["runs"][0]["measures"]["RR"] == measured["measures"]["RR"]


def test_quotes_are_looked_for_in_the_indexs_own_texts(bench: Bench, tmp_path: Path) -> None:
    quotes = write_lines(
        tmp_path / "quotes.jsonl",
        [{"query_id": f"q{n}", "doc_id": f"res{n}", "quote": "The level falls"} for n in range(3)],
    )
    bench.run("--pipelines", "default", "--quotes", quotes)
    (run,) = bench.results()["runs"]
    assert run["measures"]["passage-recall"]["mean"] == 1
    assert run["measures"]["passage-recall"]["n"] == 3


def test_entailment_is_measured_by_the_model_given(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ccrag.models.nli.load_nli", lambda _: lambda premise, hypothesis: 1.0)
    bench.run("--pipelines", "default", "--nli", "some/model", "--measures", "nli-recall,RR")
    (run,) = bench.results()["runs"]
    assert run["measures"]["nli-recall"]["mean"] == 1


def test_a_judge_grades_the_runs(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = write_lines(
        tmp_path / "gold.jsonl",
        [{"query_id": f"q{n}", "gold_answer": "In 1900."} for n in range(3)],
    )
    with serving(lambda body: '{"grade": 3}') as provider:
        monkeypatch.setenv("CCRAG_PROVIDER__BASE_URL", provider.url)
        judged = ("--judge", "--set", "llm.model=strict", "--measures", "judge-correctness")
        done = bench.run("--pipelines", "default", "--gold", gold, *judged)
    assert {body["model"] for body in provider.chats} == {"strict"}
    (run,) = bench.results()["runs"]
    assert run["measures"]["judge-correctness"]["mean"] == 3 / 4
    assert "judge: 3 calls" in done.stderr
    refused = bench.run("--pipelines", "default", "--nuggets", tmp_path / "n.jsonl", code=1)
    assert "--nuggets is for a judge; add --judge" in refused.stderr


def test_what_is_missing_is_named_by_options_of_this_command(bench: Bench) -> None:
    """The documents' texts come from the index: no option gives them."""
    bench.run("--pipelines", "default")
    (run,) = bench.results()["runs"]
    assert run["left_out"]["passage-recall"] == "needs gold quotes (--quotes)"
    named = set(re.findall(r"--[a-z]+", " ".join(run["left_out"].values())))
    known = {name for option in COMMAND.params for name in option.opts}
    assert named <= known, named - known


def test_runs_that_share_an_encoder_load_it_once(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []

    def load(settings: Any) -> HashEncoder:
        loaded.append(settings.model)
        return HashEncoder()

    monkeypatch.setattr("ccrag.indexing.build.load_encoder", lambda _: HashEncoder())
    monkeypatch.setattr("ccrag.pipeline.factory.load_encoder", load)
    ccrag("index", bench.documents, "--index", bench.index, "--pipeline", "hybrid")
    pipelines = ("--pipelines", "dense,hybrid")
    bench.run(*pipelines)
    assert len(loaded) == 1
    bench.run(*pipelines)
    assert len(loaded) == 1
