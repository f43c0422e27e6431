"""
The training loop of a cross-encoder: binary cross-entropy over groups of one query's texts.

With this loss, and not one over the order alone, the sigmoid of a score keeps its meaning.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from ccrag.models.cross_encoder import forward_scores
from ccrag.models.judged import JudgedQuery, sample_group

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder
    from torch import Tensor

OnStep = Callable[[int], None]
OnEpoch = Callable[[], None]

HARD = 30
WARM_UP = 0.1
"""Share of the steps in which the learning rate rises; after it, it falls to 0."""
CENTRING_STEPS = 4
WEIGHT_DECAY = 0.01


class Pair(NamedTuple):
    """A query, one of its texts, and 1 or 0: whether it is relevant."""

    query: str
    text: str
    label: float


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """How long, how fast, on how much."""

    epochs: int = 4
    """How often each query comes up, every time with other texts."""
    texts_per_query: int = 16
    queries_per_step: int = 1
    max_tokens: int = 256
    """Read of a pair, in training and evaluation; the model itself keeps its limit."""
    learning_rate: float = 2e-5
    """Of a cross-encoder's weights."""
    head_rate: float = 2e-5
    """Of the cross-attention layer of a new head."""
    few_rate: float = 2e-4
    """Of its weights of cosines and of query tokens."""
    held_out: float = 0.2
    """Share of the queries that are neither trained on nor chosen by."""
    validation: float = 0.2
    """Share of the others by which the best epoch is chosen."""
    seed: int = 0


def fit(
    model: CrossEncoder,
    queries: Sequence[JudgedQuery],
    plan: TrainingPlan,
    *,
    on_step: OnStep,
    on_epoch: OnEpoch = lambda: None,
) -> int:
    """Train `model` in place and return how many pairs it saw; the seed decides everything."""
    rng = random.Random(plan.seed)  # noqa: S311  # not for secrets
    limit, model.max_seq_length = model.max_seq_length, plan.max_tokens
    try:
        with seeded(plan.seed):
            batches = [list(_batches(queries, plan, rng)) for _ in range(plan.epochs)]
            return _fit(model, batches, plan, on_step, on_epoch)
    finally:
        model.max_seq_length = limit
        model.eval()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let `seed` decide what torch draws, and leave its generator as it was."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def _batches(
    queries: Sequence[JudgedQuery], plan: TrainingPlan, rng: random.Random
) -> Iterator[list[Pair]]:
    """Yield the pairs of every step of an epoch."""
    order = list(queries)
    rng.shuffle(order)
    for start in range(0, len(order), plan.queries_per_step):
        chosen = order[start : start + plan.queries_per_step]
        yield [pair for query in chosen for pair in _pairs(query, plan, rng)]


def _pairs(query: JudgedQuery, plan: TrainingPlan, rng: random.Random) -> list[Pair]:
    group = sample_group(query, size=plan.texts_per_query, hard=HARD, rng=rng)
    return [
        Pair(query.text, query.texts[doc_id], float(query.relevance.get(doc_id, 0) > 0))
        for doc_id in group
    ]


def _fit(
    model: CrossEncoder,
    epochs: Sequence[Sequence[list[Pair]]],
    plan: TrainingPlan,
    on_step: OnStep,
    on_epoch: OnEpoch,
) -> int:
    import torch

    batches = [batch for epoch in epochs for batch in epoch]
    parameters = _parameters(model, batches, plan)
    optimizer = torch.optim.AdamW(parameters, weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: _rate(at, len(batches)))
    trained = [weight for group in parameters for weight in group["params"]]
    trains, ends = model.training, set(accumulate(map(len, epochs)))
    for done, batch in enumerate(batches, start=1):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            _logits(model, batch), torch.tensor([pair.label for pair in batch], device=model.device)
        )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        on_step(done)
        if done in ends:
            on_epoch()
            model.train(trains)
    return sum(map(len, batches))


def _logits(model: CrossEncoder, batch: Sequence[Pair]) -> Tensor:
    features = model.preprocess([(pair.query, pair.text) for pair in batch])
    return forward_scores(model, features)


def _parameters(
    model: CrossEncoder, batches: Sequence[list[Pair]], plan: TrainingPlan
) -> list[dict[str, Any]]:
    """
    Return what is trained and how fast: a cross-encoder's every weight, or a new head's alone.

    With so few judgements, training the encoder below a new head only harms it.
    """
    from ccrag.models.token_match import TokenMatch

    head = model[-1]
    if not isinstance(head, TokenMatch):
        model.train()
        return [{"params": list(model.parameters()), "lr": plan.learning_rate}]
    model.eval()
    model.requires_grad_(False)
    head.requires_grad_(True)
    head.centre(_logits(model, [pair for batch in batches[:CENTRING_STEPS] for pair in batch]))
    matrices = [weight for weight in head.parameters() if weight.dim() > 1]
    few = [weight for weight in head.parameters() if weight.dim() <= 1]
    return [
        {"params": matrices, "lr": plan.head_rate},
        {"params": few, "lr": plan.few_rate, "weight_decay": 0.0},
    ]


def _rate(at: int, total: int) -> float:
    """Return the share of the learning rate at a step: up for a tenth of them, then down to 0."""
    warm_up = max(1, round(WARM_UP * total))
    return min(1.0, (at + 1) / warm_up) * (1 - at / total)
