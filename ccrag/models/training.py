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
    from torch import Tensor

DEFAULT_BASE = "sentence-transformers/all-MiniLM-L6-v2"
REPORT = "training.json"
_BATCH_TOKENS = 2048
_WINDOW_OVERLAP = 32


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """What was trained, and mean nDCG@10 of the held-out queries, all over the same candidates."""

    base: str
    train_queries: int
    validation_queries: int
    """Chose the epoch."""
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
    kept_epoch: int
    """The one whose weights were best on the validation queries; 0: none improved the base."""
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

    Of all epochs, and the base before the first, those weights are kept that order the validation
    queries best; the held-out queries are looked at when that is decided.

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
    others, held_out = split(judged, share=plan.held_out, seed=plan.seed)
    train, validation = split(others, share=plan.validation, seed=plan.seed)
    require_package("sentence_transformers", purpose="training a reranker")
    folder = find_encoder(base)
    with seeded(plan.seed):  # a new head begins with random weights
        model = open_trainable(folder, device=device)
    began = perf_counter()
    with reading_once(model):
        before = _figures(model, held_out, plan)
        best = _BestEpoch(model, validation, plan)
        pairs = fit(model, train, plan, on_step=on_step, on_epoch=best.look)
        best.restore()
        after = _figures(model, held_out, plan)
    bm25 = [ndcg(list(query.texts), query.relevance) for query in held_out]
    report = TrainingReport(
        base=base,
        train_queries=len(train),
        validation_queries=len(validation),
        held_out_queries=len(held_out),
        pairs=pairs,
        seconds=round(perf_counter() - began, 1),
        ndcg_bm25=_mean(bm25),
        ndcg_before=_mean(before),
        ndcg_after=_mean(after),
        better=sum(a > b for a, b in zip(after, bm25, strict=True)),
        worse=sum(a < b for a, b in zip(after, bm25, strict=True)),
        kept_epoch=best.epoch,
        plan=plan,
    )
    with quiet_loading():
        model.save_pretrained(str(out), create_model_card=False)
    (out / REPORT).write_bytes(orjson.dumps(asdict(report), option=orjson.OPT_INDENT_2))
    return report


class _BestEpoch:
    """The weights that ordered the validation queries best so far, the earlier ones of equals."""

    def __init__(
        self, model: CrossEncoder, queries: Sequence[JudgedQuery], plan: TrainingPlan
    ) -> None:
        self.epoch = 0
        self._model, self._queries, self._plan = model, queries, plan
        self._looked = 0
        self._best = self._figure()
        self._weights = self._copy()

    def look(self) -> None:
        """Evaluate the weights after an epoch."""
        self._looked += 1
        figure = self._figure()
        if figure > self._best:
            self.epoch, self._best, self._weights = self._looked, figure, self._copy()

    def restore(self) -> None:
        """Give the model the best weights."""
        self._model.load_state_dict(self._weights)

    def _figure(self) -> float:
        return _mean(_figures(self._model, self._queries, self._plan))

    def _copy(self) -> dict[str, Tensor]:
        return {name: weight.clone() for name, weight in self._model.state_dict().items()}


def _figures(
    model: CrossEncoder, queries: Sequence[JudgedQuery], plan: TrainingPlan
) -> list[float]:
    """Return nDCG@10 of each query's candidates in the model's order; ties keep BM25's."""
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
