"""Pseudo-relevance feedback: words of the best passages as one more list. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence

from ccrag.text.analysis import STOP_WORDS, stem, unique_terms, words
from ccrag.types import Variant


def feedback_terms(
    texts: Iterable[str], *, keywords: Sequence[str], max_terms: int, min_chars: int
) -> tuple[str, ...]:
    """
    Return up to `max_terms` words of `texts` that the query lacks, most frequent first.

    Raw frequency over all texts, ties in alphabetical order. Left out: stop words, words shorter
    than `min_chars` (with the usual 4 that includes the bigrams of CJK script), words without a
    letter, and words whose stem is that of a keyword or of a term already taken, since the engine
    would count such a pair as one word said twice. No texts, or nothing new in them: ().
    """
    counts = Counter(word for text in texts for word in words(text))
    taken = set(unique_terms(" ".join(keywords)))
    chosen: list[str] = []
    for word, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if len(chosen) == max_terms:
            break
        if _is_candidate(word, min_chars) and stem(word) not in taken:
            taken.add(stem(word))
            chosen.append(word)
    return tuple(chosen)


def feedback_variant(keywords: Sequence[str], terms: Sequence[str]) -> Variant | None:
    """Return the variant `feedback`, keywords then terms; None if there are no terms to add."""
    if not terms:
        return None
    return Variant("feedback", " ".join([*keywords, *terms]))


def _is_candidate(word: str, min_chars: int) -> bool:
    return (
        len(word) >= min_chars
        and word not in STOP_WORDS
        and any(character.isalpha() for character in word)
    )
