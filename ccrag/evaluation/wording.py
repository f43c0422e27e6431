"""
Measures of the answer's words: ROUGE, overlap with the question, length, coverage.

An answer is scored as submitted, so an abstention's sentence is text like any other.
"""

import re
import unicodedata
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from ccrag.evaluation.registry import Case, Figure, LeftOut, Measure, Need, per_query
from ccrag.retrieval.analysis import unique_terms

INSTALL = "pip install 'ccrag[eval]'"
QUESTION_OVERLAP = "question-rougeL"
ROUGE = ("rougeL", "rouge1", "rouge2")
_READABLE = re.compile("[a-z0-9]", re.IGNORECASE | re.ASCII)


def rouge_measures(*, stemmer: bool = True) -> tuple[Measure, ...]:
    """ROUGE-L, -1 and -2 against the gold answer, and ROUGE-L against the question."""
    against_gold = tuple(_rouge(kind, stemmer=stemmer) for kind in ROUGE)
    return (*against_gold, _question_overlap(stemmer=stemmer))


def word_measures() -> tuple[Measure, ...]:
    """Length, and how much of the question's wording the answer takes up."""
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
    def figure(case: Case) -> Figure:
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


def _f1(kind: str, target: str, text: str, *, stemmer: bool) -> Figure:
    """ROUGE F1; not defined where the target holds nothing that ROUGE can read."""
    if not _READABLE.search(target):
        return LeftOut("ROUGE reads Latin letters and digits only, and the target has none")
    return float(_scorer(kind, stemmer).score(target, text)[kind].fmeasure)


@lru_cache(maxsize=8)
def _scorer(kind: str, stemmer: bool) -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer([kind], use_stemmer=stemmer)


def _coverage(case: Case) -> Figure:
    wanted = unique_terms(case.query)
    if not wanted:
        return LeftOut("the question has no content terms")
    return len(set(wanted) & set(unique_terms(case.answer.text))) / len(wanted)
