"""
The grid over evidence in one paper: passage size x overlap x way of ranking x depth x neighbours.

    python -m benchmarks.evidence paper.md questions.jsonl [--language FIELD] [--reranker FOLDER]

A question file is JSONL: `question` (or the field named by --language) and `evidence`, a list of
objects with `quote`. Ranking is in memory, BM25 by the pipeline's words, vectors and tokens by its
encoder, the last way by a cross-encoder if one is given, over the shortlist of the way before; no
engine is needed.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from ccrag.chunking.block_windows import block_passages
from ccrag.config import EncoderSettings
from ccrag.corpus.load import LoadReport, find_files, read_documents
from ccrag.evaluation.quote_stages import QuoteContext, QuoteEnd, context_chars, quote_result
from ccrag.evaluation.rundata import PassageSpan
from ccrag.models.cached import CachedEncoder
from ccrag.models.encoder import load_encoder
from ccrag.models.reranker import Reranker, load_reranker
from ccrag.models.token_vectors import token_encoder_of
from ccrag.retrieval.bm25 import bm25_scores
from ccrag.retrieval.neighbours import with_neighbours
from ccrag.retrieval.token_match import match_scores, token_weights
from ccrag.text.analysis import terms
from ccrag.text.markup import passage_search_text, passage_searched, plain, query_parts
from ccrag.types import Document, Passage, WeightedText

Scores = NDArray[np.float64]
MAX_CHARS = (800, 1_200, 2_000)
OVERLAP_CHARS = (0, 200)
DEPTHS = (3, 5)
NEIGHBOURS = (0, 1)


def _z(scores: Scores) -> Scores:
    spread = scores.std()
    return (scores - scores.mean()) / spread if spread else scores * 0


def _ranks(scores: Scores) -> Scores:
    """1 / (60 + rank), the terms of RRF; what has no score has no rank."""
    order = np.argsort(-scores, kind="stable")
    shares = np.zeros(len(scores))
    shares[order] = 1 / (60 + np.arange(1, len(scores) + 1))
    return np.where(scores > 0, shares, 0)


WAYS: Mapping[str, Callable[[Mapping[str, Scores]], Scores]] = {
    "lexical overlap": lambda s: s["overlap"],
    "BM25": lambda s: s["bm25"],
    "dense": lambda s: s["dense"],
    "hybrid (RRF)": lambda s: _ranks(s["bm25"]) + _ranks(s["dense"]),
    "hybrid + section (RRF)": lambda s: (
        _ranks(s["bm25"]) + _ranks(s["dense"]) + _ranks(s["outline"])
    ),
    "signals (shipped)": lambda s: 0.7 * _z(s["bm25"]) + _z(s["tokens"]) + _z(s["sentences"]),
}


RERANK_OF = "hybrid + section (RRF)"
RERANKED = "cross-encoder over its 30 best"
SHORTLIST = 30


class Signals:
    """Every score of every passage of one cutting for a question."""

    def __init__(
        self, passages: Sequence[Passage], encoder: CachedEncoder, reranker: Reranker | None
    ) -> None:
        self._encoder = encoder
        self._reranker = reranker
        self._tokens = token_encoder_of(encoder)
        self._searched = [terms(passage_searched(passage)) for passage in passages]
        openings: dict[tuple[str, ...], str] = {}
        for passage in passages:
            openings.setdefault(passage.section, passage.text[:200])
        self._outlines = [
            terms(plain(" ".join((*p.section, openings[p.section])))) for p in passages
        ]
        self._texts = [passage_search_text(passage) for passage in passages]
        self._vectors = encoder.encode_passages(self._texts).vectors
        self._text_tokens = self._tokens.token_vectors(self._texts)
        owned = [
            (at, sentence)
            for at, passage in enumerate(passages)
            for sentence in (plain(passage.slice(span)) for span in passage.sentences)
            if len(sentence) >= 15
        ]
        self._owners = np.array([at for at, _ in owned])
        self._sentence_tokens = self._tokens.token_vectors([sentence for _, sentence in owned])

    def of(self, question: str) -> dict[str, Scores]:
        asked = terms(" ".join(part.text for part in query_parts((WeightedText(question, 1.0),))))
        [vector] = self._encoder.encode_queries([question]).vectors
        [tokens] = self._tokens.token_vectors([plain(question)])
        weights = token_weights(tokens, self._text_tokens)
        sentences = np.full(len(self._searched), -1.0)
        np.maximum.at(sentences, self._owners, match_scores(tokens, self._sentence_tokens, weights))
        scores = {
            "overlap": np.array([float(len(set(asked) & set(text))) for text in self._searched]),
            "bm25": bm25_scores(asked, self._searched, k1=1.5, b=0.75),
            "outline": bm25_scores(asked, self._outlines, k1=1.5, b=0.75),
            "dense": (self._vectors @ vector).astype(np.float64),
            "tokens": match_scores(tokens, self._text_tokens, weights),
            "sentences": sentences,
        }
        if self._reranker is not None:
            scores["model"] = self._reranked(question, WAYS[RERANK_OF](scores), self._reranker)
        return scores

    def _reranked(self, question: str, first: Scores, reranker: Reranker) -> Scores:
        """The model's scores of the shortlist; the others stay below it, in their order."""
        best = np.argsort(-first, kind="stable")[:SHORTLIST]
        scores: Scores = first - first.max()
        found = np.array(reranker.scores(question, [self._texts[at] for at in best]).values)
        scores[best] = 1 + found - found.min()
        return scores


def _place(passage: Passage) -> PassageSpan:
    return PassageSpan(passage.doc_id, passage.start, passage.end)


def measure(
    document: Document,
    passages: Sequence[Passage],
    orders: Sequence[Sequence[Passage]],
    questions: Sequence[Mapping[str, Any]],
    *,
    depth: int,
    neighbours: int,
) -> tuple[float, float, float, float]:
    """Question recall, evidence recall, MRR and mean characters."""
    whole = found = quotes = 0
    reciprocal = chars = 0.0
    for order, question in zip(orders, questions, strict=True):
        read = with_neighbours(order[:depth], passages, width=neighbours)
        context = QuoteContext([_place(p) for p in order], depth, [_place(p) for p in read])
        states = [
            state
            for item in question["evidence"]
            if (state := quote_result(item["quote"], document.doc_id, document.text, context))
        ]
        good = sum(state.end is QuoteEnd.FOUND for state in states)
        whole += good == len(states)
        found += good
        quotes += len(states)
        reciprocal += max((1 / state.rank for state in states if state.rank), default=0.0)
        chars += context_chars(context.read)
    count = len(questions)
    return whole / count, found / max(1, quotes), reciprocal / count, chars / count


def main() -> None:
    """Print the grid as a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paper", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--language", default="question")
    parser.add_argument("--encoder", default=EncoderSettings().model)
    parser.add_argument("--reranker", help="folder or name of a cross-encoder")
    given = parser.parse_args()
    [document] = read_documents(find_files([given.paper], LoadReport()))
    questions = [orjson.loads(line) for line in given.questions.read_bytes().splitlines()]
    encoder = load_encoder(EncoderSettings(model=given.encoder))
    reranker = load_reranker(given.reranker) if given.reranker else None
    states = dict(WAYS) | ({RERANKED: lambda s: s["model"]} if reranker else {})
    print("| chars | overlap | way | top + neighbours | QR | ER | MRR | characters |")  # noqa: T201
    print("|---|---|---|---|---|---|---|---|")  # noqa: T201
    for max_chars, overlap in product(MAX_CHARS, OVERLAP_CHARS):
        passages = block_passages(document, max_chars=max_chars, overlap_chars=overlap)
        signals = Signals(passages, encoder, reranker)
        scores = [signals.of(question[given.language]) for question in questions]
        for name, state in states.items():
            orders = [
                [passages[at] for at in np.argsort(-state(score), kind="stable")]
                for score in scores
            ]
            for depth, neighbours in product(DEPTHS, NEIGHBOURS):
                qr, er, mrr, chars = measure(
                    document, passages, orders, questions, depth=depth, neighbours=neighbours
                )
                print(  # noqa: T201
                    f"| {max_chars} | {overlap} | {name} | {depth} + {neighbours} "
                    f"| {qr:.3f} | {er:.3f} | {mrr:.3f} | {chars:,.0f} |"
                )


if __name__ == "__main__":
    main()
