"""
Cross-encoders: models that read a query and a text together and score how well they match.

torch and sentence-transformers are imported when a model is loaded and not before.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple, Protocol

from ccrag.errors import ModelError
from ccrag.models.cross_encoder import LoadedPairModel, open_cross_encoder, token_limit
from ccrag.models.folder import ModelFolder, find_model
from ccrag.models.locate import require_package
from ccrag.models.windows import token_windows

DEFAULT_MODEL = "cross-encoder/ms-marco-MiniLM-L-6-v2"


class RerankScores(NamedTuple):
    """The scores of one query's texts."""

    values: list[float]
    """One per text, in the order given; higher is better. A cross-encoder's are raw logits."""
    windowed: int = 0
    """Number of distinct texts that were longer than the model reads, and scored in windows."""
    query_cut: bool = False
    """True if the query itself was too long: only its beginning was read."""


class Reranker(Protocol):
    """Scores texts against a query; safe to call from several threads."""

    @property
    def model_id(self) -> str: ...
    @property
    def revision(self) -> str: ...
    @property
    def max_tokens(self) -> int:
        """Return how many tokens the model reads at once, query and text together."""
        ...

    def scores(self, query: str, texts: Sequence[str]) -> RerankScores: ...


class PairModel(Protocol):
    """The interface of a model that scores pairs."""

    @property
    def tokenizer(self) -> Any:
        """Return a fast tokenizer of transformers."""
        ...

    def logits(self, batches: Sequence[Sequence[tuple[str, str]]]) -> Iterator[list[float]]:
        """Return one score per pair, batch by batch; a pair that is too long is truncated."""
        ...


def load_reranker(
    model: str = DEFAULT_MODEL,
    *,
    max_tokens: int | None = None,
    window_overlap: int = 64,
    batch_tokens: int = 4096,
    device: str | None = None,
) -> CrossEncoderReranker:
    """
    Load a cross-encoder by folder or by name on the hub.

    Args:
        max_tokens: read no more than this at once, query and text together; None, or more than the
            model's own limit: that limit.
        window_overlap: tokens that neighbouring windows of a long text share, at most.
        batch_tokens: padded tokens per batch; bounds the memory.
        device: torch's name for it; None lets sentence-transformers choose.

    Raises:
        ModelError: it cannot be found or loaded, or is no cross-encoder with one score.
    """
    require_package("sentence_transformers", purpose="reranking with a cross-encoder")
    folder = find_model(model)
    loaded = open_cross_encoder(folder, device=device)
    limit = token_limit(loaded)
    return CrossEncoderReranker(
        LoadedPairModel(loaded),
        folder,
        max_tokens=limit if max_tokens is None else min(limit, max_tokens),
        window_overlap=window_overlap,
        batch_tokens=batch_tokens,
    )


@dataclass(frozen=True, slots=True)
class _Window:
    """A text, or consecutive words of one, short enough to be read with the query."""

    text_index: int
    text: str
    tokens: int


class CrossEncoderReranker:
    """
    A sentence-transformers cross-encoder that reads texts of any length.

    A text too long to be read with the query is split into overlapping windows of whole words, and
    its best window's score counts (MaxP). Identical texts are scored once. Batches are formed of
    the distinct texts alone, so the order in which texts are given changes no score.
    """

    def __init__(
        self,
        model: PairModel,
        folder: ModelFolder,
        *,
        max_tokens: int,
        window_overlap: int,
        batch_tokens: int,
    ) -> None:
        self.model_id = folder.model_id
        self.revision = folder.revision
        self.max_tokens = max_tokens
        self._model = model
        self._overlap = window_overlap
        self._batch_tokens = batch_tokens
        self._lock = threading.Lock()  # a fast tokenizer cannot be used by two threads at once

    def scores(self, query: str, texts: Sequence[str]) -> RerankScores:
        """
        Score every text; no texts, no call of the model.

        Raises:
            ModelError: the model gave a score that is not a number.
        """
        if not texts:
            return RerankScores([])
        # Sorted: which texts share a batch may change the last bits of a score.
        distinct = sorted(set(texts))
        with self._lock:
            asked, query_tokens = self._cut_query(query)
            windows = self._windows(distinct, query_tokens=query_tokens)
            best = self._best(asked, windows, query_tokens=query_tokens)
        by_text = {text: best[index] for index, text in enumerate(distinct)}
        return RerankScores(
            [by_text[text] for text in texts],
            windowed=len({w.text_index for w in windows if w.text != distinct[w.text_index]}),
            query_cut=asked != query,
        )

    def _cut_query(self, query: str) -> tuple[str, int]:
        """
        Return the query, or of a very long one the beginning that leaves half of the room for
        texts.
        """
        [(word_of, offsets)] = self._tokenised([query])
        most = self.max_tokens // 2
        if len(word_of) <= most:
            return query, len(word_of)
        _, end = token_windows(word_of, max_tokens=most, overlap=0)[0]
        return query[: offsets[end - 1][1]], end

    def _windows(self, texts: Sequence[str], *, query_tokens: int) -> list[_Window]:
        special = self._model.tokenizer.num_special_tokens_to_add(pair=True)
        room = self.max_tokens - query_tokens - special
        windows: list[_Window] = []
        for index, (word_of, offsets) in enumerate(self._tokenised(texts)):
            if len(word_of) <= room:
                windows.append(_Window(index, texts[index], len(word_of)))
                continue
            for start, end in token_windows(word_of, max_tokens=room, overlap=self._overlap):
                part = texts[index][offsets[start][0] : offsets[end - 1][1]]
                windows.append(_Window(index, part, end - start))
        return windows

    def _tokenised(
        self, texts: Sequence[str]
    ) -> Iterator[tuple[list[int | None], list[tuple[int, int]]]]:
        """Yield for each text the word and the character offsets of every token."""
        encoded = self._model.tokenizer(
            list(texts), add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        for index in range(len(texts)):
            yield encoded.word_ids(index), encoded["offset_mapping"][index]

    def _best(self, query: str, windows: Sequence[_Window], *, query_tokens: int) -> list[float]:
        """Return the best window's score of each text, by its index."""
        best: dict[int, float] = {}
        batches = list(self._batches(windows, query_tokens=query_tokens))
        pairs = [[(query, window.text) for window in batch] for batch in batches]
        for batch, logits in zip(batches, self._model.logits(pairs), strict=True):
            for window, score in zip(batch, logits, strict=True):
                if not isfinite(score):
                    raise ModelError(f"{self.model_id!r} gave a score that is not a number")
                best[window.text_index] = max(score, best.get(window.text_index, score))
        return [best[index] for index in sorted(best)]

    def _batches(
        self, windows: Sequence[_Window], *, query_tokens: int
    ) -> Iterator[Sequence[_Window]]:
        """
        Yield windows of like length together, longest first, as many as the token budget allows.
        """
        ordered = sorted(windows, key=lambda window: -window.tokens)  # texts are in order already
        start = 0
        while start < len(ordered):
            size = max(1, self._batch_tokens // (ordered[start].tokens + query_tokens + 1))
            yield ordered[start : start + size]
            start += size
