"""Stand-ins at the seams: what they do is simple enough to compute by hand."""

import hashlib
import json
import re
from collections.abc import Sequence

import numpy as np

from ccrag.errors import ModelError
from ccrag.llm.reply import ChatReply, Usage
from ccrag.llm.request import ChatRequest
from ccrag.models.base import Encoded, Matrix, OnProgress, TokenVectors
from ccrag.models.batches import unit_rows
from ccrag.models.cached import ModelOutput
from ccrag.models.reranker import RerankScores


class HashEncoder:
    """A unit vector per text, from its hash; texts listed together in `same` share one."""

    def __init__(
        self,
        *,
        dimension: int = 16,
        same: Sequence[Sequence[str]] = (),
        revision: str = "1",
    ) -> None:
        self.model_id = "hash"
        self.revision = revision
        self.dimension = dimension
        self.options: dict[str, str] = {}
        self._alias = {text: group[0] for group in same for text in group}
        self.calls: list[int] = []

    def encode_passages(self, texts: Sequence[str]) -> Encoded:
        self.calls.append(len(texts))
        rows = [self._vector(self._alias.get(text, text)) for text in texts]
        return Encoded(np.array(rows, dtype=np.float32).reshape(len(texts), self.dimension))

    def encode_queries(self, texts: Sequence[str]) -> Encoded:
        return self.encode_passages(texts)

    def _vector(self, text: str) -> np.ndarray:
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
        row = np.random.default_rng(seed).standard_normal(self.dimension)
        return row / np.linalg.norm(row)


class LengthModel:
    """`(length, 1)` of prefix and text, scaled by `drift`; reads four characters."""

    model_id = "length"
    revision = "1"
    dimension = 2

    def __init__(self, *, drift: float = 0.0, fails_after: int | None = None) -> None:
        self.options = {"precision": "fp32"}
        self.read: list[str] = []
        self._drift = drift
        self._fails_after = fails_after

    def encode(self, texts: Sequence[str], *, prefix: str, on_progress: OnProgress) -> ModelOutput:
        if self._fails_after is not None and len(self.read) >= self._fails_after:
            raise KeyboardInterrupt
        self.read.extend(prefix + text for text in texts)
        on_progress(len(texts))
        return ModelOutput(self.rows(texts, prefix), [len(text) > 4 for text in texts])

    def rows(self, texts: Sequence[str], prefix: str = "") -> Matrix:
        rows = [[len(prefix + text) + self._drift, 1] for text in texts]
        return unit_rows(np.array(rows, dtype=np.float32).reshape(-1, 2))

    def details(self) -> dict[str, str]:
        return {}


class HashTokens:
    """Words as tokens, each with the vector of its hash."""

    def __init__(self) -> None:
        self._encoder = HashEncoder()

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        return [self._tokens(text) for text in texts]

    passage_tokens = token_vectors

    def _tokens(self, text: str) -> TokenVectors:
        found = list(re.finditer(r"\S+", text))
        words = [word[0].lower() for word in found]
        offsets = np.array([word.span() for word in found], dtype=np.int64).reshape(-1, 2)
        digests = [hashlib.blake2b(word.encode(), digest_size=4).digest() for word in words]
        ids = np.array([int.from_bytes(digest, "big") for digest in digests], dtype=np.int64)
        return TokenVectors(ids, self._encoder.encode_passages(words).vectors, offsets)


class OverlapReranker:
    """Scores a text by the words it shares with the query."""

    model_id = "overlap"
    revision = "1"
    max_tokens = 512

    def scores(self, query: str, texts: Sequence[str]) -> RerankScores:
        asked = set(query.lower().split())
        return RerankScores([float(len(asked & set(text.lower().split()))) for text in texts])


class QuotingLlm:
    """Answers by its first evidence, keeps orders as shown, and repeats questions as rewrites."""

    def complete(self, request: ChatRequest) -> ChatReply:
        lines = request.messages[-1].content.split("\n")
        items = [json.loads(line) for line in lines if line.startswith('{"id"')]
        sentences = [{"text": i["text"], "evidence": [i["id"]]} for i in items[:1] if "text" in i]
        said = {
            "order": [item["id"] for item in items],
            "questions": [json.loads(lines[-1].removeprefix("Question: "))],
            "sentences": sentences,
        }
        return ChatReply(json.dumps(said), "quoting", Usage(10, 5), "stop")


class ScriptedLlm:
    """Gives the replies it was given, in order, and keeps the requests; an error is raised."""

    def __init__(self, *replies: str | ChatReply | ModelError) -> None:
        self._replies = list(replies)
        self.requests: list[ChatRequest] = []

    def complete(self, request: ChatRequest) -> ChatReply:
        self.requests.append(request)
        reply = self._replies.pop(0)
        if isinstance(reply, ModelError):
            raise reply
        if isinstance(reply, str):
            return ChatReply(reply, "scripted", Usage(10, 5), "stop")
        return reply
