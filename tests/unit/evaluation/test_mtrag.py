"""MTRAGEval in evaluation: gold from its files, predictions as runs, means by collection."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from ccrag.cli.eval import eval_command
from ccrag.errors import InputError
from ccrag.evaluation import mtrag
from ccrag.evaluation.groups import GroupMean, group_means
from ccrag.evaluation.run_files import read_gold, read_run_data

app = typer.Typer()
app.command()(eval_command)


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def task(task_id: str, collection: str = "fiqa", **more: object) -> dict[str, object]:
    turns = [{"speaker": "user", "text": "Is a bond safe?"}]
    return {"task_id": task_id, "Collection": collection, "input": turns, **more}


def predicted(task_id: str, *ranked: str, text: str | None = None) -> dict[str, object]:
    contexts = [{"document_id": d, "score": 1 / rank} for rank, d in enumerate(ranked, start=1)]
    record: dict[str, object] = {"task_id": task_id, "Collection": "fiqa", "contexts": contexts}
    return record if text is None else {**record, "predictions": [{"text": text}]}


def test_means_by_group_over_queries_and_over_groups() -> None:
    figures = {"a": 1.0, "b": 0.0, "c": 1.0, "d": None, "e": 0.5}
    found = group_means(figures, {"a": "x", "b": "x", "c": "y", "d": "z", "f": "x"})
    assert found.groups == {"x": GroupMean((1 + 0) / 2, 2), "y": GroupMean(1.0, 1)}
    assert found.over_queries == GroupMean((1 + 0 + 1) / 3, 3)
    assert found.over_groups == (0.5 + 1.0) / 2


def test_means_of_nothing() -> None:
    for empty in (group_means({}, {"a": "x"}), group_means({"a": None}, {"a": "x"})):
        assert (empty.groups, empty.over_queries, empty.over_groups) == ({}, None, None)


def test_gold_from_a_tasks_file(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "tasks.jsonl",
        task("1", relevant=["p", 7], targets=["Yes."], answerability=["ANSWERABLE"]),
        task("2", relevant=[], targets=[{"text": "No."}], answerability=["UNANSWERABLE"]),
        task("3", targets=[], Answerability=["PARTIAL"]),
        task("4", answerability=["UNDERSPECIFIED"]),
    )
    gold = read_gold({}, answers=path, qrels=path, answerable=path)
    assert gold.qrels == {"1": {"p": 1, "7": 1}}
    assert gold.answers == {"1": "Yes.", "2": "No."}
    assert gold.answerable == {"1": True, "2": False, "3": True}


def test_judgements_of_a_folder_under_the_ids_that_the_tasks_have(tmp_path: Path) -> None:
    folder = tmp_path / "qrels"
    folder.mkdir()
    head = "query-id\tcorpus-id\tscore\n"
    (folder / "fiqa.tsv").write_text(f"{head}c<::>1\tp\t1\n")
    (folder / "govt.tsv").write_text(f"{head}d<::>2\tq\t1\n")
    gold = read_gold({"c::1": "x", "d<::>2": "y"}, qrels=folder)
    assert gold.qrels == {"c::1": {"p": 1}, "d<::>2": {"q": 1}}
    (folder / "fiqa.tsv").unlink()
    (folder / "govt.tsv").unlink()
    with pytest.raises(InputError, match="no judgements in this folder"):
        read_gold({}, qrels=folder)


def test_predictions_are_a_run(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "p.jsonl",
        predicted("1", "a", "b", "a", text="Bonds are safe."),
        predicted("2", "c", text="I do not have specific information."),
    )
    run = read_run_data(path)
    assert run.rankings == {"1": (("a", 1.0), ("b", 0.5)), "2": (("c", 1.0),)}
    assert [run.answer(q).text for q in "12"] == [
        "Bonds are safe.",
        "I do not have specific information.",
    ]
    assert [run.answer(q).abstained for q in "12"] == [False, True]
    assert read_run_data(lines(tmp_path / "a.jsonl", predicted("1", "a"))).answers is None


@pytest.mark.parametrize(
    "context", ["x", {"document_id": "a"}, {"score": 1}, {"document_id": "a", "score": True}]
)
def test_a_context_without_id_or_score_is_no_prediction(tmp_path: Path, context: object) -> None:
    path = lines(tmp_path / "p.jsonl", {"task_id": "1", "contexts": [context]})
    with pytest.raises(InputError, match=r"p.jsonl:1: contexts\[0\] needs a document_id and"):
        mtrag.read_predictions(path)


def run_eval(*arguments: object, code: int = 0) -> Result:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    tasks = lines(
        tmp_path / "tasks.jsonl",
        task("1", relevant=["a"], targets=["Bonds are safe."], answerability=["ANSWERABLE"]),
        task("2", relevant=["z"], targets=["None."], answerability=["UNANSWERABLE"]),
        task("3", "govt", relevant=["c"], targets=["Parks."], answerability=["ANSWERABLE"]),
    )
    run = lines(
        tmp_path / "run.jsonl",
        predicted("1", "a", text="Bonds are safe."),
        predicted("2", "b", text="I do not have specific information."),
        predicted("3", "b", "c", text="Rivers."),
    )
    return run, tasks


def figures(files: tuple[Path, Path], name: str) -> Any:
    run, tasks = files
    shown = run_eval(run, "--queries", tasks, "--format", name, "--json").stdout
    return json.loads(shown)


def test_task_a_is_scored_at_four_depths_by_collection(files: tuple[Path, Path]) -> None:
    found = figures(files, "mtrag-a")
    assert list(found["runs"][0]["measures"]) == [
        *("nDCG@1", "nDCG@3", "nDCG@5", "nDCG@10", "R@1", "R@3", "R@5", "R@10")
    ]
    recall = found["by_collection"]["run"]["R@10"]
    assert recall["groups"] == {"fiqa": {"mean": 0.5, "n": 2}, "govt": {"mean": 1.0, "n": 1}}
    assert recall["over_queries"] == pytest.approx(2 / 3)
    assert recall["over_groups"] == 0.75


def test_task_c_is_scored_without_a_judge(files: tuple[Path, Path]) -> None:
    found = figures(files, "mtrag-c")
    measures = found["runs"][0]["measures"]
    assert measures["rougeL"]["per_query"] == {"1": 1.0, "2": 0.0, "3": 0.0}
    assert "not stemmed" in measures["rougeL"]["summary"]
    assert measures["abstention-precision"]["mean"] == 1.0
    assert measures["abstention-recall"]["mean"] == 1.0
    assert found["by_collection"]["run"]["rougeL"]["over_groups"] == 0.25


def test_the_table_says_which_mean_is_which(files: tuple[Path, Path]) -> None:
    run, tasks = files
    shown = run_eval(run, "--queries", tasks, "--format", "mtrag-a").stdout
    assert "fiqa   govt  all tasks  collections" in shown
    assert "all tasks: every task counts the same" in shown


def test_what_is_given_wins_over_the_tasks_own(files: tuple[Path, Path], tmp_path: Path) -> None:
    run, tasks = files
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("1 0 other 1\n")
    at = (run, "--queries", tasks, "--format", "mtrag-a", "--json", "--measures", "R@10")
    found = json.loads(run_eval(*at, "--qrels", qrels).stdout)["runs"][0]["measures"]
    assert list(found) == ["R@10"]
    assert found["R@10"]["mean"] == 0.0


def test_collections_that_nobody_names_and_formats_without_defaults(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    run, _ = files
    queries = lines(tmp_path / "q.jsonl", {"id": "1", "text": "x"})
    nobody = run_eval(run, "--queries", queries, "--by-collection", code=1)
    assert "no query names a collection" in nobody.stderr
    other = run_eval(run, "--queries", queries, "--format", "longeval", code=1)
    assert "there are defaults for mtrag-a, mtrag-b, mtrag-c" in other.stderr
