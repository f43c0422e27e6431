"""
Compare what a claim denies, and its numbers, with the evidence sentence closest to it. Pure.

Words alone do not tell "does not open at nine" from "opens at nine". This is a rule, no judgement:
it looks for the words by which ten languages deny something, clause by clause.
"""

import re
from collections.abc import Iterator

from ccrag.text.analysis import normalise, term_set

_DENIALS = (
    "not(?! only)|no(?!\\.? ?\\d)|never|none|nobody|nothing|neither|nor|cannot|without"  # English
    "|nicht(?! nur)|kein(?:e[rmns]?)?|nie|niemals|nichts|niemand|weder|ohne"  # German
    "|ne|pas|jamais|aucune?|sans"  # French
    "|nunca|jam[aá]s|ning[uú]na?|nadie"  # Spanish, and its "no"
    "|non|mai|nessun[oa]?|senza"  # Italian
    "|n[aã]o|nenhuma?|ningu[eé]m|sem"  # Portuguese
    "|niet|geen|nooit|zonder"  # Dutch
    "|не|нет|никогда|ни|без"  # Russian
)
_DENIED = re.compile(
    rf"(?<![\w'-])(?:{_DENIALS})(?![\w-])|n't\b|(?<!\w)n'(?=\w)"
    r"|不(?!仅|僅|但|过|過)|没|沒|未(?!来|來)|无|無|ません|ない|なかった",
)
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")
_CLAUSE_END = re.compile(
    r"[,;:] |[，；：]"
    r"| (?=(?:and|but|while|und|aber|et|mais|y|pero|ma|mas|maar|en|и|но|а) )"
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORDS = "two three four five six seven eight nine ten eleven twelve"
NUMBER_WORDS = {word: str(number) for number, word in enumerate(_WORDS.split(), start=2)}
"""Without `one`, which mostly counts nothing."""
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(NUMBER_WORDS)})\b", re.IGNORECASE)


def numbers(text: str) -> set[str]:
    """Return the numbers in `text` in figures, thousands not parted: 4,711 is 4711, nine is 9."""
    spelt = {NUMBER_WORDS[word.lower()] for word in _NUMBER_WORD.findall(text)}
    return {number.replace(",", "") for number in _NUMBER.findall(text)} | spelt


def denies(text: str) -> bool:
    """Return whether `text` denies something."""
    return _DENIED.search(normalise(text)) is not None


def agrees(evidence: str, claim: str) -> bool:
    """
    Return whether each clause of `claim` denies and counts as the closest one of `evidence` does.

    Closest are the clauses that hold most of its content terms; of several one has to agree. One
    that shares no term with the evidence is not looked at.
    """
    parts = [(part, term_set(part)) for part in _parts(evidence)]
    for clause in _CLAUSE_END.split(claim):
        wanted = term_set(clause)
        most = max((len(wanted & held) for _, held in parts), default=0)
        closest = [part for part, held in parts if len(wanted & held) == most]
        if most and not any(_alike(part, clause) for part in closest):
            return False
    return True


def _alike(part: str, clause: str) -> bool:
    said, told = numbers(clause), numbers(part)
    return denies(part) == denies(clause) and not (said and told and said.isdisjoint(told))


def _parts(text: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(text):
        yield from _CLAUSE_END.split(sentence)
