"""Batches of texts by their tokens, and rows of unit length. Pure."""

from collections.abc import Iterator, Sequence

import numpy as np

from ccrag.models.base import Matrix


def token_batches(lengths: Sequence[int], *, budget: int) -> Iterator[list[int]]:
    """
    Yield positions of `lengths`, longest first, in batches of at most `budget` padded tokens.

    A batch is padded to its first, longest text. A text longer than the budget is a batch of its
    own; texts of one length keep their order.

    Raises:
        ValueError: a length < 1.
    """
    if any(length < 1 for length in lengths):
        raise ValueError("every text has at least one token")
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda at: (-lengths[at], at)):
        if batch and lengths[batch[0]] * (len(batch) + 1) > budget:
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


def unit_rows(rows: Matrix) -> Matrix:
    """
    Return `rows` scaled to unit length, as a new float32 matrix.

    A row of zeros (a text without a known word, for a static model) becomes the first basis
    vector, so that every text has a defined vector.
    """
    scaled = np.array(rows, dtype=np.float32)
    # In place: the matrix of a large collection is not copied once more.
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    empty = norms[:, 0] == 0
    scaled[empty, 0] = norms[empty, 0] = 1.0
    scaled /= norms
    return scaled


def mean_unit_rows(rows: Matrix, groups: Sequence[int], *, count: int) -> Matrix:
    """
    Return the mean of the rows of each group, scaled to unit length: `(count, dim)`.

    Args:
        groups: the group of each row, `0 <= group < count`; a group without a row counts as zeros.
    """
    sums = np.zeros((count, rows.shape[1]), dtype=np.float32)
    np.add.at(sums, np.asarray(groups, dtype=np.intp), rows)
    return unit_rows(sums)
