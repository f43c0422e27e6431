"""Read answers that somebody wrote: shared-task records, or plain text; a JSON object a line."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ccrag.errors import InputError
from ccrag.evaluation.records import checked_records, query_id_of
from ccrag.evaluation.run_files import response_of
from ccrag.evaluation.validate.jsonl import JsonlRecord
from ccrag.evaluation.validate.shape import is_text, is_whole, items
from ccrag.text.sentences import split_sentences
from ccrag.types import Candidates, DocId


@dataclass(frozen=True, slots=True)
class WrittenSentence:
    """A sentence of an answer, with the documents that it cites."""

    text: str
    cited: tuple[DocId, ...] = ()


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """An answer, and the documents that may support it."""

    answer_id: str
    sentences: tuple[WrittenSentence, ...]
    candidates: Candidates
    question: str | None = None


def read_written(path: Path, candidates: Candidates | None) -> Iterator[WrittenAnswer]:
    """
    Yield the answers of a JSON Lines file.

    A record of TREC RAG or LongEval has `references` and `answer`; plain text has `id` and `text`,
    and may have `question`. Either may have `doc_ids`.

    Args:
        candidates: of every answer; None: a record's own `doc_ids` and references.

    Raises:
        InputError: the file cannot be read, or a line is no answer; names the line.
    """
    seen: dict[str, int] = {}
    for record in checked_records(path, {}):
        answer = _answer(path, record, candidates)
        if answer.answer_id in seen:
            raise InputError(
                f"answer {answer.answer_id!r} stands twice, first on line {seen[answer.answer_id]}",
                path=path,
                line=record.line,
            )
        seen[answer.answer_id] = record.line
        yield answer
    if not seen:
        raise InputError("holds no answer", path=path)


def _answer(path: Path, record: JsonlRecord, candidates: Candidates | None) -> WrittenAnswer:
    value = record.value
    given = value.get("id")
    answer_id = query_id_of(value) or (str(given) if is_text(given) or is_whole(given) else None)

    def wrong(problem: str) -> InputError:
        return InputError(problem, path=path, line=record.line)

    if answer_id is None or not ("answer" in value or is_text(value.get("text"))):
        raise wrong("is no answer: expected `references` and `answer`, or `id` and `text`")
    if not isinstance(value.get("doc_ids", []), list):
        raise wrong(f"answer {answer_id!r}: doc_ids must be a list of ids")
    sentences = _submitted(path, record) if "answer" in value else _plain(str(value["text"]))
    own = [*map(str, items(value.get("doc_ids"))), *map(str, items(value.get("references")))]
    if candidates is None and not own:
        raise wrong(
            f"answer {answer_id!r} names no document: give --docs, --docs-file, --collection or "
            "--all, or `doc_ids` in the record"
        )
    return WrittenAnswer(
        answer_id,
        sentences,
        candidates or Candidates.of(own, query_id=answer_id),
        _question(value),
    )


def _submitted(path: Path, record: JsonlRecord) -> tuple[WrittenSentence, ...]:
    answer = response_of(path, record)
    known = range(len(answer.references))
    for at, sentence in enumerate(answer.sentences):
        if any(citation not in known for citation in sentence.citations):
            raise InputError(
                f"answer[{at}] cites what is not among the {len(known)} references; "
                "`ccrag validate` lists all such faults",
                path=path,
                line=record.line,
            )
    return tuple(
        WrittenSentence(s.text, tuple(answer.references[c] for c in s.citations))
        for s in answer.sentences
    )


def _plain(text: str) -> tuple[WrittenSentence, ...]:
    found = (" ".join(text[s.start : s.end].split()) for s in split_sentences(text))
    return tuple(WrittenSentence(sentence) for sentence in found if sentence)


def _question(value: Mapping[str, object]) -> str | None:
    metadata = value.get("metadata")
    told = metadata.get("narrative") if isinstance(metadata, Mapping) else None
    found = next((v for v in (value.get("question"), value.get("topic"), told) if is_text(v)), None)
    return None if found is None else str(found)
