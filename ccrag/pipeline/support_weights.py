"""The packaged weights of the support check, and the check of generated sentences by them."""

from functools import lru_cache

from pydantic import TypeAdapter

from ccrag.answering.support import lexical_support
from ccrag.answering.verdict import Judgement, SupportWeights, judge
from ccrag.pipeline.packaged import packaged_text

MADE_BY = "python -m benchmarks.support"
GRADES: dict[Judgement, float] = {"supported": 1.0, "partly": 0.5, "unsupported": 0.0}


@lru_cache(maxsize=1)
def support_weights() -> SupportWeights:
    """Return the packaged weights, learnt from claims that people judged."""
    text = packaged_text("words", folder="support", kind="weights of support", made_by=MADE_BY)
    return TypeAdapter(SupportWeights).validate_json(text)


def word_support(evidence: str, sentence: str) -> float | None:
    """
    Return the probability that `evidence` supports `sentence`, by their words; None without any.

    0 where a number is missing or a denial differs, in ten languages, see `lexical_support`: the
    learnt weights have seen English claims alone.
    """
    ruled = lexical_support(evidence, sentence)
    return judge(sentence, [evidence], support_weights()).probability if ruled else ruled


def why_unsupported(evidence: str, sentence: str) -> str:
    """Return what speaks against a sentence, in words."""
    return judge(sentence, [evidence], support_weights()).reason


def word_grade(sentence: str, evidence: str, question: str) -> float:
    """Return how far `evidence` supports a sentence, by their words: 1, .5 or 0."""
    found = judge(sentence, [evidence], support_weights(), question=question)
    return GRADES[found.verdict]
