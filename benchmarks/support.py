"""
Learn the weights of the support check from judged claims, and measure them on claims held back.

    python -m benchmarks.support CLAIMS.jsonl [--out ccrag/support/words.json] [--plot FILE.svg]

A line is `{"id", "source", "question", "claim", "evidence": [text, …], "supported"}`. Prints
macro-F1, the share of unsupported claims that are accepted and of supported ones that are refused,
with whole questions held back in turn (5 parts) and with whole sources held back, and claims a
second.
"""

import argparse
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson
from pydantic import TypeAdapter
from rich.console import Console
from rich.table import Table

from benchmarks.unit_plot import plot
from ccrag.answering.calibration import Weight
from ccrag.answering.support_features import compare, features
from ccrag.answering.verdict import SUPPORTED_FROM, SupportWeights, judge

Column = npt.NDArray[np.float64]
FOLDS = 5
INVERSE_PENALTY = 0.3


class Claims(NamedTuple):
    """Judged claims as arrays, in the order of the file."""

    names: tuple[str, ...]
    values: npt.NDArray[np.float64]
    supported: npt.NDArray[np.bool_]
    sources: npt.NDArray[np.str_]
    questions: npt.NDArray[np.str_]


def main() -> None:
    """Print the tables; write weights and plot where asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("claims", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plot", type=Path)
    chosen = parser.parse_args()
    records = [orjson.loads(line) for line in chosen.claims.read_bytes().splitlines()]
    claims = claims_of(records)
    by_question = held_out(claims, folds_of(claims.questions))
    by_source = held_out(claims, claims.sources)
    table = Table("held back", "source", "claims", "macro-F1", "accepted", "refused", box=None)
    for name, said in (("questions", by_question), ("source", by_source)):
        for source in ("all", *sorted(set(claims.sources))):
            part = claims.sources == source if source != "all" else np.ones(len(said), dtype=bool)
            table.add_row(name, source, str(part.sum()), *cells(claims.supported[part], said[part]))
    console = Console()
    console.print(table)
    weights = fit(claims, figures(claims, by_question, by_source))
    began = perf_counter()
    for record in records:
        judge(record["claim"], record["evidence"], weights, question=record.get("question"))
    console.print(f"{len(records) / (perf_counter() - began):.0f} claims a second", highlight=False)
    if chosen.out is not None:
        content = TypeAdapter(SupportWeights).dump_json(weights, indent=1)
        chosen.out.write_bytes(content + b"\n")
    if chosen.plot is not None:
        chosen.plot.write_text(calibration_plot(claims.supported, by_question), encoding="utf-8")


def claims_of(records: Sequence[Any]) -> Claims:
    """Return the features of all claims."""
    found = [features(compare(r["claim"], r["evidence"]), r.get("question")) for r in records]
    return Claims(
        names=tuple(found[0]),
        values=np.array([list(one.values()) for one in found]),
        supported=np.array([r["supported"] for r in records]),
        sources=np.array([r["source"] for r in records]),
        questions=np.array([r.get("question") or r["id"] for r in records]),
    )


def folds_of(questions: npt.NDArray[np.str_]) -> npt.NDArray[np.str_]:
    """Return a part for each claim; claims of one question share theirs."""
    names = sorted(set(questions))
    order = np.random.default_rng(0).permutation(len(names))
    part = {name: str(order[at] % FOLDS) for at, name in enumerate(names)}
    return np.array([part[name] for name in questions])


def held_out(claims: Claims, parts: npt.NDArray[np.str_]) -> Column:
    """Return each claim's probability by what was learnt without its part."""
    said = np.zeros(len(claims.supported))
    for part in sorted(set(parts)):
        inside = parts == part
        rest = claims._replace(values=claims.values[~inside], supported=claims.supported[~inside])
        weights = fit(rest, {})
        said[inside] = [
            weights.probability(dict(zip(claims.names, row, strict=True)))
            for row in claims.values[inside]
        ]
    return said


def fit(claims: Claims, known: dict[str, Any]) -> SupportWeights:
    """Learn from all of `claims`."""
    from sklearn.linear_model import LogisticRegression

    means, scales = claims.values.mean(axis=0), claims.values.std(axis=0)
    scales[scales < 1e-9] = 1.0
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=2_000)
    model.fit((claims.values - means) / scales, claims.supported)
    return SupportWeights(
        weights={
            name: Weight(round(float(m), 6), round(float(s), 6), round(float(c), 6))
            for name, m, s, c in zip(claims.names, means, scales, model.coef_[0], strict=True)
        },
        intercept=round(float(model.intercept_[0]), 6),
        figures=known,
    )


def rates(supported: npt.NDArray[np.bool_], said: Column) -> tuple[float, float, float]:
    """Return macro-F1, the share of unsupported claims accepted, and of supported ones refused."""
    accepted = said >= SUPPORTED_FROM
    scores = []
    for wanted in (True, False):
        right = ((accepted == wanted) & (supported == wanted)).sum()
        scores.append(2 * right / ((accepted == wanted).sum() + (supported == wanted).sum()))
    return (
        float(np.mean(scores)),
        float(accepted[~supported].mean()),
        float((~accepted[supported]).mean()),
    )


def cells(supported: npt.NDArray[np.bool_], said: Column) -> list[str]:
    return [f"{value:.3f}" for value in rates(supported, said)]


def figures(claims: Claims, by_question: Column, by_source: Column) -> dict[str, Any]:
    """Return the figures that the file of weights holds."""
    names = ("macro_f1", "accepted_unsupported", "refused_supported")
    held = {
        "questions_held_back": rates(claims.supported, by_question),
        "source_held_back": rates(claims.supported, by_source),
    }
    found = {k: {n: round(v, 3) for n, v in zip(names, r, strict=True)} for k, r in held.items()}
    return {"claims": len(claims.supported), **found}


def calibration_plot(supported: npt.NDArray[np.bool_], said: Column) -> str:
    """Return the share of supported claims by said probability, as SVG."""
    edges = np.linspace(0, 1, 6)
    shares = []
    for low, high in pairwise(edges):
        inside = (said >= low) & (said <= high)
        shares.append(float(supported[inside].mean()) if inside.any() else 0.0)
    middles = [10, 30, 50, 70, 90]
    lines = {"supported, of claims so judged": shares, "as said": [m / 100 for m in middles]}
    return plot({"held back by question": lines}, middles, axis="probability said, in %")


if __name__ == "__main__":
    main()
