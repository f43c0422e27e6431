"""
The settings of `linked`, chosen by cross-validation, and what that finds on the folds left out.

Only the four settings of the grid are held out. The form of `linked` itself was found on the same
questions, so these figures are above what other questions would give.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np

from benchmarks.choosing import FOLDS, REPEATS, cross_validate
from benchmarks.unit_quotes import QuotesFound
from ccrag.config import PipelineSettings
from ccrag.config.load import load_settings
from ccrag.engine.index import Index
from ccrag.models.base import Encoded, Encoder
from ccrag.models.encoder import load_encoder
from ccrag.pipeline.expansion import encode_variants, set_variants
from ccrag.pipeline.factory import open_pipeline
from ccrag.pipeline.state import QueryState
from ccrag.pipeline.unit_selection import UnitSelector
from ccrag.text.tokens import estimate_tokens
from ccrag.types import Query, Result

BUDGETS = (2_000, 4_000)
GRID: Mapping[str, tuple[float, ...]] = {
    "window": (1, 2),
    "spread": (0.0, 0.05, 0.1, 0.2),
    "bonus": (0.0, 0.25, 0.5),
    "mention": (0.0, 0.5),
}


class Remembering:
    """An encoder that keeps vectors in memory: the same texts are asked for again and again."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._known: dict[str, np.ndarray] = {}
        self.model_id, self.revision = encoder.model_id, encoder.revision
        self.dimension, self.options = encoder.dimension, encoder.options

    def encode_passages(self, texts: Sequence[str]) -> Encoded:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._encoder.encode_passages(new).vectors, strict=True))
        return Encoded(np.array([self._known[text] for text in texts], dtype=np.float32))

    def encode_queries(self, texts: Sequence[str]) -> Encoded:
        return self._encoder.encode_queries(texts)


def choose(queries: Sequence[Query], found: QuotesFound, name: str) -> Iterator[str]:
    """What cross-validation over `queries` says, line by line."""
    settings = load_settings("linked")
    pipeline = open_pipeline(settings, name)
    results = [r for r in pipeline.run(queries, answering=False) if isinstance(r, Result)]
    encoder = Remembering(load_encoder(settings.encoder))
    names, values = [], []
    for picked in product(*GRID.values()):
        chosen = dict(zip(GRID, picked, strict=True))
        linked = settings.linked.model_copy(update=chosen)
        names.append(", ".join(f"{key} {value:g}" for key, value in chosen.items()))
        under = settings.model_copy(update={"linked": linked})
        by_budget = [_read(results, under, b, pipeline.index, encoder, found) for b in BUDGETS]
        values.append(list(zip(*by_budget, strict=True)))
    yield from cross_validated(names, np.array(values))


def _read(
    results: Sequence[Result],
    settings: PipelineSettings,
    budget: int,
    index: Index,
    encoder: Encoder,
    found: QuotesFound,
) -> list[float]:
    """What linked reading finds under `settings`, from rankings that are there already."""
    limit = settings.budget.model_copy(update={"max_tokens": budget})
    limited = settings.model_copy(update={"budget": limit})
    states = [QueryState(result.query) for result in results]
    for state, result in zip(states, results, strict=True):
        set_variants(state, limited)
        state.ranking = result.ranking
        best = result.ranking.top(limited.rerank.shortlist)
        state.passages = {hit.passage_id: result.passages[hit.passage_id] for hit in best}
    encode_variants(states, limited, encoder)
    UnitSelector(limited, index, encoder, estimate_tokens).select(states)
    return [found.all_in(state.query_id, state.read) for state in states]


def cross_validated(names: Sequence[str], values: np.ndarray) -> Iterator[str]:
    """
    Choose on some folds, look at the others.

    Args:
        values: `(n_choices, n_queries, n_budgets)`.
    """
    worth = values.mean(axis=2)
    means, picked = cross_validate(names, values)
    yield f"{len(names)} choices for linked, {FOLDS} folds, {REPEATS} repeats; on folds left out:"
    yield ", ".join(f"{m:.3f} at {b:,} tokens" for m, b in zip(means, BUDGETS, strict=True))
    yield "chosen most often: " + "; ".join(f"{n} ({c})" for n, c in picked.most_common(3))
    order = np.argsort(-worth.mean(axis=1), kind="stable")[:3]
    unlinked = [at for at, n in enumerate(names) if n.endswith("bonus 0, mention 0")]
    best = max(unlinked, key=lambda at: worth[at].mean())
    found = ", ".join(f"{value:.3f}" for value in values[best].mean(axis=0))
    yield f"best without links: {names[best]} ({found})"
    yield "best on all of them: " + "; ".join(
        f"{names[at]} ({', '.join(f'{v:.3f}' for v in values[at].mean(axis=0))})" for at in order
    )
