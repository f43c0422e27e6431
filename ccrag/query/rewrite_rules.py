"""
A question that stands by itself, by rule: what it leans on is filled in from earlier turns. Pure.

*When*: the question points back (a pronoun or demonstrative), begins as an afterthought does ("and
…", "what about …"), or has so few content words that something must be understood.
*What*: phrases, that is runs of content words, of the user's earlier turns. A term is the more
salient the more turns, the agent's too, hold it and the more recent they are; a phrase, by its
terms.
*How*: the most salient phrases are written below the question. Nothing takes the pronoun's place:
to a search that is the same, and a wrong guess would spoil the question.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ccrag.text.analysis import STOP_WORDS, runs, stem
from ccrag.types import Turn

MAX_PHRASES = 2
MIN_CONTENT_WORDS = 4
"""A question with fewer is elliptical."""
HALF = 0.5
"""The weight of a turn beside one an exchange later."""

_POINTERS = """
    it its itself they them their theirs this that these those he him his she her hers one ones
    there such same former latter
"""
POINTERS = frozenset(_POINTERS.split())
AFTERTHOUGHT = re.compile(
    r"\W*(?:and|or|but|so|then|also|what else|anything else|(?:what|how) about|why(?: not)?|ok|okay"
    r"|yes|no|i mean|i meant)\b",
    re.IGNORECASE,
)
_SMALL_TALK = """
    tell know want need like explain please thanks thank make get give go use used using work help
    find see think say said mean means meant way thing things kind type example examples different
    information good better best great new main important yes no ok okay hi hello
"""
SMALL_TALK = frozenset(_SMALL_TALK.split())
"""Content words that name no topic."""


def rewritten(question: str, turns: Sequence[Turn]) -> str:
    """Return `question` with what it leans on below it, or as it is if it leans on nothing."""
    if not turns or not leans_back(question):
        return question
    phrases = salient_phrases(question, turns)
    return f"{question.strip()}\n{' '.join(phrases)}" if phrases else question


def leans_back(question: str) -> bool:
    """Tell whether `question` points back, begins as an afterthought, or is elliptical."""
    words = runs(question)
    content = [word for word in words if word not in STOP_WORDS]
    return (
        len(content) < MIN_CONTENT_WORDS
        or not POINTERS.isdisjoint(words)
        or AFTERTHOUGHT.match(question) is not None
    )


def salient_phrases(question: str, turns: Sequence[Turn]) -> tuple[str, ...]:
    """
    Return up to `MAX_PHRASES` phrases of the user's `turns`, the most salient first.

    Only terms that `question` lacks count; a phrase must bring one that no better phrase has.
    Ties: the more recent turn, then the earlier place in it.
    """
    present = {stem(word) for word in runs(question)}
    weights = _term_weights(turns)
    scored = [
        (_salience(phrase, present, weights), phrase)
        for turn in reversed(turns)
        if turn.speaker == "user"
        for phrase in _phrases(turn.text)
    ]
    scored.sort(key=lambda item: -item[0])  # stable: newest first, in order
    chosen: list[str] = []
    for salience, phrase in scored:
        found = {stem(word) for word in phrase}
        if len(chosen) == MAX_PHRASES or not salience:
            break
        if not found <= present:
            chosen.append(" ".join(phrase))
            present |= found
    return tuple(chosen)


def _term_weights(turns: Sequence[Turn]) -> Mapping[str, float]:
    """Return each term's weight: the sum over the turns that hold it of HALF ** exchanges ago."""
    weights: defaultdict[str, float] = defaultdict(float)
    for age, turn in enumerate(reversed(turns)):
        for term in {stem(word) for word in runs(turn.text)}:
            weights[term] += HALF ** (age // 2)
    return weights


def _salience(
    phrase: Sequence[str], present: frozenset[str] | set[str], weights: Mapping[str, float]
) -> float:
    """Return the weights of the terms that are not present, over the root of their number."""
    new = {stem(word) for word in phrase} - present
    return sum(weights[term] for term in sorted(new)) / len(new) ** 0.5 if new else 0.0


def _phrases(text: str) -> Iterator[tuple[str, ...]]:
    """Yield runs of content words, parted by other words and by punctuation."""
    for piece in re.split(r"[^\w\s'’-]+", text):
        phrase: list[str] = []
        for word in runs(piece):
            if word not in STOP_WORDS and word not in SMALL_TALK:
                phrase.append(word)
            elif phrase:
                yield tuple(phrase)
                phrase = []
        if phrase:
            yield tuple(phrase)
