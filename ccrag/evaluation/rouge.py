"""
Measures of the answer's words: ROUGE, overlap with the question, length, coverage.

An answer is scored as submitted, so an abstention's sentence is text like any other.

ROUGE's own tokens are runs of `a-z0-9`, which cuts `Müller` in pieces and drops Chinese. So they
are taken where the gold answer (or question) holds no other letter or digit: there the figures are
those of the package `rouge-score`. Elsewhere the tokens are the words of `retrieval.analysis` in
any script; each character of Chinese, Japanese, Korean, Thai, Lao, Myanmar and Khmer is one by
itself. Only English is stemmed.
"""

import re
import unicodedata
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from ccrag.evaluation.registry import Case, FigureOrGap, LeftOut, Measure, Need, per_query
from ccrag.text.analysis import is_cjk, runs, unique_terms

INSTALL = "pip install 'ccrag[eval]'"
QUESTION_OVERLAP = "question-rougeL"
ROUGE = ("rougeL", "rouge1", "rouge2")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
"""Thai, Lao, Myanmar and Khmer, which part no words; Chinese, Japanese and Korean: `is_cjk`."""


def rouge_measures(*, stemmer: bool = True) -> tuple[Measure, ...]:
    """Return ROUGE-L, -1 and -2 against the gold answer, and ROUGE-L against the question."""
    against_gold = tuple(_rouge(kind, stemmer=stemmer) for kind in ROUGE)
    return (*against_gold, _question_overlap(stemmer=stemmer))


def word_measures() -> tuple[Measure, ...]:
    """Return length, and how much of the question's wording the answer takes up."""
    return (
        Measure(
            name="words",
            summary="length of the answer in words, as the shared tasks count them",
            needs=(Need.ANSWERS,),
            higher_is_better=None,
            figures=per_query(
                lambda case: float(len(unicodedata.normalize("NFKC", case.answer.text).split()))
            ),
        ),
        Measure(
            name="query-coverage",
            summary="share of the question's content terms that the answer holds (as in TFC1)",
            needs=(Need.ANSWERS,),
            higher_is_better=True,
            figures=per_query(_coverage),
        ),
    )


def _rouge(kind: str, *, stemmer: bool) -> Measure:
    def figure(case: Case) -> FigureOrGap:
        gold = (case.gold.answers or {}).get(case.query_id)
        if gold is None:
            return LeftOut("no gold answer")
        return _f1(kind, gold, case.answer.text, stemmer=stemmer)

    return Measure(
        name=kind,
        summary=f"{kind} F1 with the gold answer, {_stemming(stemmer)}",
        needs=(Need.ANSWERS, Need.GOLD_ANSWERS),
        higher_is_better=True,
        figures=per_query(figure),
        unavailable=_rouge_missing(),
    )


def _question_overlap(*, stemmer: bool) -> Measure:
    return Measure(
        name=QUESTION_OVERLAP,
        summary=f"rougeL F1 with the question, {_stemming(stemmer)}: echoing it lifts every ROUGE",
        needs=(Need.ANSWERS,),
        higher_is_better=None,
        figures=per_query(
            lambda case: _f1("rougeL", case.query, case.answer.text, stemmer=stemmer)
        ),
        unavailable=_rouge_missing(),
    )


def _stemming(stemmer: bool) -> str:
    return "stemmed" if stemmer else "not stemmed"


def _rouge_missing() -> str | None:
    return None if find_spec("rouge_score") else f"needs rouge-score: {INSTALL}"


def _f1(kind: str, target: str, text: str, *, stemmer: bool) -> FigureOrGap:
    """Return ROUGE F1; not defined where the target holds no letter or digit."""
    if not any(character.isalnum() for character in target):
        return LeftOut("the target holds no letter or digit, so ROUGE has nothing to compare")
    plain = all(character.isascii() for character in target if character.isalnum())
    scorer = _scorer(kind, stemmer, plain)
    return float(scorer.score(target, text)[kind].fmeasure)


@lru_cache(maxsize=16)
def _scorer(kind: str, stemmer: bool, plain: bool) -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    tokenizer = None if plain else UnicodeTokens(stemmer=stemmer)
    return RougeScorer([kind], use_stemmer=stemmer, tokenizer=tokenizer)


class UnicodeTokens:
    """ROUGE's tokens for texts that hold other letters than English."""

    def __init__(self, *, stemmer: bool) -> None:
        """Stem English words with the package's own stemmer, or none."""
        from rouge_score.tokenizers import DefaultTokenizer

        self._english = DefaultTokenizer(stemmer)

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of `text`, in order."""
        tokens: list[str] = []
        for run in runs(text):
            if run.isascii():
                tokens += self._english.tokenize(run)
            elif is_cjk(run) or _UNSPACED.search(run):
                tokens += run
            else:
                tokens.append(run)
        return tokens


def _coverage(case: Case) -> FigureOrGap:
    wanted = unique_terms(case.query)
    if not wanted:
        return LeftOut("the question has no content terms")
    return len(set(wanted) & set(unique_terms(case.answer.text))) / len(wanted)
