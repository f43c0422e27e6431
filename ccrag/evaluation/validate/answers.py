"""Check references, answer sentences and citations of the three TREC-like formats."""

import re
import reprlib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ccrag.evaluation.validate.shape import Kinds, is_text, is_whole, items, shape_problems
from ccrag.types import Candidates

SEGMENT_ID = re.compile(r"msmarco_v2\.1_doc_\d+_\d+#\d+_\d+", re.ASCII)
"""A segment of MS MARCO v2.1, the collection of TREC RAG."""
KINDS: Kinds = {"references": "a list", "answer": "a non-empty list"}
SENTENCE_KINDS: Kinds = {"text": "a non-empty string", "citations": "a list"}


@dataclass(frozen=True, slots=True)
class AnswerRules:
    """Where the formats differ."""

    max_words: int
    max_references: int | None = None
    segment_ids: bool = False
    """References are segments of MS MARCO v2.1."""
    ids_may_cite: bool = False
    """Citations may be reference ids instead of indices (TREC RAG 2025, format 2)."""
    complete: bool = False
    """Every sentence cites, unless it alone is the answer; every reference is cited."""


def answer_problems(
    record: Mapping[str, object], rules: AnswerRules, candidates: Candidates | None
) -> Iterator[str]:
    """
    Yield messages about a record's `references` and `answer`; None as candidates checks no closure.
    """
    yield from shape_problems(record, KINDS)
    references, answer = record.get("references"), record.get("answer")
    if not isinstance(references, list) or not isinstance(answer, list):
        return
    yield from _reference_problems(references, rules, candidates)
    for position, sentence in enumerate(answer):
        yield from _sentence_problems(sentence, references, rules, within=f"answer[{position}]")
    words = word_count(answer)
    if words > rules.max_words:
        yield f"the answer has {words} words, {rules.max_words} are allowed"
    if rules.ids_may_cite:
        yield from _mixture_problems(answer)
    if rules.complete:
        yield from _gap_problems(references, answer)


def word_count(answer: Sequence[object]) -> int:
    """
    Count the words of all sentences as the organisers count: parted by white space, after NFKC.
    """
    texts = (sentence.get("text") for sentence in answer if isinstance(sentence, Mapping))
    return sum(
        len(unicodedata.normalize("NFKC", text).split()) for text in texts if isinstance(text, str)
    )


def _reference_problems(
    references: Sequence[object], rules: AnswerRules, candidates: Candidates | None
) -> Iterator[str]:
    if rules.max_references is not None and len(references) > rules.max_references:
        yield f"{len(references)} references, {rules.max_references} are allowed"
    for position, reference in enumerate(references):
        within = f"references[{position}]"
        if not is_text(reference):
            yield f"{within} must be a non-empty string, got {reprlib.repr(reference)}"
            continue
        if reference in references[:position]:
            yield f"{within} {reference!r} stands twice"
        if rules.segment_ids and not SEGMENT_ID.fullmatch(reference):
            yield f"{within} {reference!r} is not an MS MARCO v2.1 segment"
        if candidates is not None and candidates.doc_ids and reference not in candidates:
            yield f"{within} {reference!r} is not a candidate of the query"


def _sentence_problems(
    sentence: object, references: Sequence[object], rules: AnswerRules, *, within: str
) -> Iterator[str]:
    yield from shape_problems(sentence, SENTENCE_KINDS, within=within)
    if not isinstance(sentence, Mapping):
        return
    text, citations = sentence.get("text"), items(sentence.get("citations"))
    if isinstance(text, str) and not unicodedata.is_normalized("NFC", text):
        yield f"{within}.text is not in Unicode form NFC"
    for position, citation in enumerate(citations):
        place = f"{within}.citations[{position}]"
        yield from _citation_problems(citation, references, rules, within=place)
        if citation in citations[:position]:
            yield f"{place} {reprlib.repr(citation)} stands twice"


def _citation_problems(
    citation: object, references: Sequence[object], rules: AnswerRules, *, within: str
) -> Iterator[str]:
    if is_whole(citation):
        if not 0 <= citation < len(references):
            yield f"{within} {citation} points outside the {len(references)} references"
    elif isinstance(citation, str) and rules.ids_may_cite:
        if citation not in references:
            yield f"{within} {citation!r} is not among the references"
    else:
        yield f"{within} must be an index into the references, got {reprlib.repr(citation)}"


def _mixture_problems(answer: Sequence[object]) -> Iterator[str]:
    kinds = {type(citation) for sentence in answer for citation in _citations(sentence)}
    if {int, str} <= kinds:
        yield "cites both by index and by id; use one of the two formats"


def _gap_problems(references: Sequence[object], answer: Sequence[object]) -> Iterator[str]:
    """Yield what cites nothing, and what nothing cites; an abstention (one bare sentence) may."""
    abstains = len(answer) == 1 and not references
    for position, sentence in enumerate(answer):
        if not abstains and isinstance(sentence, Mapping) and sentence.get("citations") == []:
            yield f"answer[{position}] cites nothing"
    cited = {index for sentence in answer for index in _citations(sentence) if is_whole(index)}
    for position, reference in enumerate(references):
        if position not in cited:
            yield f"references[{position}] {reference!r} is never cited"


def _citations(sentence: object) -> list[object]:
    return items(sentence.get("citations")) if isinstance(sentence, Mapping) else []
