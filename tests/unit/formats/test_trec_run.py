from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccrag.errors import InputError
from ccrag.formats.trec_run import read_qrels, read_run, run_lines
from ccrag.types import Hit, Ranking


def ranking(*hits: tuple[str, float], query_id: str = "q") -> Ranking:
    """Hits of passages `doc#x`, in the order given."""
    return Ranking(query_id, "rrf", tuple(Hit(p, p.partition("#")[0], s) for p, s in hits))


def lines(given: Ranking, level: Literal["document", "passage"] = "document") -> list[str]:
    return list(run_lines(given, tag="t", level=level))


def test_document_stands_where_its_best_passage_stood() -> None:
    given = ranking(("b#1", 3.0), ("a#1", 2.0), ("b#2", 1.5), ("c#1", 0.25))
    assert lines(given) == [
        "q Q0 b 1 3.000000 t",
        "q Q0 a 2 2.000000 t",
        "q Q0 c 3 0.250000 t",
    ]


def test_passage_level_keeps_every_hit() -> None:
    given = ranking(("b#1", 3.0), ("b#2", 1.5))
    assert lines(given, "passage") == ["q Q0 b#1 1 3.000000 t", "q Q0 b#2 2 1.500000 t"]


@pytest.mark.parametrize(
    ("scores", "printed"),
    [
        ((), []),
        ((0.5,), ["0.500000"]),
        ((0.5, 0.5, 0.5), ["0.500000", "0.499999", "0.499998"]),
        ((1e-9, 0.0, 0.0), ["0.000000", "-0.000001", "-0.000002"]),
        ((0.5, 0.5, 0.4999999), ["0.500000", "0.499999", "0.499998"]),
        ((-1.25, -1.25), ["-1.250000", "-1.250001"]),
        ((40.0, 40.0), ["40.000000", "39.999996"]),  # float32 steps by 3.8 millionths there
        ((-63.999999,) * 2, ["-63.999999", "-64.000007"]),  # and by 7.6 from 64 on
    ],
)
def test_ties_are_written_apart(scores: tuple[float, ...], printed: list[str]) -> None:
    given = ranking(*((f"d{i}#x", score) for i, score in enumerate(scores)))
    assert [line.split()[4] for line in lines(given)] == printed


@settings(deadline=None)
@given(st.lists(st.floats(-1e4, 1e4, allow_nan=False), max_size=30))
def test_trec_eval_keeps_our_order(scores: list[float]) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    ordered = sorted(scores, reverse=True)
    written = lines(ranking(*((f"d{i}#x", score) for i, score in enumerate(ordered))))
    run = {"q": {line.split()[2]: float(line.split()[4]) for line in written}}
    for i in range(len(ordered)):
        evaluator = pytrec_eval.RelevanceEvaluator({"q": {f"d{i}": 1}}, {"recip_rank"})
        assert evaluator.evaluate(run)["q"]["recip_rank"] == 1 / (i + 1)


@pytest.mark.parametrize(
    ("given", "tag", "message"),
    [
        (ranking(("a b#1", 1.0)), "t", "document id 'a b'"),
        (ranking(("a#1", 1.0), query_id="q 1"), "t", "query id 'q 1'"),
        (ranking(("a#1", 1.0), query_id=""), "t", "query id ''"),
        (ranking(("a#1", 1.0)), "my run", "tag 'my run'"),
        (ranking(("a#1", float("inf"))), "t", "score inf"),
    ],
)
def test_what_would_break_the_columns_is_refused(given: Ranking, tag: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(run_lines(given, tag=tag, level="document"))


def test_run_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_text("\n".join(lines(ranking(("a#1", 2.0), ("b#1", 2.0)))) + "\n", encoding="utf-8")
    assert read_run(path) == {"q": [("a", 2.0), ("b", 1.999999)]}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q Q0 a 2 1.0", "run.trec:2: expected 6 columns, got 5"),
        ("q Q0 b 2 high t", "run.trec:2: score 'high' is not a number"),
        ("q Q0 b 2 nan t", "run.trec:2: score 'nan' is not finite"),
        ("q Q0 a 2 0.5 t", "run.trec:2: 'a' twice for query 'q'"),
    ],
)
def test_bad_run_names_file_and_line(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "run.trec"
    path.write_text(f"q Q0 a 1 1.0 t\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_run(path)


@pytest.mark.parametrize(
    "text", ["q 0 a 1\nq 0 b 0\n\n", "query-id\tcorpus-id\tscore\nq\ta\t1\nq\tb\t0\n"]
)
def test_both_kinds_of_qrels(tmp_path: Path, text: str) -> None:
    path = tmp_path / "qrels"
    path.write_text(text, encoding="utf-8")
    assert read_qrels(path) == {"q": {"a": 1, "b": 0}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q 0 a\n", "qrels:1: expected 4 columns, got 3"),
        ("q 0 a yes\n", "qrels:1: relevance 'yes'"),
        ("q 0 a 1\nq 0 a 0\n", "qrels:2: query 'q': 'a' is judged 0 here and 1 in .*qrels:1"),
        ("query-id\tcorpus-id\tscore\nq\t0\ta\t1\n", "qrels:2: expected 3 columns, got 4"),
    ],
)
def test_bad_qrels_name_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "qrels"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_qrels(path)


def test_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_run(tmp_path / "none")
