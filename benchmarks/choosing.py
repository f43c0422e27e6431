"""What a choice among many is worth: made on some folds, looked at on the others."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FOLDS, REPEATS = 10, 20


def cross_validate(
    names: Sequence[str], values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], Counter[str]]:
    """
    Mean figures on folds left out, `(n_measures,)`, and how often each choice was made.

    The choice is the one whose mean over queries and measures is highest.

    Args:
        values: `(n_choices, n_queries, n_measures)`.
    """
    worth = values.mean(axis=2)
    chance = np.random.default_rng(0)
    estimates, picked = [], Counter[str]()
    for _ in range(REPEATS):
        folds = chance.permutation(values.shape[1]) % FOLDS
        held_out = np.zeros(values.shape[1:])
        for fold in range(FOLDS):
            best = int(worth[:, folds != fold].mean(axis=1).argmax())
            picked[names[best]] += 1
            held_out[folds == fold] = values[best][folds == fold]
        estimates.append(held_out.mean(axis=0))
    means: NDArray[np.float64] = np.mean(estimates, axis=0)
    return means, picked
