"""Runs read from a folder, and compared."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from ccrag.web.comparison import compare
from ccrag.web.problems import ProblemError
from ccrag.web.run_store import KEPT, RunRecord, RunStore

JSON = Any


def record(query_id: str, answer: str = "", *, references: str = "", read: str = "") -> JSON:
    return {
        "query_id": query_id,
        "query": f"text of {query_id}",
        "abstained": not references,
        "answer": [{"text": answer, "evidence": [], "citations": []}],
        "references": list(references),
        "read": [{"doc_id": name} for name in read],
    }


def write_run(folder: Path, *queries: JSON, name: str = "best") -> None:
    folder.mkdir(parents=True)
    told = {
        "ccrag": "1.0",
        "pipeline": {"name": name},
        "index": {"name": "demo"},
        "failures": [{"query_id": "q9", "error": "lost"}],
        "queries": queries,
    }
    (folder / "provenance.json").write_bytes(orjson.dumps(told))
    (folder / "responses.jsonl").write_bytes(b"{}\n" * len(queries))


def write_experiment(folder: Path) -> None:
    write_run(folder / "runs" / "a_1", record("q1"))
    write_run(folder / "runs" / "b", record("q1"))
    measures = [
        {
            "words": {"higher_is_better": None, "per_query": {"q1": 50.0 + at}},
            "P@1": {"higher_is_better": True, "per_query": {"q1": float(at)}},
        }
        for at in range(2)
    ]
    results = {
        "made": [{"run": "a x=1", "folder": "runs/a_1"}, {"run": "b", "folder": "runs/b"}],
        "runs": [{"run": "a x=1", "measures": measures[0]}, {"run": "b", "measures": measures[1]}],
    }
    (folder / "results.json").write_bytes(orjson.dumps(results))
    (folder / "report.html").write_text("<p>the report</p>")


def test_runs_and_experiments_are_found_below_the_folder(tmp_path: Path) -> None:
    write_run(tmp_path / "single", record("q1"), record("q2"))
    write_experiment(tmp_path / "lab" / "first")
    write_run(tmp_path / ".hidden" / "run")
    (tmp_path / "empty").mkdir()
    records = RunStore(tmp_path)
    assert [(run.name, run.queries, run.experiment) for run in records.runs()] == [
        ("lab/first/runs/a_1", 1, "lab/first"),
        ("lab/first/runs/b", 1, "lab/first"),
        ("single", 2, None),
    ]
    _, [experiment] = records.listed()
    assert experiment.name == "lab/first"
    assert experiment.runs == ("lab/first/runs/a_1", "lab/first/runs/b")
    assert experiment.has_report
    assert records.report("lab/first") == b"<p>the report</p>"


def test_no_folder_or_one_that_is_not_there_shows_nothing(tmp_path: Path) -> None:
    for root in (None, tmp_path / "nowhere"):
        assert RunStore(root).runs() == []
        assert RunStore(root).listed() == ([], [])


def test_a_run_is_read_whole(tmp_path: Path) -> None:
    write_run(tmp_path / "single", record("q2"), record("q1"))
    run = RunStore(tmp_path).run("single")
    assert (run.pipeline, run.index, run.version) == ("best", "demo", "1.0")
    assert list(run.queries) == ["q2", "q1"]
    assert run.failures == (("q9", "lost"),)


@pytest.mark.parametrize("name", ["../other", "/etc", "single/../single", "", "single/", "nowhere"])
def test_a_name_is_never_a_path(tmp_path: Path, name: str) -> None:
    write_run(tmp_path / "other")
    write_run(tmp_path / "root" / "single")
    records = RunStore(tmp_path / "root")
    for read in (records.run, records.report, records.figures):
        with pytest.raises(ProblemError, match="unknown_run"):
            read(name)


def test_links_are_not_followed(tmp_path: Path) -> None:
    write_run(tmp_path / "other")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path / "other")
    assert RunStore(tmp_path / "root").runs() == []


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"ccrag": 1}'])
def test_other_files_are_said_to_be_no_run(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "provenance.json").write_bytes(content)
    with pytest.raises(ProblemError, match="the files of 'run' are not those of a run"):
        RunStore(tmp_path).run("run")


def test_a_run_made_anew_is_read_anew_and_few_are_kept(tmp_path: Path) -> None:
    for at in range(KEPT + 2):
        write_run(tmp_path / f"run{at}", record("q1"), name=f"p{at}")
    records = RunStore(tmp_path)
    for at in range(KEPT + 2):
        assert records.run(f"run{at}").pipeline == f"p{at}"
    assert len(records._kept) == KEPT
    path = tmp_path / "run0" / "provenance.json"
    path.write_bytes(path.read_bytes().replace(b'"p0"', b'"new"'))
    assert records.run("run0").pipeline == "new"


def test_figures_come_from_the_experiment_directed_ones_first(tmp_path: Path) -> None:
    write_experiment(tmp_path / "lab")
    write_run(tmp_path / "single", record("q1"))
    records = RunStore(tmp_path)
    assert list(records.figures("lab/runs/a_1").items()) == [
        ("P@1", {"q1": 0.0}),
        ("words", {"q1": 50.0}),
    ]
    assert records.figures("lab/runs/b")["P@1"] == {"q1": 1.0}
    assert records.figures("single") == {}


def run(name: str, *queries: JSON) -> RunRecord:
    return RunRecord(name, "p", "demo", "1", (), {told["query_id"]: told for told in queries})


def test_queries_that_differ_most_come_first() -> None:
    left = run(
        "left",
        record("same", "x", references="a", read="ab"),
        record("words", "x", references="a", read="ab"),
        record("sources", "x", references="a", read="ab"),
        record("alone", "x", references="a"),
    )
    right = run(
        "right",
        record("same", "x", references="a", read="ab"),
        record("words", "y", references="a", read="bc"),
        record("sources", "y", references="b", read="ab"),
    )
    compared = compare(left, right)
    assert [query.query_id for query in compared.queries] == ["alone", "sources", "words", "same"]
    assert compared.same == 1
    by_id = {query.query_id: query for query in compared.queries}
    assert not by_id["alone"].right.answered
    assert by_id["words"].references_shared == 1
    assert by_id["words"].read_shared == 1 / 3
    assert by_id["sources"].references_shared == 0
    assert (compared.measure, by_id["same"].difference) == (None, None)


def test_a_measure_sorts_when_both_have_it() -> None:
    queries = [record("q1", "x"), record("q2", "x")]
    figures = ({"P": {"q1": 0.1, "q2": 0.9}, "only": {}}, {"P": {"q1": 0.2, "q2": 0.4}, "R": {}})
    compared = compare(run("left", *queries), run("right", *queries), figures=figures)
    assert (compared.measure, compared.measures) == ("P", ("P",))
    assert [query.query_id for query in compared.queries] == ["q2", "q1"]
    assert compared.queries[0].difference == pytest.approx(0.4 - 0.9)
    other = compare(
        run("left", *queries), run("right", *queries), figures=figures, measure="no such"
    )
    assert other.measure == "P"


def test_two_that_cite_nothing_share_all() -> None:
    [query] = compare(run("left", record("q1")), run("right", record("q1"))).queries
    assert query.references_shared == query.read_shared == 1
