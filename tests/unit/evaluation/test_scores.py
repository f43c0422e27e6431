import math
from dataclasses import replace

import pytest

from ccrag.errors import InputError, InvariantError
from ccrag.evaluation.catalogue import default_measures, select_measures
from ccrag.evaluation.evidence_metrics import evidence_measures
from ccrag.evaluation.gold import Gold
from ccrag.evaluation.outcome import assess
from ccrag.evaluation.registry import Measure, Need, per_query
from ccrag.evaluation.rundata import RunAnswer, RunData, RunSentence
from ccrag.evaluation.scores import compare_runs, evaluate
from ccrag.evaluation.tables import outcome_json, per_query_csv
from ccrag.evaluation.weighted_support import support_measures
from tests.unit.measured import answer

GOLD = Gold(
    dict.fromkeys(("q1", "q2"), "Why do wings flutter?"),
    answers={"q1": "Bending couples.", "q2": "Damping falls."},
    qrels={"q1": {"d1": 1, "d2": 0}, "q2": {"d2": 1, "d1": 0}},
    quotes={},
    answerable={},
    texts={},
)
RUN = RunData(
    "full",
    answers={"q1": answer(RunSentence("Bending couples.", (0,)), references=("d1",))},
    rankings={"q1": (("d1", 1.0),)},
    provenance={},
)
GIVEN = default_measures(
    nli=lambda premise, hypothesis: 1.0,
    bert=lambda texts, _: [0.5] * len(texts),
    support=lambda sentence, text, question: 1.0,
)
OF_SUPPORT = {measure.name for measure in support_measures(None)}
JUDGED = {"judge-correctness", "judge-completeness", "nugget-coverage"}
ALL = tuple(measure for measure in GIVEN if measure.name not in JUDGED)
"""All but what a language model grades; `test_judging` is about that."""
NAMES = {measure.name for measure in ALL}
OF_QUOTES = {measure.name for measure in evidence_measures()} - {"context-chars"}


def test_with_everything_given_nothing_is_left_out() -> None:
    scores = evaluate(RUN, GOLD, ALL)
    assert scores.left_out == {}
    assert list(scores.measures) == [measure.name for measure in ALL]
    assert scores.query_ids == ("q1", "q2")


@pytest.mark.parametrize(
    ("run", "gold", "option", "lost"),
    [
        (replace(RUN, rankings=None), GOLD, "run.trec", {"nDCG@10", "R@10", "P@1", "RR"}),
        (
            replace(RUN, provenance=None),
            GOLD,
            "provenance.json",
            {"lexical-support", "nli-recall", "nli-precision", "context-chars"}
            | OF_QUOTES
            | OF_SUPPORT,
        ),
        (replace(RUN, answers=None), GOLD, "responses", NAMES - {"nDCG@10", "R@10", "P@1", "RR"}),
        (
            RUN,
            replace(GOLD, answers=None),
            "--gold",
            {"rougeL", "rouge1", "rouge2", "bertscore"},
        ),
        (
            RUN,
            replace(GOLD, qrels=None),
            "--qrels",
            {"nDCG@10", "R@10", "P@1", "RR"}
            | {n for n in NAMES if n.startswith("cited-")} - {"cited-sentences"},
        ),
        (RUN, replace(GOLD, quotes=None), "--quotes", OF_QUOTES),
        (RUN, replace(GOLD, texts=None), "--documents", OF_QUOTES),
        (
            RUN,
            replace(GOLD, answerable=None),
            "--answerable",
            {n for n in NAMES if n.startswith("abstention-")},
        ),
    ],
)
def test_a_missing_need_leaves_its_measures_out_by_name(
    run: RunData, gold: Gold, option: str, lost: set[str]
) -> None:
    scores = evaluate(run, gold, ALL)
    assert set(scores.left_out) == lost
    assert all(option in reason for reason in scores.left_out.values())
    assert set(scores.measures) == set(scores.per_query) == NAMES - lost


def test_models_that_are_not_given() -> None:
    left_out = evaluate(RUN, GOLD, default_measures()).left_out
    assert set(left_out) == {"bertscore", "nli-recall", "nli-precision"} | JUDGED | OF_SUPPORT


def test_a_query_absent_from_the_run_counts_as_empty() -> None:
    absent = evaluate(RUN, GOLD, ALL)
    empty_answer = RunAnswer(evidence=(), read=())
    empty = evaluate(
        replace(
            RUN,
            answers={**(RUN.answers or {}), "q2": empty_answer},
            rankings={**(RUN.rankings or {}), "q2": ()},
        ),
        GOLD,
        ALL,
    )
    assert absent.per_query == empty.per_query
    assert absent.skipped == empty.skipped
    zeros = ("nDCG@10", "R@10", "RR", "rougeL", "bertscore", "words", "cited-recall")
    assert [absent.per_query[name]["q2"] for name in zeros] == [0.0] * len(zeros)
    assert absent.per_query["rougeL"]["q1"] == 1
    assert absent.per_query["cited-precision"]["q2"] is None
    assert absent.skipped["cited-precision"] == {"q2": "no judged document is cited"}
    assert absent.notes == (
        "1 of 2 queries have no answer and count as empty",
        "1 of 2 queries have no ranking and count as empty",
    )


def test_queries_beyond_the_query_file_are_left_aside() -> None:
    scores = evaluate(RUN, Gold({"q2": "?"}, qrels=GOLD.qrels), ALL)
    assert set(scores.per_query["RR"]) == {"q2"}
    assert "1 queries of the run are not in the query file and were left aside" in scores.notes


def test_summary() -> None:
    summary = evaluate(RUN, GOLD, ALL).summary()
    assert list(summary) == [measure.name for measure in ALL]
    rouge = summary["rougeL"].interval
    assert rouge is not None
    assert (rouge.mean, rouge.n, rouge.low, rouge.high) == ((1 + 0) / 2, 2, 0, 1)
    precision = summary["cited-precision"]
    assert precision.interval is not None
    assert (precision.interval.n, precision.interval.mean) == (1, 1)
    assert dict(precision.skipped) == {"no judged document is cited": 1}
    nothing = summary["evidence-recall"]
    assert nothing.interval is None
    assert dict(nothing.skipped) == {"no gold quotes": 2}


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_no_measure_may_give_nan(value: float) -> None:
    broken = Measure("m", "", (Need.ANSWERS,), True, per_query(lambda case: value))
    with pytest.raises(InvariantError, match="query 'q1': a measure gave"):
        evaluate(RUN, GOLD, [broken])


def test_rouge_never_stands_without_the_overlap_with_the_question() -> None:
    def names(*wanted: str) -> list[str]:
        return [measure.name for measure in select_measures(wanted, ALL)]

    assert names("words", "rouge2", "RR") == ["words", "rouge2", "question-rougeL", "RR"]
    assert names("question-rougeL", "rougeL") == ["question-rougeL", "rougeL"]
    assert names("AP", "words", "AP") == ["AP", "words"]
    with pytest.raises(InputError, match="no measure is called 'rougeX'"):
        names("rougeX")


def test_runs_are_compared_on_measures_that_two_have() -> None:
    bare = RunData("bare", rankings=RUN.rankings)
    runs = {run.name: evaluate(run, GOLD, ALL) for run in (RUN, bare)}
    assert [c.p for c in compare_runs(runs, "RR")] == [1]
    assert compare_runs(runs, "words") == ()
    assert compare_runs(runs, "words", baseline="bare") == ()
    with pytest.raises(InputError, match="no run is called 'other'; there are full, bare"):
        compare_runs(runs, "words", baseline="other")


def test_outcome_of_several_runs() -> None:
    runs = [RUN, replace(RUN, name="twin"), RunData("bare", rankings={})]
    outcome = assess(runs, GOLD, ALL, draws=200, seed=7)
    assert outcome.baseline == "full"
    assert [(c.other, c.difference) for c in outcome.comparisons["RR"]] == [
        ("twin", 0),
        ("bare", (0 - 1) / 2),
    ]
    assert [c.other for c in outcome.comparisons["words"]] == ["twin"]
    pairs = assess(runs, GOLD, ALL, all_pairs=True)
    assert pairs.baseline is None
    assert len(pairs.comparisons["RR"]) == 3
    assert assess(runs, GOLD, ALL, baseline="bare").comparisons["RR"][0].other == "full"
    assert assess([RUN], GOLD, ALL).comparisons == {}


def test_intervals_of_an_outcome_obey_its_draws_and_seed() -> None:
    answers = {f"q{n}": answer(RunSentence("word " * n**2)) for n in range(12)}
    gold, run = Gold(dict.fromkeys(answers, "?")), RunData("r", answers=answers)
    words = select_measures(["words"], ALL)

    def summary(draws: int, seed: int) -> object:
        return assess([run], gold, words, draws=draws, seed=seed).summaries["r"]

    assert summary(200, 7) == evaluate(run, gold, words).summary(draws=200, seed=7)
    assert summary(200, 7) != summary(200, 8)
    assert summary(200, 7) != summary(300, 7)


@pytest.mark.parametrize(
    ("runs", "baseline", "all_pairs", "message"),
    [
        ([], None, False, "no runs to measure"),
        ([RUN], "other", False, "no run is called 'other'; there are full"),
        ([RUN], "full", True, "all pairs have no baseline"),
    ],
)
def test_outcomes_that_cannot_be(
    runs: list[RunData], baseline: str | None, all_pairs: bool, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        assess(runs, GOLD, ALL, baseline=baseline, all_pairs=all_pairs)


def test_json_and_csv_hold_every_figure_and_reason() -> None:
    chosen = select_measures(["RR", "cited-precision", "evidence-recall"], ALL)
    outcome = assess([RUN, RunData("bare", rankings={})], GOLD, chosen, draws=200, seed=7)
    whole = outcome_json(outcome)
    full, bare = whole["runs"]
    assert (whole["baseline"], whole["draws"], whole["seed"]) == ("full", 200, 7)
    assert full["measures"]["RR"]["per_query"] == {"q1": 1.0, "q2": 0.0}
    assert full["measures"]["evidence-recall"]["mean"] is None
    precision = full["measures"]["cited-precision"]
    assert precision["without_figure"] == {"q2": "no judged document is cited"}
    assert "responses" in bare["left_out"]["cited-precision"]
    (comparison,) = whole["comparisons"]
    assert (comparison["measure"], comparison["other"], comparison["p"]) == ("RR", "bare", 2 / 2)
    assert per_query_csv(outcome.scores.values()).splitlines() == [
        "run,query_id,RR,cited-precision,evidence-recall",
        "full,q1,1.0,1.0,",
        "full,q2,0.0,,",
        "bare,q1,0.0,,",
        "bare,q2,0.0,,",
    ]
