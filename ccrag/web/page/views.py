"""Make the plain values that templates show from results and records. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from ccrag.formats.provenance import (
    EvidenceRecord,
    PassageRecord,
    QueryRecord,
    SentenceRecord,
    StrengthRecord,
)
from ccrag.web.page.trace_picture import TracePicture, picture_of

DOCUMENT = "/document"


@dataclass(frozen=True, slots=True)
class CitationView:
    """A citation: its number, and where a click leads."""

    number: int
    href: str
    label: str


@dataclass(frozen=True, slots=True)
class SentenceView:
    """A sentence of the answer."""

    text: str
    cites: tuple[CitationView, ...]
    supported: bool | None


@dataclass(frozen=True, slots=True)
class QuoteView:
    """Words of a document, and where a click leads."""

    text: str
    href: str
    section: str
    start: int
    end: int
    used: bool
    """True where the answer rests on them."""


@dataclass(frozen=True, slots=True)
class ReferenceView:
    """A cited document with the quotes the answer used."""

    number: int
    doc_id: str
    title: str
    date: str | None
    href: str
    quotes: tuple[QuoteView, ...]


@dataclass(frozen=True, slots=True)
class AnswerView:
    """An answer with its sources and its trace."""

    query: str
    abstained: bool
    weakness: str | None
    """Why the evidence is weak, if it is."""
    sentences: tuple[SentenceView, ...]
    references: tuple[ReferenceView, ...]
    evidence: tuple[QuoteView, ...]
    variants: tuple[tuple[str, str], ...]
    picture: TracePicture
    notes: tuple[tuple[str, str], ...]
    seconds: tuple[tuple[str, str], ...]
    total: str


def _weakness(strength: StrengthRecord | None) -> str | None:
    return strength["reason"] if strength is not None and strength["level"] == "weak" else None


def answer_view(record: QueryRecord, index: str) -> AnswerView:
    """
    Return the view of an answer with its trace, as `result_json` or a run's provenance tells it.

    Args:
        index: where its documents can be opened.
    """
    evidence = {item["evidence_id"]: item for item in record["evidence"]}
    used = [e for sentence in record["answer"] for e in sentence["evidence"]]
    passages = {place["doc_id"]: place for place in record["read"]}
    seconds = record["seconds"]
    return AnswerView(
        query=record["query"],
        abstained=record["abstained"],
        weakness=_weakness(record.get("strength")),
        sentences=tuple(
            _sentence(s, record["references"], evidence, passages, index) for s in record["answer"]
        ),
        references=tuple(
            _reference(number, doc_id, passages, [evidence[e] for e in used], index)
            for number, doc_id in enumerate(record["references"], start=1)
        ),
        evidence=tuple(
            _quote(item, index, used=item["evidence_id"] in used) for item in record["evidence"]
        ),
        variants=tuple((variant["name"], variant["text"]) for variant in record["variants"]),
        picture=picture_of(record),
        notes=tuple((note["stage"], note["message"]) for note in record["notes"]),
        seconds=tuple((stage, _milliseconds(took)) for stage, took in seconds.items()),
        total=_milliseconds(sum(seconds.values())),
    )


def document_href(index: str, doc_id: str, spans: Iterable[tuple[int, int]] = ()) -> str:
    """Return where a document opens, at the first of its highlighted spans."""
    written = [("span", f"{start}-{end}") for start, end in spans]
    query = urlencode([("index", index), ("doc_id", doc_id), *written])
    return f"{DOCUMENT}?{query}{'#span' if written else ''}"


def _sentence(
    sentence: SentenceRecord,
    references: Sequence[str],
    evidence: Mapping[str, EvidenceRecord],
    passages: Mapping[str, PassageRecord],
    index: str,
) -> SentenceView:
    cites = []
    for citation in sentence["citations"]:
        doc_id = references[citation]
        spans = [
            (evidence[e]["start"], evidence[e]["end"])
            for e in sentence["evidence"]
            if evidence[e]["doc_id"] == doc_id
        ]
        label = f"source {citation + 1}: {_title(doc_id, passages)}"
        cites.append(CitationView(citation + 1, document_href(index, doc_id, spans), label))
    return SentenceView(sentence["text"], tuple(cites), sentence.get("supported"))


def _reference(
    number: int,
    doc_id: str,
    passages: Mapping[str, PassageRecord],
    used: Sequence[EvidenceRecord],
    index: str,
) -> ReferenceView:
    own = {item["evidence_id"]: item for item in used if item["doc_id"] == doc_id}
    spans = [(item["start"], item["end"]) for item in own.values()]
    return ReferenceView(
        number=number,
        doc_id=doc_id,
        title=_title(doc_id, passages),
        date=passages[doc_id]["date"] if doc_id in passages else None,
        href=document_href(index, doc_id, spans),
        quotes=tuple(_quote(item, index, used=True) for item in own.values()),
    )


def _quote(item: EvidenceRecord, index: str, *, used: bool) -> QuoteView:
    span = (item["start"], item["end"])
    return QuoteView(
        text=item["text"],
        href=document_href(index, item["doc_id"], [span]),
        section=" › ".join(item["section"]),
        start=item["start"],
        end=item["end"],
        used=used,
    )


def _title(doc_id: str, passages: Mapping[str, PassageRecord]) -> str:
    return (passages[doc_id]["title"] if doc_id in passages else "") or doc_id


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.1f} ms"
