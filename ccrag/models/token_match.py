"""
A cross-encoder made of any encoder, that ranks before it has been trained.

A fresh classification head says nothing until it has seen tens of thousands of pairs. This one
starts from what the encoder knows. Query and text pass the encoder as if each stood alone; a
cross-attention layer, at first without effect, then lets every token of one read the other; and the
logit is a weighted sum of two cosines: of the mean vectors, and, for each query token, with the
text's closest token (after ColBERT's MaxSim). Some hundred judgements are enough for the layer, the
weights and the importance of query tokens; the encoder stays, so training reads each text once.

Imports torch: only to be imported where a model is loaded.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, cast

import torch
from sentence_transformers import CrossEncoder
from sentence_transformers.base.modules import Module, Transformer
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

HEAD_FOLDER = "1_TokenMatch"
SCALE = 10.0
HEADS = 6
MAX_REMEMBERED = 500_000
"""Tokens; 768 MB of vectors of 384 dimensions."""
_HIDDEN = -1e4
"""Instead of minus infinity, which makes a row of nothing but padding NaN."""

Features = dict[str, Any]


class Tokens(NamedTuple):
    """Token vectors of some texts, `(n, tokens, dim)`, and which are no padding, `(n, tokens)`."""

    vectors: Tensor
    mask: Tensor


class _Memory:
    """Token vectors of texts that were read before; safe for threads."""

    def __init__(self) -> None:
        self._known: dict[bytes, Tensor] = {}
        self._tokens = 0
        self._lock = Lock()

    def of(self, keys: Iterable[bytes]) -> dict[bytes, Tensor]:
        """Return what is known of these texts."""
        with self._lock:
            return {key: self._known[key] for key in keys if key in self._known}

    def keep(self, read: Mapping[bytes, Tensor]) -> None:
        """Keep texts as far as there is room."""
        with self._lock:
            for key, vectors in read.items():
                if key not in self._known and self._tokens < MAX_REMEMBERED:
                    self._known[key] = vectors
                    self._tokens += len(vectors)


class ApartTransformer(Transformer):  # type: ignore[misc]
    """An encoder, itself never trained, that reads a pair's texts as if each stood alone."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._memory: _Memory | None = None

    @contextmanager
    def remembering(self) -> Iterator[None]:
        """Read each text once while this lasts: right only as long as the encoder stays."""
        self._memory = _Memory()
        try:
            yield
        finally:
            self._memory = None

    def forward(self, features: Features, **kwargs: Any) -> Features:
        """Add `query` and `text`, each a `Tokens`."""
        valid = features["attention_mask"].bool()
        after = _after_first(features["input_ids"] == self.tokenizer.sep_token_id)
        rows = list(zip(features["input_ids"], ~after & valid, after & valid, strict=True))
        queries = self._read([ids[keep] for ids, keep, _ in rows], **kwargs)
        texts = self._read([self._begun(ids[keep]) for ids, _, keep in rows], **kwargs)
        return features | {"query": _padded(queries), "text": _padded(texts)}

    def _begun(self, ids: Tensor) -> Tensor:
        """Return the pair's second text with the sign that opens a first one."""
        twice = len(ids) > 1 and int(ids[0]) == self.tokenizer.sep_token_id  # RoBERTa's pairs
        return torch.cat([ids.new_tensor([self.tokenizer.cls_token_id]), ids[int(twice) :]])

    def _read(self, rows: Sequence[Tensor], **kwargs: Any) -> list[Tensor]:
        """Return token vectors `(tokens, dim)` of each text, given as ids."""
        keys = [row.cpu().numpy().tobytes() for row in rows]
        known = {} if self._memory is None else self._memory.of(keys)
        new = {key: row for key, row in zip(keys, rows, strict=True) if key not in known}
        read = dict(zip(new, self._encode(list(new.values()), **kwargs), strict=True))
        if self._memory is not None:
            self._memory.keep(read)
        known |= read
        return [known[key] for key in keys]

    def _encode(self, rows: Sequence[Tensor], **kwargs: Any) -> list[Tensor]:
        if not rows:
            return []
        ids = pad_sequence(list(rows), batch_first=True, padding_value=self.tokenizer.pad_token_id)
        mask = _held(rows)
        # No inference tensors: what is remembered in an evaluation is an input of training.
        with torch.inference_mode(False), torch.no_grad():
            read = super().forward({"input_ids": ids, "attention_mask": mask.long()}, **kwargs)
            vectors = read["token_embeddings"]
            return [vectors[at, : len(row)].clone() for at, row in enumerate(rows)]


def _padded(texts: Sequence[Tensor]) -> Tokens:
    return Tokens(pad_sequence(list(texts), batch_first=True), _held(texts))


def _held(rows: Sequence[Tensor]) -> Tensor:
    """Return which places rows of different lengths hold when they are padded: `(n, longest)`."""
    lengths = torch.tensor([len(row) for row in rows], device=rows[0].device)
    return torch.arange(int(lengths.max()), device=lengths.device) < lengths[:, None]


class TokenMatch(Module):  # type: ignore[misc]
    """The head: one cross-attention layer and the match of tokens."""

    config_keys = ["dimension", "heads"]  # noqa: RUF012  # the base class's own form

    def __init__(self, dimension: int, heads: int = HEADS) -> None:
        super().__init__()
        self.dimension = dimension
        self.heads = heads
        self.norm = nn.LayerNorm(dimension)
        self.inputs = nn.Linear(dimension, 3 * dimension)
        self.output = nn.Linear(dimension, dimension)
        nn.init.zeros_(self.output.weight)
        nn.init.zeros_(self.output.bias)
        self.importance = nn.Parameter(torch.zeros(dimension))
        self.mean_weight = nn.Parameter(torch.tensor(SCALE))
        self.match_weight = nn.Parameter(torch.tensor(SCALE / 2))
        self.bias = nn.Parameter(torch.tensor(0.0))

    def forward(self, features: Features, **_: Any) -> Features:
        """Add `scores`, `(n_pairs, 1)`."""
        query, text = self._crossed(features["query"], features["text"])
        shares = (query.vectors @ self.importance).masked_fill(~query.mask, _HIDDEN).softmax(1)
        query_mean = (query.vectors * shares[..., None]).sum(1)
        held = text.mask[..., None]
        text_mean = (text.vectors * held).sum(1) / held.sum(1)
        means = functional.cosine_similarity(query_mean, text_mean)
        query_unit, text_unit = (functional.normalize(t.vectors, dim=-1) for t in (query, text))
        similar = (query_unit @ text_unit.transpose(1, 2)).masked_fill(~text.mask[:, None, :], -1)
        matches = (similar.max(2).values * shares).sum(1)
        logits = self.mean_weight * means + self.match_weight * matches + self.bias
        return features | {"scores": logits[:, None]}

    def centre(self, logits: Tensor) -> None:
        """Shift the scores so that these have a mean of 0, where the loss can move them."""
        with torch.no_grad():
            self.bias -= logits.mean()

    def _crossed(self, query: Tokens, text: Tokens) -> tuple[Tokens, Tokens]:
        """Return both, every token with what it reads in the other text added."""
        query_parts, text_parts = self._parts(query), self._parts(text)
        return (
            self._reading(query, query_parts[0], text_parts, text.mask),
            self._reading(text, text_parts[0], query_parts, query.mask),
        )

    def _parts(self, tokens: Tokens) -> Tensor:
        """Return what tokens ask, are found by and say: `(3, n, heads, tokens, dim / heads)`."""
        parts = self.inputs(self.norm(tokens.vectors)).unflatten(-1, (3, self.heads, -1))
        return cast(Tensor, parts.permute(2, 0, 3, 1, 4))

    def _reading(self, tokens: Tokens, asks: Tensor, other: Tensor, mask: Tensor) -> Tokens:
        read = functional.scaled_dot_product_attention(
            asks, other[1], other[2], attn_mask=mask[:, None, None, :]
        )
        return Tokens(tokens.vectors + self.output(read.transpose(1, 2).flatten(2)), tokens.mask)

    def save(self, output_path: str, *_: Any, safe_serialization: bool = True, **__: Any) -> None:
        """Write sizes and weights; the form of sentence-transformers' modules."""
        self.save_config(output_path)
        self.save_torch_weights(output_path, safe_serialization=safe_serialization)


def _after_first(separators: Tensor) -> Tensor:
    """Tell whether a separator lies before each token: what follows the query and its separator."""
    return (separators.long().cumsum(1) - separators.long()) > 0


def new_match_model(encoder: Path, *, device: str | None) -> CrossEncoder:
    """Return an encoder's folder with an untrained head on it."""
    tower = ApartTransformer(str(encoder))
    dimension = int(tower.model.config.hidden_size)
    heads = HEADS if dimension % HEADS == 0 else 1
    return CrossEncoder(modules=[tower, TokenMatch(dimension, heads)], device=device)


def is_match_model(folder: Path) -> bool:
    """Tell whether `folder` holds a model that was made here."""
    return (folder / HEAD_FOLDER / "config.json").exists()


def load_match_model(folder: Path, *, device: str | None) -> CrossEncoder:
    """
    Load what `save_pretrained` wrote.

    The classes are named here and not read from the folder, whose `modules.json` could name any.
    """
    config = json.loads((folder / HEAD_FOLDER / "config.json").read_text(encoding="utf-8"))
    head = TokenMatch(int(config["dimension"]), int(config["heads"]))
    TokenMatch.load_torch_weights(str(folder), HEAD_FOLDER, local_files_only=True, model=head)
    tower = ApartTransformer(str(folder))
    return CrossEncoder(modules=[tower, head], device=device)
