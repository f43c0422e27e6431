"""
Score how well a text's tokens match a query's, by their vectors. Pure: vectors come in.

After ColBERT's late interaction (Khattab & Zaharia, SIGIR 2020), with two differences: any
encoder's token vectors will do, untrained for it, and a query token counts by its idf, so that
"which" and "the", which match everywhere, say little.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ccrag.models.base import TokenVectors


def token_weights(query: TokenVectors, texts: Sequence[TokenVectors]) -> NDArray[np.float64]:
    """
    Return each query token's share of the whole, by its idf over `texts`: `(n_query_tokens,)`, sum
    1.

    idf = ln(1 + (N - df + .5) / (df + .5)), as in BM25. A query without tokens has no weights.
    """
    df = Counter(token for text in texts for token in set(text.ids.tolist()))
    idf = np.array(
        [np.log1p((len(texts) - df[t] + 0.5) / (df[t] + 0.5)) for t in query.ids.tolist()]
    )
    return idf / idf.sum() if len(idf) else idf


def match_scores(
    query: TokenVectors, texts: Sequence[TokenVectors], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """
    Return for each text, the weighted mean of its closest token's cosine with each query token.

    Returns:
        `(n_texts,)`, in [-1, 1]; a text or query without tokens scores -1.
    """
    return np.array([_match(query, text, weights) for text in texts], dtype=np.float64)


def _match(query: TokenVectors, text: TokenVectors, weights: NDArray[np.float64]) -> float:
    if not len(query.ids) or not len(text.ids):
        return -1.0
    closest = (query.vectors @ text.vectors.T).max(axis=1)
    return float(weights @ closest)
