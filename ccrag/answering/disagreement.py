"""
Find where a claim that follows a sentence nearly word by word says something else. Pure.

Claim and sentence are laid beside each other; where only a number, a date, a unit, a comparison, a
name or a denial differs, the sentence says so itself. These are rules, no judgement: a claim in
other words is left to the weighed features.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from ccrag.answering.polarity import NUMBER_WORDS
from ccrag.answering.support_text import Clause, Word

Kind = Literal["number", "date", "unit", "comparison", "negation", "name"]
CLOSE = 0.6
"""Share of the claim's words, in the sentence in the same order, from which on it copies it."""
LONGEST = 5
"""Words of a difference: a longer one is another wording."""

_MONTHS = "january february march april may june july august september october november december"
_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
_ABBREVIATED = "jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun"
DATES = frozenset(f"{_MONTHS} {_DAYS} {_ABBREVIATED}".split())
"""Names of months and days, with their abbreviations."""
_UNITS = """
    percent percentage nanosecond nanoseconds microsecond microseconds millisecond milliseconds ms
    second seconds sec minute minutes min hour hours day days week weeks month months year years
    decade decades century centuries nm mm millimetre millimetres millimeter millimeters cm
    centimetre centimetres centimeter centimeters m metre metres meter meters km kilometre
    kilometres kilometer kilometers inch inches foot feet yard yards mile miles mg milligram
    milligrams g gram grams kg kilogram kilograms tonne tonnes ton tons ounce ounces pound pounds
    lb lbs ml millilitre millilitres l litre litres liter liters gallon gallons bit bits byte bytes
    kb mb gb tb kilobyte kilobytes megabyte megabytes gigabyte gigabytes terabyte terabytes hz khz
    mhz ghz hertz celsius fahrenheit kelvin dollar dollars euro euros cent cents thousand million
    billion trillion dozen watt watts kw mw volt volts joule joules calorie calories kcal degree
    degrees
"""
UNITS = frozenset(_UNITS.split())
"""Units of measure and powers of ten, as written words."""
_OPPOSITES = """
    more/less/fewer most/least/fewest higher/lower highest/lowest greater/smaller/lesser/less/fewer
    larger/smaller largest/smallest bigger/smaller biggest/smallest longer/shorter longest/shortest
    faster/slower fastest/slowest earlier/later earliest/latest older/newer/younger oldest/newest
    better/worse best/worst stronger/weaker strongest/weakest deeper/shallower wider/narrower
    heavier/lighter before/after above/below over/under maximum/minimum max/min upper/lower
    increase/decrease increases/decreases increased/decreased increasing/decreasing increase/reduce
    increases/reduces increased/reduced increasing/reducing rise/fall rises/falls rose/fell
    rising/falling risen/fallen grow/shrink grows/shrinks grew/shrank gain/loss gains/losses
    up/down first/last left/right positive/negative all/none always/never everyone/nobody
    same/different equal/unequal majority/minority minimum/maximum high/low large/small long/short
    early/late old/new begin/end begins/ends start/end starts/ends inside/outside with/without
    true/false allowed/forbidden enabled/disabled include/exclude includes/excludes
    included/excluded including/excluding outperform/underperform improve/worsen improves/worsens
    improved/worsened improves/degrades improved/degraded superior/inferior upward/downward
    support/oppose supports/opposes success/failure succeed/fail succeeds/fails succeeded/failed
    accept/reject accepts/rejects accepted/rejected mutable/immutable possible/impossible
    likely/unlikely necessary/unnecessary required/optional known/unknown able/unable valid/invalid
    legal/illegal common/uncommon/rare safe/unsafe sufficient/insufficient
    significant/insignificant direct/indirect complete/incomplete dependent/independent must/may
    both/neither either/neither
"""
_PAIRS = frozenset(
    (one, other)
    for group in _OPPOSITES.split()
    for one in group.split("/")
    for other in group.split("/")
    if one != other
    # The first of a group stands against each of the others, which mean much the same.
    and group.split("/")[0] in (one, other)
)
_DENIALS = """
    not no never none nobody nothing neither nor cannot without hardly nicht kein keine keinen nie
    niemals nichts ohne pas jamais aucun aucune sans nunca ningún ninguna sin não nunca sem niet
    geen nooit zonder не нет никогда без
"""
DENIALS = frozenset(_DENIALS.split())
"""Words that deny; a word that ends in n't does, too."""
_SIGNED = re.compile(r"[-−]\s?$")


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A thing that the claim and its sentence say differently."""

    kind: Kind
    claimed: str
    """The claim's words; empty where the sentence alone denies."""
    found: str
    """The sentence's words; empty where the claim alone denies."""
    text_index: int
    start: int
    end: int
    """Where the sentence's words stand in that evidence text; of a missing denial, the sentence."""


def disagreements(claim: Sequence[Word], sentence: Clause) -> tuple[Disagreement, ...]:
    """
    Return what differs in kind between a claim and the sentence it follows, in order.

    Empty when it does not follow it closely (see `CLOSE`): then other rules have to judge.
    """
    matcher = SequenceMatcher(
        None, [word.key for word in claim], [word.key for word in sentence.words], autojunk=False
    )
    same = sum(block.size for block in matcher.get_matching_blocks())
    if not claim or same < CLOSE * len(claim):
        return ()
    found: list[Disagreement] = []
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        if tag == "equal":
            continue
        ours, theirs = claim[a0:a1], sentence.words[b0:b1]
        inside = a0 > 0 and a1 < len(claim)
        found.extend(_differing(ours, theirs, sentence, inside=inside))
    return tuple(found)


def _differing(
    ours: Sequence[Word], theirs: Sequence[Word], sentence: Clause, *, inside: bool
) -> Iterator[Disagreement]:
    """Yield the disagreements of one differing place; `inside`: the claim goes on on both sides."""
    if len(ours) <= LONGEST and (inside or len(theirs) <= LONGEST):
        denial = _denial(ours, theirs, sentence)
        if denial:
            yield denial
    if ours and theirs and max(len(ours), len(theirs)) <= LONGEST:
        for kind, told, said in _swapped(ours, theirs):
            yield _told(kind, told, said, sentence)


def _told(kind: Kind, ours: Sequence[Word], theirs: Sequence[Word], at: Clause) -> Disagreement:
    return Disagreement(
        kind,
        " ".join(word.text for word in ours),
        " ".join(word.text for word in theirs),
        at.text_index,
        theirs[0].start if theirs else at.start,
        theirs[-1].end if theirs else at.end,
    )


def is_denial(word: Word) -> bool:
    """Tell whether the word denies."""
    return word.key in DENIALS or word.key.endswith("n't")


def _denial(ours: Sequence[Word], theirs: Sequence[Word], sentence: Clause) -> Disagreement | None:
    told, said = list(filter(is_denial, ours)), list(filter(is_denial, theirs))
    if len(told) % 2 == len(said) % 2:
        return None
    return _told("negation", told, said, sentence)


def _swapped(
    ours: Sequence[Word], theirs: Sequence[Word]
) -> Iterator[tuple[Kind, Sequence[Word], Sequence[Word]]]:
    for kind, is_kind in _KINDS:
        told, said = list(filter(is_kind, ours)), list(filter(is_kind, theirs))
        if told and said and value_set(told).isdisjoint(value_set(said)):
            yield kind, told, said
            return
    for one in ours:
        for other in theirs:
            if (one.key, other.key) in _PAIRS:
                yield "comparison", [one], [other]
                return
    names = [word for word in ours if _is_name(word)], [word for word in theirs if _is_name(word)]
    if names[0] and names[1] and len(ours) == len(names[0]) and len(theirs) == len(names[1]):
        yield "name", *names


def value_set(words: Iterable[Word]) -> set[str]:
    """Return the values of words: nine and 9 are one, 3.50 and 3.5, Sept and September."""
    return {_value(word.key) for word in words}


def _value(key: str) -> str:
    if key[0].isdigit():
        plain = key.rstrip(".,")
        return plain.rstrip("0").rstrip(".") if re.fullmatch(r"\d+\.\d+", plain) else plain
    if key in DATES:
        return key[:3]
    if key in UNITS:
        return _UNIT_NAMES.get(key, key.removesuffix("s"))
    return NUMBER_WORDS.get(key, key)


_UNIT_NAMES = {
    "percentage": "percent", "ms": "millisecond", "sec": "second", "min": "minute", "m": "meter",
    "metre": "meter", "metres": "meter", "mm": "millimeter", "millimetre": "millimeter",
    "cm": "centimeter", "centimetre": "centimeter", "centimetres": "centimeter",
    "km": "kilometer", "kilometre": "kilometer", "kilometres": "kilometer", "g": "gram",
    "kg": "kilogram", "mg": "milligram", "l": "liter", "litre": "liter", "litres": "liter",
    "feet": "foot", "inches": "inch", "centuries": "century", "lb": "pound", "lbs": "pound",
    "kb": "kilobyte", "mb": "megabyte", "gb": "gigabyte", "tb": "terabyte", "hz": "hertz",
}  # fmt: skip


def is_number(word: Word) -> bool:
    """Tell whether the word is a number, in figures or spelt."""
    return word.is_number or word.key in NUMBER_WORDS


def _is_date(word: Word) -> bool:
    return word.key in DATES and word.is_capital


def _is_unit(word: Word) -> bool:
    return word.key in UNITS


def _is_name(word: Word) -> bool:
    return word.is_capital and word.is_content and not word.is_number


_KINDS: tuple[tuple[Kind, Callable[[Word], bool]], ...] = (
    ("date", _is_date),
    ("number", is_number),
    ("unit", _is_unit),
)
