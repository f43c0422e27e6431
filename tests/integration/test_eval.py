"""Figures over real collections, against independent computations and on planted differences."""

import json
import math
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import ir_measures
import pytest
from rouge_score.rouge_scorer import RougeScorer
from typer.testing import CliRunner

from ccrag.cli import app
from ccrag.evaluation.catalogue import default_measures, select_measures
from ccrag.evaluation.gold import Gold
from ccrag.evaluation.run_files import read_gold, read_run_data, read_runs
from ccrag.evaluation.rundata import RunAnswer, RunData, RunSentence
from ccrag.evaluation.scores import RunScores, compare_runs, evaluate
from ccrag.formats.trec_run import read_qrels, read_run

DATA = Path(__file__).parents[3] / "shared" / "data"
RETRIEVAL = ("nDCG@10", "R@10", "P@1", "RR", "AP")

pytestmark = pytest.mark.skipif(not DATA.exists(), reason=f"needs the collections in {DATA}")

Ranker = Callable[[str, list[str]], list[str]]


class Collection(NamedTuple):
    folder: Path
    queries: dict[str, dict[str, Any]]
    texts: dict[str, str]

    @property
    def qrels(self) -> Path:
        return self.folder / "qrels.txt"

    def gold(self) -> Gold:
        answers = self.folder / "gold_answers.jsonl"
        return read_gold(
            {query_id: record["query"] for query_id, record in self.queries.items()},
            answers=answers if answers.exists() else None,
            qrels=self.qrels,
        )


def records(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def collection(name: str) -> Collection:
    folder = DATA / name
    queries = {record["query_id"]: record for record in records(folder / "queries.jsonl")}
    texts = {
        record["id"]: " ".join(
            record.get(key) or "" for key in ("title", "abstract", "text", "fullText")
        )
        for record in records(folder / "documents.jsonl")
    }
    return Collection(folder, queries, texts)


@pytest.fixture(scope="module")
def cranfield() -> Collection:
    return collection("cranfield")


@pytest.fixture(scope="module")
def longeval() -> Collection:
    return collection("longeval-rag")


def by_overlap(data: Collection) -> Ranker:
    """Documents by the rarity of the query's words they hold: no engine, and not bad."""
    words = {doc_id: set(text.lower().split()) for doc_id, text in data.texts.items()}
    holding = Counter(word for held in words.values() for word in held)

    def rank(query: str, doc_ids: list[str]) -> list[str]:
        wanted = set(query.lower().split())
        rarity = {
            doc_id: math.fsum(
                math.log(len(words) / holding[word]) for word in wanted & words[doc_id]
            )
            for doc_id in doc_ids
        }
        return sorted(doc_ids, key=lambda doc_id: (-rarity[doc_id], doc_id))

    return rank


def shuffled(seed: int) -> Ranker:
    generator = random.Random(seed)
    return lambda _, doc_ids: generator.sample(doc_ids, len(doc_ids))


def write_run(folder: Path, data: Collection, rank: Ranker) -> Path:
    """A run by hand: ranked candidates, and the first words of the best two as the answer."""
    folder.mkdir()
    responses, trec = [], []
    for query_id, record in data.queries.items():
        ranked = rank(record["query"], record["doc_ids"])
        trec += [
            f"{query_id} Q0 {doc_id} {n} {len(ranked) - n} t\n"
            for n, doc_id in enumerate(ranked, start=1)
        ]
        sentences = [
            {"text": " ".join(data.texts[doc_id].split()[:30]), "citations": [at]}
            for at, doc_id in enumerate(ranked[:2])
        ]
        metadata = {"narrative_id": query_id}
        response = {"metadata": metadata, "references": ranked[:2], "answer": sentences}
        responses.append(json.dumps(response) + "\n")
    (folder / "responses.jsonl").write_text("".join(responses), encoding="utf-8")
    (folder / "run.trec").write_text("".join(trec), encoding="utf-8")
    return folder


def scored(data: Collection, *folders: Path, measures: tuple[str, ...]) -> dict[str, RunScores]:
    chosen = select_measures(measures, default_measures())
    return {run.name: evaluate(run, data.gold(), chosen) for run in read_runs(folders)}


def test_rouge_is_what_rouge_score_computes(longeval: Collection, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", longeval, by_overlap(longeval))
    scores = scored(longeval, folder, measures=("rougeL", "rouge1", "rouge2"))["run"]
    scorer = RougeScorer(["rougeL", "rouge1", "rouge2"], use_stemmer=True)
    golds = {
        record["query_id"]: record["gold_answer"]
        for record in records(longeval.folder / "gold_answers.jsonl")
    }
    for record in records(folder / "responses.jsonl"):
        query_id = record["metadata"]["narrative_id"]
        text = " ".join(sentence["text"] for sentence in record["answer"])
        direct = scorer.score(golds[query_id], text)
        for kind, found in direct.items():
            assert scores.per_query[kind][query_id] == found.fmeasure
        question = scorer.score(longeval.queries[query_id]["query"], text)["rougeL"].fmeasure
        assert scores.per_query["question-rougeL"][query_id] == question
    assert len(scores.per_query["rougeL"]) == len(golds) == 7


def test_echoing_the_question_beats_an_answer_and_shows(longeval: Collection) -> None:
    """Why no ROUGE figure stands without the overlap with the question."""
    gold = longeval.gold()
    echo = RunData(
        "echo",
        answers={q: RunAnswer((RunSentence(text),)) for q, text in gold.queries.items()},
    )
    first_words = RunData(
        "first words",
        answers={
            query_id: RunAnswer((RunSentence(" ".join(longeval.texts[doc_id].split()[:50])),))
            for query_id, record in longeval.queries.items()
            for doc_id in record["doc_ids"][:1]
        },
    )
    measures = select_measures(["rougeL"], default_measures())
    means = {
        run.name: [
            fmean(value or 0 for value in evaluate(run, gold, measures).per_query[name].values())
            for name in ("rougeL", "question-rougeL")
        ]
        for run in (echo, first_words)
    }
    assert means["echo"][0] > means["first words"][0]
    assert means["echo"][1] == 1 > means["first words"][1]


def test_the_command_prints_what_is_computed(longeval: Collection, tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", longeval, by_overlap(longeval))
    measures = ("rougeL", "rouge1", "rouge2", *RETRIEVAL, "cited-recall")
    given = {
        "--queries": longeval.folder / "queries.jsonl",
        "--gold": longeval.folder / "gold_answers.jsonl",
        "--qrels": longeval.qrels,
        "--measures": ",".join(measures),
    }
    options = [str(word) for pair in given.items() for word in pair]
    done = CliRunner().invoke(app, ["eval", str(folder), *options, "--json"])
    assert done.exit_code == 0, done.output
    (printed,) = json.loads(done.stdout)["runs"]
    computed = scored(longeval, folder, measures=measures)["run"].per_query
    assert {name: found["per_query"] for name, found in printed["measures"].items()} == computed


@pytest.mark.parametrize("name", ["cranfield", "longeval-rag"])
def test_retrieval_is_what_ir_measures_computes(name: str, tmp_path: Path) -> None:
    data = collection(name)
    folder = write_run(tmp_path / "run", data, by_overlap(data))
    scores = scored(data, folder, measures=RETRIEVAL)["run"]
    direct = list(
        ir_measures.iter_calc(
            [ir_measures.parse_measure(measure) for measure in RETRIEVAL],
            read_qrels(data.qrels),
            {query_id: dict(ranked) for query_id, ranked in read_run(folder / "run.trec").items()},
        )
    )
    assert len(direct) == len(RETRIEVAL) * len(data.queries)
    for metric in direct:
        found = scores.per_query[str(metric.measure)][metric.query_id]
        assert found == pytest.approx(metric.value), metric


def test_the_ir_measures_command_prints_the_same_means(
    cranfield: Collection, tmp_path: Path
) -> None:
    folder = write_run(tmp_path / "run", cranfield, by_overlap(cranfield))
    summary = scored(cranfield, folder, measures=RETRIEVAL)["run"].summary(draws=100)
    command = [sys.executable, "-m", "ir_measures", str(cranfield.qrels), str(folder / "run.trec")]
    done = subprocess.run([*command, *RETRIEVAL], capture_output=True, text=True, check=True)
    printed = dict(line.split("\t") for line in done.stdout.splitlines())
    means = {name: f"{item.interval.mean:.4f}" for name, item in summary.items() if item.interval}
    assert printed == means


def test_a_planted_worse_run_is_worse_and_shuffles_are_alike(
    cranfield: Collection, tmp_path: Path
) -> None:
    rank = by_overlap(cranfield)
    generator = random.Random(5)

    def worse(query: str, doc_ids: list[str]) -> list[str]:
        """In about half of the queries the first five documents go to the end."""
        ranked = rank(query, doc_ids)
        return ranked if generator.random() < 0.5 else [*ranked[5:], *ranked[:5]]

    rankers = {"good": rank, "worse": worse, "shuffle-1": shuffled(1), "shuffle-2": shuffled(2)}
    folders = [write_run(tmp_path / name, cranfield, by) for name, by in rankers.items()]
    runs = scored(cranfield, *folders, measures=("nDCG@10", "RR", "cited-recall"))
    for measure in ("nDCG@10", "RR", "cited-recall"):
        found = {(c.baseline, c.other): c for c in compare_runs(runs, measure)}
        planted = found["good", "worse"]
        assert planted.difference < 0
        assert planted.significant()
        assert planted.high < 0
        assert found["good", "shuffle-1"].significant()
        alike = found["shuffle-1", "shuffle-2"]
        assert not alike.significant()
        assert alike.low < 0 < alike.high
        assert alike.equal < alike.n


def test_a_copy_with_its_lines_in_another_order_is_identical(
    cranfield: Collection, tmp_path: Path
) -> None:
    first = write_run(tmp_path / "first", cranfield, by_overlap(cranfield))
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("responses.jsonl", "run.trec"):
        lines = (first / name).read_text(encoding="utf-8").splitlines(keepends=True)
        random.Random(9).shuffle(lines)
        (copy / name).write_text("".join(lines), encoding="utf-8")
    runs = scored(cranfield, first, copy, measures=("nDCG@10", "words", "cited-recall"))
    for measure in ("nDCG@10", "words", "cited-recall"):
        (found,) = compare_runs(runs, measure)
        assert (found.p, found.difference, found.equal) == (1, 0, len(cranfield.queries))


def test_cited_precision_of_positive_judgements_is_left_out(
    cranfield: Collection, tmp_path: Path
) -> None:
    """All of Cranfield's judgements are relevant: nothing that is cited could be wrong."""
    folder = write_run(tmp_path / "run", cranfield, by_overlap(cranfield))
    run = read_run_data(folder)
    measures = select_measures(["cited-precision", "cited-precision-strict"], default_measures())
    scores = evaluate(run, cranfield.gold(), measures)
    assert set(scores.per_query["cited-precision"].values()) == {None}
    strict = [value for value in scores.per_query["cited-precision-strict"].values() if value]
    assert 0 < fmean(strict) <= 1
