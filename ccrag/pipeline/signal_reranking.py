"""The signals that reorder a shortlist without a cross-encoder: words, meaning, tokens."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ccrag.config import PipelineSettings
from ccrag.errors import ModelError
from ccrag.models.base import Encoder
from ccrag.models.token_vectors import TokenEncoder
from ccrag.pipeline.state import QueryState
from ccrag.retrieval.rerank import with_tail
from ccrag.retrieval.signals import rerank_by_signals
from ccrag.retrieval.token_match import match_scores, token_weights
from ccrag.text.markup import passage_search_text, plain
from ccrag.types import Passage, PassageId, ranking_name

PassageScoreTable = dict[PassageId, float]

MIN_SENTENCE_CHARS = 15
"""A shorter sentence (an item's number, an empty table cell) says nothing by itself."""


@dataclass(frozen=True, slots=True)
class _Shortlist:
    """The passages to be ordered, with the sentences of each, as they are searched."""

    ids: Sequence[PassageId]
    texts: Sequence[str]
    sentences: Sequence[str]
    owners: Sequence[PassageId]
    """The passage of each sentence."""

    @classmethod
    def of(cls, passages: Sequence[Passage]) -> "_Shortlist":
        owned = [
            (passage.passage_id, sentence)
            for passage in passages
            for sentence in _sentences(passage)
        ]
        return cls(
            [passage.passage_id for passage in passages],
            [passage_search_text(passage) for passage in passages],
            [sentence for _, sentence in owned],
            [owner for owner, _ in owned],
        )

    def best(self, scores: Sequence[float]) -> PassageScoreTable:
        """Return each passage's best sentence score."""
        best: PassageScoreTable = {}
        for owner, score in zip(self.owners, scores, strict=True):
            best[owner] = max(score, best.get(owner, score))
        return best


def _sentences(passage: Passage) -> list[str]:
    """Return a passage's sentences in plain form; all of it if none is long enough."""
    found = [plain(passage.slice(span)) for span in passage.sentences]
    return [text for text in found if len(text) >= MIN_SENTENCE_CHARS] or [plain(passage.text)]


class SignalRerankStage:
    """Reorder each query's shortlist by the signals that `settings` weigh; the rest stays below."""

    def __init__(
        self, settings: PipelineSettings, encoder: Encoder | None, tokens: TokenEncoder | None
    ) -> None:
        self._shortlist = settings.rerank.shortlist
        self._weights = settings.rerank.signal_weights
        self._encoder = encoder
        self._tokens = tokens

    def rerank(self, states: Sequence[QueryState]) -> None:
        """Give each query its order by the weighted sum of its passages' signals."""
        for state in states:
            fused = state.current()
            shortlist = fused.top(self._shortlist)
            passages = [state.passages[hit.passage_id] for hit in shortlist]
            signals = self._signals(state, _Shortlist.of(passages)) if passages else {}
            state.now_ranked(with_tail(rerank_by_signals(shortlist, signals, self._weights), fused))

    def _signals(self, state: QueryState, shortlist: _Shortlist) -> Mapping[str, PassageScoreTable]:
        makers: dict[str, Callable[[QueryState, _Shortlist], PassageScoreTable]] = {
            "bm25": _bm25,
            "dense": self._cosines,
            "sentence": self._sentence_cosines,
        }
        signals = {n: make(state, shortlist) for n, make in makers.items() if n in self._weights}
        if "tokens" in self._weights or "sentence-tokens" in self._weights:
            signals |= self._token_signals(state, shortlist)
        return {name: signals[name] for name in self._weights}

    def _cosines(self, state: QueryState, shortlist: _Shortlist) -> PassageScoreTable:
        cosines = self._with_query(state, shortlist.texts)
        return dict(zip(shortlist.ids, cosines, strict=True))

    def _sentence_cosines(self, state: QueryState, shortlist: _Shortlist) -> PassageScoreTable:
        return shortlist.best(self._with_query(state, shortlist.sentences))

    def _with_query(self, state: QueryState, texts: Sequence[str]) -> list[float]:
        if self._encoder is None:
            raise ModelError("rerank.signal_dense and rerank.signal_sentence need an encoder")
        vectors = self._encoder.encode_passages(texts).vectors
        return [float(cosine) for cosine in vectors @ state.unit_vector()]

    def _token_signals(
        self, state: QueryState, shortlist: _Shortlist
    ) -> dict[str, PassageScoreTable]:
        if self._tokens is None:
            raise ModelError("rerank.signal_tokens needs an encoder that gives token vectors")
        [query] = self._tokens.token_vectors([plain(state.question)])
        texts = self._tokens.token_vectors(shortlist.texts)
        weights = token_weights(query, texts)
        signals = {
            "tokens": dict(
                zip(shortlist.ids, match_scores(query, texts, weights).tolist(), strict=True)
            )
        }
        if "sentence-tokens" in self._weights:
            sentences = self._tokens.token_vectors(shortlist.sentences)
            signals["sentence-tokens"] = shortlist.best(
                match_scores(query, sentences, weights).tolist()
            )
        return signals


def _bm25(state: QueryState, shortlist: _Shortlist) -> PassageScoreTable:
    """Return scores of the original's BM25 list; a passage not in it shares no word: 0."""
    [ranking] = [r for r in state.lists if r.stage == ranking_name("bm25", "original")]
    scores = {hit.passage_id: hit.score for hit in ranking}
    return {passage_id: scores.get(passage_id, 0.0) for passage_id in shortlist.ids}
