"""Training a cross-encoder on judgements, and finding out on other queries whether it helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import orjson

from ccrag.errors import InputError
from ccrag.models.cross_encoder import LoadedPairModel, open_trainable, reading_once
from ccrag.models.fitting import OnStep, TrainingPlan, fit, seeded
from ccrag.models.folder import ModelFolder, quiet_loading
from ccrag.models.judged import JudgedQuery, ndcg, split
from ccrag.models.locate import find_encoder, require_package
from ccrag.models.reranker import CrossEncoderReranker

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

DEFAULT_BASE = "sentence-transformers/all-MiniLM-L6-v2"
REPORT = "training.json"
_BATCH_TOKENS = 2048
_WINDOW_OVERLAP = 32


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """What was trained, and mean nDCG@10 of the held-out queries, all over the same candidates."""

    base: str
    train_queries: int
    held_out_queries: int
    pairs: int
    """Query and text, those that came up again counted again."""
    seconds: float
    ndcg_bm25: float
    ndcg_before: float
    """The base (with a new head, if it had none) before training."""
    ndcg_after: float
    better: int
    """Held-out queries on which the trained model's order is better than BM25's."""
    worse: int
    plan: TrainingPlan


def train_reranker(
    judged: Sequence[JudgedQuery],
    out: Path,
    *,
    base: str = DEFAULT_BASE,
    plan: TrainingPlan | None = None,
    device: str | None = None,
    on_step: OnStep = lambda _: None,
) -> TrainingReport:
    """
    Train on most of `judged`, evaluate on the rest, and write a model that `load_reranker` loads.

    A base that is a cross-encoder is trained as a whole; any other encoder gets the head of
    `models.token_match`, which alone is trained. The same input and seed give the same model.

    Args:
        out: a folder that does not exist yet, or is empty; also gets `training.json`.
        base: a folder, or a name as for an encoder.
        on_step: called with the number of steps done.

    Raises:
        InputError: `out` is not empty, or too few queries have relevant and other candidates.
        ModelError: the base cannot be found or loaded.
    """
    plan = plan or TrainingPlan()
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError("is no empty folder; give a new one for the model", path=out)
    train, held_out = split(judged, share=plan.held_out, seed=plan.seed)
    require_package("sentence_transformers", purpose="training a reranker")
    folder = find_encoder(base)
    with seeded(plan.seed):  # a new head begins with random weights
        model = open_trainable(folder, device=device)
    began = perf_counter()
    with reading_once(model):
        before = _figures(model, held_out, plan)
        pairs = fit(model, train, plan, on_step=on_step)
        after = _figures(model, held_out, plan)
    bm25 = [ndcg(list(query.texts), query.relevance) for query in held_out]
    report = TrainingReport(
        base=base,
        train_queries=len(train),
        held_out_queries=len(held_out),
        pairs=pairs,
        seconds=round(perf_counter() - began, 1),
        ndcg_bm25=_mean(bm25),
        ndcg_before=_mean(before),
        ndcg_after=_mean(after),
        better=sum(a > b for a, b in zip(after, bm25, strict=True)),
        worse=sum(a < b for a, b in zip(after, bm25, strict=True)),
        plan=plan,
    )
    with quiet_loading():
        model.save_pretrained(str(out), create_model_card=False)
    (out / REPORT).write_bytes(orjson.dumps(asdict(report), option=orjson.OPT_INDENT_2))
    return report


def _figures(
    model: CrossEncoder, queries: Sequence[JudgedQuery], plan: TrainingPlan
) -> list[float]:
    """nDCG@10 of each query's candidates in the model's order; ties keep BM25's."""
    reranker = CrossEncoderReranker(
        LoadedPairModel(model),
        ModelFolder(Path(), "the model in training", ""),
        max_tokens=plan.max_tokens,
        window_overlap=_WINDOW_OVERLAP,
        batch_tokens=_BATCH_TOKENS,
    )
    return [_figure(reranker, query) for query in queries]


def _figure(reranker: CrossEncoderReranker, query: JudgedQuery) -> float:
    values = reranker.scores(query.text, list(query.texts.values())).values
    scores = dict(zip(query.texts, values, strict=True))
    order = sorted(query.texts, key=lambda doc_id: -scores[doc_id])
    return ndcg(order, query.relevance)


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), 4)
