"""
The values that travel between stages. Only the standard library and our errors.

Offsets are code points into `Document.text`, half open. Ids are strings everywhere, whatever
the input held. Nothing here does I/O.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isnan
from typing import Any, Literal, NamedTuple

from ccrag.errors import EmptyCandidatesError, InputError, InvariantError, of_query

DocId = str
PassageId = str
QueryId = str
UnitId = str
SectionPath = tuple[str, ...]
SentenceKey = tuple[DocId, int, int]
"""Document, start and end: the same sentence in two overlapping passages has one key."""
JSON = dict[str, Any]
"""A JSON object."""
Speaker = Literal["user", "agent"]
TextSource = Literal["full_text", "abstract", "title", "none"]

CANDIDATE_ORDER = "candidate-order"
"""The list that ranks nothing; it takes no variant."""
MAX_DOC_ID_BYTES = 480
"""OpenSearch takes 512 bytes of `_id`; `#` and the digest need 17, the rest is margin."""


class Span(NamedTuple):
    """`text[start:end]`, in code points."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """A document that the user gave; its `text` is never changed, character for character."""

    doc_id: DocId
    title: str
    text: str
    date: str | None = None
    """The date as given, if it starts with a four-digit year; else None."""
    links: tuple[DocId, ...] = ()
    text_source: TextSource = "full_text"
    version_of: str | None = None
    """A name shared by all versions of one work: documents that have it are versions of another."""
    version: str | None = None
    """The name of this version, e.g. `2.1`."""
    collection: str | None = None
    """The named collection it belongs to, if any."""
    pages: tuple[int, ...] = ()
    """The start of each page in `text`, if the file had pages."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the span below it, heading line included; `path` is () before any heading."""

    path: SectionPath
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """
    The retrieval unit: consecutive sentences of one document, inside one section.

    `sentences` tile `start:end`; `text == document.text[start:end]`.
    """

    passage_id: PassageId
    doc_id: DocId
    section: SectionPath
    ordinal: int
    """Position among the document's passages, from 0."""
    start: int
    end: int
    sentences: tuple[Span, ...]
    text: str
    title: str = ""
    date: str | None = None
    edges: int = 0
    """Citation edges that touch the document, for the citation prior."""
    collection: str | None = None
    """The collection of its document, if any."""
    page: int | None = None
    """The page it starts on, from 1, if the document has pages."""

    def slice(self, span: Span) -> str:
        """Return the document's text at `span`, which must lie inside this passage."""
        if not self.start <= span.start <= span.end <= self.end:
            raise InvariantError(f"{span} is outside passage {self.passage_id!r}")
        return self.text[span.start - self.start : span.end - self.start]


@dataclass(frozen=True, slots=True)
class UnitPart:
    """A document, or a run of its sections, as a part of a unit."""

    unit_id: UnitId
    doc_id: DocId
    ordinal: int
    """Position in the unit, from 0; where documents were left out, positions are missing."""
    start: int
    end: int
    tokens: int
    title: str = ""
    date: str | None = None
    version_of: str | None = None
    version: str | None = None
    links: tuple[DocId, ...] = ()
    """Documents that this one links to, given or found; never outside what may be read."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Linked documents that are read together; `parts` in reading order, at least one."""

    unit_id: UnitId
    parts: tuple[UnitPart, ...]

    @property
    def tokens(self) -> int:
        """Return the tokens of all parts together."""
        return sum(part.tokens for part in self.parts)


def make_passage_id(doc_id: DocId, span: Span, text: str) -> PassageId:
    """Return `doc_id#digest` over span and text: stable across re-indexing, new with content."""
    content = f"{span.start}:{span.end}:{text}".encode("utf-8", "surrogatepass")
    return f"{doc_id}#{hashlib.blake2b(content, digest_size=8).hexdigest()}"


def doc_id_of(passage_id: PassageId) -> DocId:
    """Return the document of a passage id; document ids may hold `#` themselves."""
    return passage_id.rpartition("#")[0]


_PASSAGE_ID = re.compile(r".+#[0-9a-f]{16}", re.DOTALL)


def is_passage_id(name: DocId | PassageId) -> bool:
    """Tell whether `name` has the form that `make_passage_id` gives."""
    return _PASSAGE_ID.fullmatch(name) is not None


def require_text(text: str, *, what: str) -> None:
    """
    Refuse a string that is no text: bytes that were not UTF-8, or half of a surrogate pair.

    Raises:
        InputError: naming `what` and the place in it.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{what} holds {text[error.start]!r} at character {error.start + 1}, which is no "
            "character (half of a surrogate pair, or a byte that is not UTF-8); give UTF-8 text"
        ) from error


@dataclass(frozen=True, slots=True)
class Candidates:
    """
    The documents that may answer a query: ids in the order given, a collection, the whole index.

    Build with `Candidates.of`, `of_collection` or `whole_index`; an empty set cannot be built.
    """

    doc_ids: tuple[DocId, ...] | None
    """None means all documents of `collection` or, said explicitly, of the whole index."""
    _members: frozenset[DocId] = field(default=frozenset(), repr=False, compare=False)
    collection: str | None = None
    """The name of the collection whose documents all are candidates; never with `doc_ids`."""

    @classmethod
    def of(cls, doc_ids: Iterable[DocId], *, query_id: QueryId) -> Candidates:
        """
        Return explicit ids, repeated ones dropped, order kept.

        Raises:
            EmptyCandidatesError: no id was given.
            InputError: an id is not a non-empty string (a bare string is not a list of ids).
        """
        if isinstance(doc_ids, str):
            raise InputError(f"{of_query(query_id)}candidates must be a list of ids, got a string")
        unique = tuple(dict.fromkeys(doc_ids))
        if not unique:
            raise EmptyCandidatesError(query_id)
        for doc_id in unique:
            if not isinstance(doc_id, str) or not doc_id:
                raise InputError(f"{of_query(query_id)}candidate id {doc_id!r} is not a string")
            require_text(doc_id, what=f"{of_query(query_id)}candidate id {doc_id!r}")
        return cls(unique, frozenset(unique))

    @classmethod
    def whole_index(cls) -> Candidates:
        """Return every document of the index that is asked."""
        return cls(None)

    @classmethod
    def of_collection(cls, name: str) -> Candidates:
        """
        Return every document of the collection `name`.

        Raises:
            InputError: it is no text.
        """
        require_text(name, what=f"collection name {name!r}")
        return cls(None, collection=name)

    def admits(self, doc_id: DocId, *, collection: str | None) -> bool:
        """Tell whether a document, which lies in `collection`, is one of the candidates."""
        if self.collection is not None:
            return collection == self.collection
        return self.doc_ids is None or doc_id in self._members

    def __contains__(self, doc_id: object) -> bool:
        if self.collection is not None:
            raise InvariantError("an id alone does not say which collection a document lies in")
        return self.doc_ids is None or doc_id in self._members


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier turn of a dialogue."""

    speaker: Speaker
    text: str

    def __post_init__(self) -> None:
        require_text(self.text, what="an earlier turn")


@dataclass(frozen=True, slots=True)
class Query:
    """
    One question and the only documents that may answer it.

    Raises:
        InputError: the question or its id is no text.
    """

    query_id: QueryId
    text: str
    candidates: Candidates
    turns: tuple[Turn, ...] = ()
    """The dialogue before the question, oldest first."""

    def __post_init__(self) -> None:
        require_text(self.query_id, what=f"query id {self.query_id!r}")
        require_text(self.text, what=f"query {self.query_id!r}: the question")


class WeightedText(NamedTuple):
    """A text of a variant, and the weight of its score."""

    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class Variant:
    """One variant of a query; `name` says which, e.g. `original`, `keywords`, `feedback`."""

    name: str
    text: str
    parts: tuple[WeightedText, ...] = ()
    """Texts searched instead of `text`, if any: a passage's score is the weighted sum of theirs."""

    @property
    def searched(self) -> tuple[WeightedText, ...]:
        """Return the parts, or the text alone with weight 1."""
        return self.parts or (WeightedText(self.text, 1.0),)


@dataclass(frozen=True, slots=True)
class Hit:
    """A scored passage. Ids and score travel together, always."""

    passage_id: PassageId
    doc_id: DocId
    score: float
    """Higher is better; the scale is the owning ranking's."""


def ranking_name(source: str, variant: str) -> str:
    """Return the name of a first list, e.g. `bm25:keywords`; one without variants is `source`."""
    return source if source == CANDIDATE_ORDER else f"{source}:{variant}"


@dataclass(frozen=True, slots=True)
class Ranking:
    """Hits of one query from one source, best first; rank 1 is `hits[0]`."""

    query_id: QueryId
    stage: str
    """The stage that scored it, e.g. `bm25:original`, `dense:original`, `rrf`, `rerank`."""
    hits: tuple[Hit, ...]

    @property
    def source(self) -> str:
        """Return the kind of list it is, e.g. `bm25`; of a later ranking, its stage."""
        return self.stage.partition(":")[0]

    @classmethod
    def of(cls, query_id: QueryId, stage: str, hits: Iterable[Hit]) -> Ranking:
        """
        Sort `hits` by score, ties by passage id. The only place that orders hits.

        Raises:
            InvariantError: two hits share a passage id, or a score is NaN.
        """
        ordered = sorted(hits, key=lambda hit: (-hit.score, hit.passage_id))
        if any(isnan(hit.score) for hit in ordered):
            raise InvariantError(f"{stage}: NaN score for query {query_id!r}")
        if len({hit.passage_id for hit in ordered}) != len(ordered):
            raise InvariantError(f"{stage}: a passage appears twice for query {query_id!r}")
        return cls(query_id, stage, tuple(ordered))

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def top(self, depth: int) -> Ranking:
        """Return the first `depth` hits, same stage."""
        return Ranking(self.query_id, self.stage, self.hits[:depth])


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence span that may support the answer; `text == document.text[start:end]`."""

    evidence_id: str
    """`e1`, `e2`, … in the order shown."""
    passage_id: PassageId
    doc_id: DocId
    section: SectionPath
    start: int
    end: int
    text: str
    score: float
    collection: str | None = None
    """The collection of its document, if any."""
    reasons: tuple[tuple[str, float], ...] = ()
    """The features that spoke most for it, with their log-odds, where a learnt ranking chose it."""

    @property
    def key(self) -> SentenceKey:
        """Return the key of the sentence with this span, as tables of scores use it."""
        return self.doc_id, self.start, self.end


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """One sentence of an answer; `citations` index `Answer.references` from 0, best first."""

    text: str
    evidence_ids: tuple[str, ...]
    citations: tuple[int, ...]
    supported: bool | None = None
    """True where the cited evidence supports it; None: not checked, or it could not be decided."""


@dataclass(frozen=True, slots=True)
class Note:
    """A remark of a stage for the user: something left out, repaired, dropped or not resolved."""

    stage: str
    message: str


@dataclass(frozen=True, slots=True)
class Strength:
    """The match of an answer's evidence with the question, as far as words and cosines tell."""

    level: Literal["strong", "weak", "none"]
    """`none`: the answer rests on no evidence."""
    reason: str
    covered: float
    """Share of the question's content words in the evidence, weighted by idf, 0 to 1."""
    missing: tuple[str, ...]
    """Content words of the question that the evidence does not hold."""


@dataclass(frozen=True, slots=True)
class Answer:
    """
    The answer to one query. Every citation resolves through `evidence` to a span of a candidate.

    An abstention holds one uncited sentence, the stated form, and no references.
    """

    query_id: QueryId
    sentences: tuple[AnswerSentence, ...]
    references: tuple[DocId, ...]
    evidence: tuple[Evidence, ...]
    """All evidence shown, used or not, in order of `evidence_id`."""
    abstained: bool = False
    strength: Strength | None = None
    """None: not computed, as for answers that are not written yet."""

    def evidence_of(self, sentence: AnswerSentence) -> tuple[Evidence, ...]:
        """Return the spans that `sentence` rests on, in its own order."""
        shown = {evidence.evidence_id: evidence for evidence in self.evidence}
        return tuple(shown[evidence_id] for evidence_id in sentence.evidence_ids)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """The record of one call to a language model."""

    prompt: str
    """Name and version of the prompt, e.g. `answer@1`."""
    digest: str
    """The digest of the request's whole body."""
    model: str
    """The model's name, as the server gives it."""
    parameters: Mapping[str, Any]
    """The sampling parameters that were sent."""
    prompt_tokens: int | None
    """Tokens of the request; None when the server did not count them."""
    completion_tokens: int | None
    """Tokens of the reply; None when the server did not count them."""
    finish_reason: str
    cached: bool
    """True where the reply came from the cache and cost nothing."""


@dataclass(frozen=True, slots=True)
class Answerability:
    """The decision whether the candidates answer a query, and what it rests on."""

    calibration: str
    """The calibration that decided: `name@digest`."""
    probability: float
    """The probability, 0 to 1, that the candidates do not answer the query."""
    threshold: float
    """The least probability with which the query gets the abstention."""
    features: Mapping[str, float]
    contributions: Mapping[str, float]
    """The log-odds that each feature adds; above 0 it speaks against an answer."""

    @property
    def abstains(self) -> bool:
        """Tell whether the query gets the abstention."""
        return self.probability >= self.threshold


@dataclass(frozen=True, slots=True)
class Trace:
    """The record of one query: variants, rankings, notes, seconds per stage, calls to models."""

    variants: tuple[Variant, ...]
    rankings: tuple[Ranking, ...]
    notes: tuple[Note, ...]
    seconds: Mapping[str, float]
    calls: tuple[ModelCall, ...] = ()
    answerability: Answerability | None = None
    """None: the pipeline does not decide it."""


@dataclass(frozen=True, slots=True)
class Result:
    """An answer with the passages it was read from and its trace."""

    query: Query
    answer: Answer
    ranking: Ranking
    """The final order of passages: reranked shortlist first, then the rest of the fused list."""
    read: tuple[PassageId, ...]
    """Passages the answer was read from, in reading order, neighbours included."""
    passages: Mapping[PassageId, Passage]
    """Passages whose text was fetched, by id."""
    trace: Trace
    selected: tuple[PassageId, ...] = ()
    """The passages of the ranking that were selected, best first, without neighbours."""
    units: tuple[Unit, ...] = ()
    """The units that were read, best first, and only what was read of them; () otherwise."""
