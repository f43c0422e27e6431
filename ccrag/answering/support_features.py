"""
Measure how much of what a claim says stands in its evidence, as figures by name. Pure.

They say nothing by themselves; learnt weights make a probability of them (`support_weights`), and
`disagreement` finds what the evidence says otherwise.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, log1p

from ccrag.answering.disagreement import is_denial, is_number, value_set
from ccrag.answering.support_text import Clause, Word, clauses_of, without_citations, words_of

PREFIX = 5
"""Letters that two stems must begin with alike to be near: organise, organization."""
_HEDGES = """
    may might could can possibly perhaps probably likely suggest suggests appear appears seem seems
    generally typically usually often sometimes some various several depends depending
"""
HEDGES = frozenset(_HEDGES.split())
_PERSONAL_WORDS = """
    i me my we our you your i'm i've i'd i'll it's yes yeah oh wow
"""
_PERSONAL = frozenset(_PERSONAL_WORDS.split())


@dataclass(frozen=True, slots=True)
class Compared:
    """A claim beside its evidence, taken apart once for features, rules and reason."""

    words: tuple[Word, ...]
    """The claim's, markers of citations left out."""
    clauses: tuple[Clause, ...]
    """The sentences of all evidence texts; the order of the texts does not change any figure."""
    weights: Mapping[str, float]
    """The weight of each content stem of the claim, by its rarity among the sentences."""
    best: Clause | None
    """The sentence that holds most of the claim."""

    @property
    def stems(self) -> tuple[str, ...]:
        """Return the claim's content stems, each once, in order."""
        return tuple(self.weights)


def compare(claim: str, evidence: Sequence[str]) -> Compared:
    """Take a claim and its evidence texts apart."""
    words = words_of(without_citations(claim))
    clauses = tuple(clause for at, text in enumerate(evidence) for clause in clauses_of(text, at))
    counts = Counter(stem for clause in clauses for stem in clause.stems)
    stems = dict.fromkeys(word.stem for word in words if word.is_content)
    weights = {stem: log(1 + (len(clauses) + 1) / (counts[stem] + 0.5)) for stem in stems}
    best = max(
        clauses,
        key=lambda c: (_covered(weights, c.stems), -len(c.words), [w.key for w in c.words]),
        default=None,
    )
    return Compared(words, clauses, weights, best)


def features(compared: Compared, question: str | None) -> dict[str, float]:
    """
    Return the figures of a claim; shares are 0 to 1, of nothing 1.

    `covered`          share of the claim's content terms in the evidence, by weight
    `covered-near`     the same, a term with the same first letters counting half
    `best`, `pair`     the same share, in the best sentence and in the best two neighbours
    `best-precise`     share of the best sentence's terms that the claim has
    `pairs`            share of neighbouring content terms of the claim that stand within four
                       words of each other in one sentence
    `trigrams`         share of the claim's runs of three words that stand in the evidence
    `longest`          words of its longest run that stands there, as a share of its words
    `in-order`         longest common subsequence with the best sentence, as a share of its words
    `names`, `numbers` share of its names, and of its numbers, in the evidence
    `numbers-best`     share of its numbers in the best two neighbours
    `missing-run`      longest run of content terms missing from the best two neighbours, as a share
    `new`              share of its terms that are not the question's and stand in the evidence
    `asked`            share of its terms that are the question's
    `denial`           whether claim and best sentence differ in that they deny
    `hedged`, `personal`, `question-mark`  whether the claim hedges, speaks of I or you, asks
    `length`, `evidence-length`            ln(1 + content terms), ln(1 + sentences)
    """
    stems, clauses = compared.stems, compared.clauses
    held = frozenset[str]().union(*(clause.stems for clause in clauses))
    pair = _best_pair(compared)
    asked = {word.stem for word in words_of(question or "") if word.is_content}
    new = {stem: weight for stem, weight in compared.weights.items() if stem not in asked}
    keys = {word.key for word in compared.words}
    best = compared.best
    return {
        "covered": _covered(compared.weights, held),
        "covered-near": _covered_near(compared.weights, held),
        "best": _covered(compared.weights, best.stems if best else ()),
        "pair": _covered(compared.weights, pair),
        "best-precise": _share(best.stems if best else (), set(stems)) if best else 0.0,
        "new": _covered(new, held),
        "asked": sum(stem in asked for stem in stems) / max(len(stems), 1),
        "missing-run": _longest_missing(stems, pair),
        **_runs(compared),
        **_exact(compared, pair),
        "denial": float(best is not None and _denies(compared.words) != _denies(best.words)),
        "hedged": float(bool(keys & HEDGES)),
        "personal": float(bool(keys & _PERSONAL)),
        "length": log1p(len(stems)),
        "evidence-length": log1p(len(clauses)),
    }


def _covered(weights: Mapping[str, float], held: Collection[str]) -> float:
    total = sum(weights.values())
    return sum(w for stem, w in weights.items() if stem in held) / total if total else 1.0


def _covered_near(weights: Mapping[str, float], held: Collection[str]) -> float:
    near = {stem[:PREFIX] for stem in held if len(stem) >= PREFIX}
    total = sum(weights.values())
    found = sum(
        w if stem in held else w / 2
        for stem, w in weights.items()
        if stem in held or (len(stem) >= PREFIX and stem[:PREFIX] in near)
    )
    return found / total if total else 1.0


def _best_pair(compared: Compared) -> frozenset[str]:
    """Return the stems of the two neighbouring sentences that hold most of the claim."""
    clauses = compared.clauses
    pairs = [
        one.stems | other.stems
        for one, other in pairwise(clauses)
        if one.text_index == other.text_index
    ]
    alone = [clause.stems for clause in clauses]
    return max(
        [*pairs, *alone], key=lambda held: _covered(compared.weights, held), default=frozenset()
    )


def _runs(compared: Compared) -> dict[str, float]:
    """Return the figures of words that follow each other."""
    keys = [word.key for word in compared.words]
    wanted = set(zip(keys, keys[1:], keys[2:], strict=False))
    content = [word.stem for word in compared.words if word.is_content]
    near = set(pairwise(content))
    found: set[tuple[str, str, str]] = set()
    close: set[tuple[str, str]] = set()
    longest = 0
    for clause in compared.clauses:
        theirs = [word.key for word in clause.words]
        found.update(wanted.intersection(zip(theirs, theirs[1:], theirs[2:], strict=False)))
        close.update(_near_pairs(near, clause))
    for length in _run_lengths(keys, found):
        longest = max(longest, length)
    best = [word.key for word in compared.best.words] if compared.best else []
    return {
        "trigrams": len(found) / len(wanted) if wanted else 1.0,
        "pairs": len(close) / len(near) if near else 1.0,
        "longest": min(1.0, longest / max(len(keys), 1)),
        "in-order": _common(keys, best) / max(len(keys), 1),
    }


def _near_pairs(wanted: set[tuple[str, str]], clause: Clause) -> set[tuple[str, str]]:
    content = [word.stem for word in clause.words if word.is_content]
    return {
        pair
        for step in (1, 2, 3)
        for one, other in zip(content, content[step:], strict=False)
        for pair in ((one, other), (other, one))
        if pair in wanted
    }


def _run_lengths(keys: Sequence[str], found: Collection[tuple[str, ...]]) -> list[int]:
    """Return the lengths in words of the runs of `keys` all of whose trigrams are in `found`."""
    lengths, current = [], 0
    for trigram in zip(keys, keys[1:], keys[2:], strict=False):
        current = (current + 1 if current else 3) if trigram in found else 0
        lengths.append(current)
    return lengths


def _common(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(theirs) + 1)
    for one in ours:
        before = 0
        for at, other in enumerate(theirs, start=1):
            kept = row[at]
            row[at] = before + 1 if one == other else max(row[at], row[at - 1])
            before = kept
    return row[-1]


def _exact(compared: Compared, pair: frozenset[str]) -> dict[str, float]:
    """Return the shares of names and numbers."""
    told = [word for word in compared.words if is_number(word)]
    words = [word for clause in compared.clauses for word in clause.words]
    said = value_set(filter(is_number, words))
    names = {word.stem for word in compared.words[1:] if word.is_capital and word.is_content}
    held = frozenset[str]().union(*(clause.stems for clause in compared.clauses))
    return {
        "names": _share(names, held),
        "numbers": _share(value_set(told), said),
        "numbers-best": _share({word.stem for word in told}, pair),
    }


def _share(wanted: Collection[str], held: Collection[str]) -> float:
    return sum(one in held for one in wanted) / len(wanted) if wanted else 1.0


def _longest_missing(stems: Sequence[str], held: Collection[str]) -> float:
    longest = current = 0
    for stem in stems:
        current = 0 if stem in held else current + 1
        longest = max(longest, current)
    return longest / max(len(stems), 1)


def _denies(words: Sequence[Word]) -> bool:
    return any(map(is_denial, words))
