"""
Check whether a sentence is supported by its evidence. Pure.

By words: the probability that `verdict` gives, but 0 where a number is missing or both deny
differently (`lexical_support`). By entailment, when a model is given: the probability that the
evidence, taken together, entails the sentence.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ccrag.answering.citations import DraftSentence
from ccrag.answering.polarity import agrees, numbers
from ccrag.text.analysis import unique_terms
from ccrag.types import Evidence, Note

STAGE = "support"
OnUnsupported = Literal["keep", "flag", "drop"]
Support = Callable[[str, str], float | None]
"""From (evidence, sentence) to how much of it is supported, 0 to 1; None: cannot be told."""


@dataclass(frozen=True, slots=True)
class SupportCheck:
    """The settings by which generated sentences are checked against their evidence."""

    unsupported: OnUnsupported
    """`keep` does not look; `flag` marks and notes; `drop` leaves out and notes."""
    threshold: float
    """From this much support on a sentence is supported."""
    measure: Support
    reason: Callable[[str, str], str] | None = None
    """Says from (evidence, sentence) what speaks against a sentence; None: nothing says it."""


def contained(evidence: str, sentence: str) -> float | None:
    """Return the share of the sentence's content terms in the evidence; None when it has none."""
    wanted = unique_terms(sentence)
    if not wanted:
        return None
    return len(set(wanted) & set(unique_terms(evidence))) / len(wanted)


def lexical_support(evidence: str, sentence: str) -> float | None:
    """
    Return the same, but 0 where numbers or denials disagree.

    That is when the sentence says a number that the evidence does not, or denies what the evidence
    sentence closest to it states, or the other way round; see `ccrag.answering.polarity`.
    """
    if not numbers(sentence) <= numbers(evidence) or not agrees(evidence, sentence):
        return 0.0
    return contained(evidence, sentence)


def checked(
    drafts: Sequence[DraftSentence], evidence: Sequence[Evidence], check: SupportCheck
) -> tuple[tuple[DraftSentence, ...], tuple[Note, ...]]:
    """
    Return the drafts that stay, each marked, and a note on every one that is not supported.

    A sentence without content terms cannot be told either way, and stays.
    """
    if check.unsupported == "keep":
        return tuple(drafts), ()
    texts = {item.evidence_id: item.text for item in evidence}
    kept: list[DraftSentence] = []
    notes: list[Note] = []
    for number, draft in enumerate(drafts, start=1):
        support = check.measure(_joined(draft, texts), draft.text)
        supported = None if support is None else support >= check.threshold
        if supported is False:
            done = "left out" if check.unsupported == "drop" else "flagged"
            why = f" ({check.reason(_joined(draft, texts), draft.text)})" if check.reason else ""
            notes.append(
                Note(
                    STAGE,
                    f"sentence {number} {done}: supported {support:.2f}{why}: {draft.text!r}",
                )
            )
        if supported is not False or check.unsupported == "flag":
            kept.append(replace(draft, supported=supported))
    return tuple(kept), tuple(notes)


def _joined(draft: DraftSentence, texts: Mapping[str, str]) -> str:
    return " ".join(texts[evidence_id] for evidence_id in draft.evidence_ids)
