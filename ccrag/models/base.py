"""
The interface of encoders, and the values they return: vectors of texts and of their tokens.

Importing this imports no model library.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
OnProgress = Callable[[int], None]
"""Called with the number of texts done so far."""


def no_op(_: int) -> None:
    """Do nothing: the callback of callers that show no progress."""


class Encoded(NamedTuple):
    """Vectors of texts, and how many of them were truncated or cached."""

    vectors: Matrix
    """`(n_texts, dim)` float32, unit rows, in the order of the texts."""
    truncated: int = 0
    """Texts of which the model read only the beginning."""
    cached: int = 0
    """Texts whose vectors were in the cache."""


class Encoder(Protocol):
    """Encodes queries and passages into one space; safe to call from several threads."""

    @property
    def model_id(self) -> str: ...
    @property
    def revision(self) -> str:
        """Return the hub's commit, or a digest of the files' contents."""
        ...

    @property
    def dimension(self) -> int: ...
    @property
    def options(self) -> Mapping[str, str]:
        """Return all else that a passage's vector depends on, by name."""
        ...

    def encode_passages(self, texts: Sequence[str]) -> Encoded: ...

    def encode_queries(self, texts: Sequence[str]) -> Encoded: ...


class TokenVectors(NamedTuple):
    """The tokens of one text, special ones left out."""

    ids: NDArray[np.int64]
    """`(n_tokens,)`: which token of the vocabulary each is."""
    vectors: NDArray[np.float32]
    """`(n_tokens, dim)`, unit rows."""
    offsets: NDArray[np.int64]
    """`(n_tokens, 2)`: start and end of each token in the text, in characters."""

    def within(self, start: int, end: int) -> "TokenVectors":
        """Return the tokens that lie in `start:end` of the text."""
        inside = (self.offsets[:, 0] >= start) & (self.offsets[:, 1] <= end)
        return TokenVectors(self.ids[inside], self.vectors[inside], self.offsets[inside])


def encoder_identity(encoder: Encoder) -> dict[str, str]:
    """
    Return what two encoders must have in common to give a passage the same vector, as strings.

    The prefix of queries is not part of it: it may be tried out on an index as it stands.
    """
    return {
        "model": encoder.model_id,
        "revision": encoder.revision,
        "dimension": str(encoder.dimension),
        "normalised": "yes",
        **encoder.options,
    }
