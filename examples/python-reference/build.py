"""
Writes a small collection to measure on: the language reference that every Python carries.

    python examples/python-reference/build.py OUT_DIR [QUESTIONS]

The documents are the topics of `help()` (`pydoc_data.topics`), text byte for byte. A topic links to

* each topic whose heading, or the heading of one of its sections, is named in its text. Sphinx
  printed a reference as the bare heading ("see section The try statement"), so a heading of two
  words or more counts wherever it stands, and a heading of one word ("Calls", "Lists") only behind
  "see", "section" or "chapter", or before "section", because such words also begin sentences;
* each topic that `pydoc.Helper` prints below it as a related help topic.

The questions are in questions.jsonl, next to this file, or in the file named. Another Python may
word a quoted sentence differently or lack a topic: such quotes and topics are left out and reported
on stderr.
"""

import json
import platform
import pydoc
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from pydoc_data import topics as pydoc_topics
from typing import Any

QUESTIONS = Path(__file__).with_name("questions.jsonl")

HEADING = re.compile(r"^(\S[^\n]*)\n([*=~-])\2{2,}$", re.MULTILINE)
"""A line and its underline; `*` underlines the topic's own heading, the others its sections."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence or two of `doc_id` that answer the question, white space as in questions.jsonl."""

    doc_id: str
    quote: str


@dataclass(frozen=True, slots=True)
class Question:
    """A hand-written question; without relevant documents its candidates do not answer it."""

    query_id: str
    query: str
    doc_ids: tuple[str, ...]
    evidence: tuple[Quote, ...]
    relevant: tuple[str, ...]
    answerable: bool


@dataclass(frozen=True, slots=True)
class Missing:
    """What this Python lacks, as `query_id (doc_id)`, in the order of the questions."""

    quotes: tuple[str, ...]
    documents: tuple[str, ...]


def load_questions(path: Path = QUESTIONS) -> list[Question]:
    """All questions, in the order of the file."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Question(
            query_id=record["query_id"],
            query=record["query"],
            doc_ids=tuple(record["doc_ids"]),
            evidence=tuple(Quote(**quote) for quote in record["evidence"]),
            relevant=tuple(record["relevant"]),
            answerable=record["answerable"],
        )
        for record in records
    ]


def headings(text: str) -> list[str]:
    """A topic's headings as references print them, its own first: without quotation marks."""
    return [match[1].replace('"', "") for match in HEADING.finditer(text)]


def title(text: str) -> str:
    """A topic's own heading, as it stands."""
    return text.split("\n", 1)[0]


def heading_owners(topics: Mapping[str, str]) -> dict[str, list[str]]:
    """
    Heading → topics a reference to it leads to.

    All topics that bear it as their own heading, or else the shortest one with such a section:
    long topics hold short ones whole.
    """
    owners: dict[str, list[str]] = {}
    for doc_id, text in sorted(topics.items()):
        for heading in headings(text)[:1]:
            owners.setdefault(heading, []).append(doc_id)
    for doc_id, text in sorted(topics.items(), key=lambda topic: (len(topic[1]), topic[0])):
        for heading in headings(text)[1:]:
            owners.setdefault(heading, [doc_id])
    return owners


def reference_pattern(heading: str) -> re.Pattern[str]:
    """What a reference to `heading` looks like in running text."""
    name = re.escape(heading)
    if " " in heading:
        return re.compile(rf"\b{name}(?!\w)")
    return re.compile(rf"\b(?:[Ss]ee|[Ss]ection|[Cc]hapter) {name}\b|\b{name} section\b")


def named_topics(topics: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(from, to) for each heading named in a topic's text, heading lines themselves left aside."""
    references = [
        (heading, reference_pattern(heading), owners)
        for heading, owners in heading_owners(topics).items()
    ]
    for doc_id, text in topics.items():
        running = " ".join(HEADING.sub("", text).split())
        for heading, pattern, owners in references:
            if heading in running and pattern.search(running):
                yield from ((doc_id, owner) for owner in owners)


def help_entry(name: str) -> tuple[str, ...] | None:
    """(topic, related names) of a help topic or keyword, aliases followed; None for other names."""
    entry = pydoc.Helper.topics.get(name) or pydoc.Helper.keywords.get(name)
    if isinstance(entry, str):
        return help_entry(entry) if entry != name else None
    return entry


def related_topics() -> Iterator[tuple[str, str]]:
    """(from, to) for each related help topic that `help()` prints."""
    for name in (*pydoc.Helper.topics, *pydoc.Helper.keywords):
        entry = help_entry(name)
        if entry is None:
            continue
        doc_id, related = entry
        targets = map(help_entry, related.split())
        yield from ((doc_id, target[0]) for target in targets if target is not None)


def documents(topics: Mapping[str, str]) -> list[dict[str, Any]]:
    """One record a topic, by id; links sorted, to existing topics, never to the topic itself."""
    links: dict[str, set[str]] = {doc_id: set() for doc_id in topics}
    for source, target in (*named_topics(topics), *related_topics()):
        if source in topics and target in topics and source != target:
            links[source].add(target)
    return [
        {"id": doc_id, "title": title(text), "text": text, "links": sorted(links[doc_id])}
        for doc_id, text in sorted(topics.items())
    ]


def find_quote(text: str, quote: str) -> str | None:
    """The first place of `text` that reads like `quote` but for white space, as it stands there."""
    match = re.search(r"\s+".join(map(re.escape, quote.split())), text)
    return match[0] if match else None


def missing(questions: Iterable[Question], topics: Mapping[str, str]) -> Missing:
    """Quotes that their topic does not hold (a lacking topic's too), and candidates not there."""
    quotes = [
        f"{question.query_id} ({quote.doc_id})"
        for question in questions
        for quote in question.evidence
        if find_quote(topics.get(quote.doc_id, ""), quote.quote) is None
    ]
    candidates = [
        f"{question.query_id} ({doc_id})"
        for question in questions
        for doc_id in question.doc_ids
        if doc_id not in topics
    ]
    return Missing(tuple(quotes), tuple(candidates))


def queries(questions: Iterable[Question], topics: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """What a system is given: a question and its candidates."""
    for question in questions:
        doc_ids = [doc_id for doc_id in question.doc_ids if doc_id in topics]
        yield {"query_id": question.query_id, "query": question.query, "doc_ids": doc_ids}


def quotes(questions: Iterable[Question], topics: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Gold evidence, each quote an exact substring of its document."""
    for question in questions:
        for quote in question.evidence:
            found = find_quote(topics.get(quote.doc_id, ""), quote.quote)
            if found is not None:
                yield {"query_id": question.query_id, "doc_id": quote.doc_id, "quote": found}


def qrels(questions: Iterable[Question], topics: Mapping[str, str]) -> Iterator[str]:
    """TREC lines of the relevant documents; a question that cannot be answered has none."""
    for question in questions:
        for doc_id in question.relevant:
            if doc_id in topics:
                yield f"{question.query_id} 0 {doc_id} 1"


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Writes `lines` as UTF-8, each ended by a line feed on every system."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def write_records(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Writes `records` as JSON, one a line."""
    write_lines(path, (json.dumps(record, ensure_ascii=False) for record in records))


def build(out: Path, topics: Mapping[str, str], path: Path = QUESTIONS) -> Missing:
    """
    Writes the five files into `out`, made if need be, with the questions of `path`.

    The same topics and questions give the same bytes.
    """
    questions = load_questions(path)
    out.mkdir(parents=True, exist_ok=True)
    write_records(out / "documents.jsonl", documents(topics))
    write_records(out / "queries.jsonl", queries(questions, topics))
    write_records(out / "quotes.jsonl", quotes(questions, topics))
    write_lines(out / "qrels.txt", qrels(questions, topics))
    write_records(
        out / "answerable.jsonl",
        ({"query_id": asked.query_id, "answerable": asked.answerable} for asked in questions),
    )
    return missing(questions, topics)


def report(lacking: Missing) -> str:
    """What was left out, for a person: two lines, counts before ids."""
    version = platform.python_version()
    kinds = {
        "quotes worded differently": lacking.quotes,
        "candidate topics missing": lacking.documents,
    }
    return "".join(
        f"Python {version}: {len(ids)} {kind}{': ' if ids else ''}{', '.join(ids)}\n"
        for kind, ids in kinds.items()
    )


def main(arguments: list[str]) -> int:
    """Builds into the directory named first; 2 when none is named, or no file of questions."""
    if len(arguments) not in (1, 2):
        sys.stderr.write("usage: python examples/python-reference/build.py OUT_DIR [QUESTIONS]\n")
        return 2
    out, path = Path(arguments[0]), Path(arguments[1]) if arguments[1:] else QUESTIONS
    if not path.is_file():
        sys.stderr.write(f"{path}: no such file of questions\n")
        return 2
    sys.stderr.write(report(build(out, pydoc_topics.topics, path)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
