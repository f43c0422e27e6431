"""Runs and gold data from files."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import orjson

from ccrag.errors import InputError
from ccrag.evaluation import mtrag
from ccrag.evaluation.gold import Gold, GoldQuote
from ccrag.evaluation.records import by_query, checked_records, not_empty, required_query_id
from ccrag.evaluation.rundata import PassageSpan, Ranked, RunAnswer, RunData, RunSentence
from ccrag.evaluation.validate.jsonl import JsonlRecord
from ccrag.evaluation.validate.shape import Kinds, is_whole, items, shape_problems
from ccrag.formats.plain_files import file_bytes
from ccrag.formats.provenance import EvidenceRecord, QueryRecord
from ccrag.formats.run_folder import PROVENANCE, RESPONSES, TREC_RUN
from ccrag.formats.trec_run import QrelsByQuery, merge_qrels, read_qrels, read_run
from ccrag.types import Evidence, QueryId

RESPONSE_KINDS: Kinds = {"references": "a list", "answer": "a list"}
SENTENCE_KINDS: Kinds = {"citations": "a list"}
OUTSIDE = -1
"""The index of a cited id that is not among the references; it never resolves."""


def read_run_data(path: Path, *, name: str | None = None) -> RunData:
    """
    Return a run: a folder (`responses.jsonl`, `run.trec`, `provenance.json`, any of them), a file
    of responses or of MTRAGEval predictions (`.jsonl`), or a TREC run (any other name).

    Args:
        name: what to call it; None: the folder's or file's name without suffix.

    Raises:
        InputError: nothing of a run is there, a file of it cannot be read, or provenance tells
            of other answers than the responses.
    """
    if path.is_dir():
        return _read_folder(path, name or path.resolve().name)
    if path.suffix == ".jsonl" and mtrag.is_task_file(path):
        told, rankings = mtrag.read_predictions(path)
        return RunData(name or path.stem, answers=told, rankings=rankings)
    if path.suffix == ".jsonl":
        return RunData(name or path.stem, answers=_read_responses(path))
    return RunData(name or path.stem, rankings=_read_rankings(path))


def read_runs(paths: Sequence[Path]) -> list[RunData]:
    """
    Return several runs, each called by its folder's or file's name, or by its path where names
    repeat.

    Raises:
        InputError: as `read_run_data`, or one path is given twice.
    """
    runs = [read_run_data(path) for path in paths]
    counts = Counter(run.name for run in runs)
    named = [
        run if counts[run.name] == 1 else replace(run, name=str(path))
        for path, run in zip(paths, runs, strict=True)
    ]
    for name, count in Counter(run.name for run in named).items():
        if count > 1:
            raise InputError(f"run {name} is given twice; leave one out")
    return named


def read_gold(
    queries: Mapping[QueryId, str],
    *,
    answers: Path | None = None,
    qrels: Path | None = None,
    quotes: Path | None = None,
    answerable: Path | None = None,
) -> Gold:
    """Return what is known about `queries`, from the files given; no texts of documents yet."""
    return Gold(
        queries,
        answers=mtrag.with_ids_of(queries, read_gold_answers(answers)) if answers else None,
        qrels=mtrag.with_ids_of(queries, read_judgements(qrels)) if qrels else None,
        quotes=read_quotes(quotes) if quotes else None,
        answerable=mtrag.with_ids_of(queries, read_answerable(answerable)) if answerable else None,
    )


def read_judgements(path: Path) -> QrelsByQuery:
    """
    Return relevance judgements: TREC or TSV, all such files of a folder, or tasks with `relevant`.
    """
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if _is_qrels(file))
        if not files:
            raise InputError("no judgements in this folder; expected .tsv, .txt, .qrels", path=path)
        return merge_qrels(files)
    return mtrag.read_relevant(path) if mtrag.is_task_file(path) else read_qrels(path)


def _is_qrels(file: Path) -> bool:
    name = file.name.removesuffix(".gz")
    return file.is_file() and Path(name).suffix in (".tsv", ".txt", ".qrels")


def read_gold_answers(path: Path) -> dict[QueryId, str]:
    """JSONL `query_id, gold_answer`; or tasks with `targets`."""
    if mtrag.is_task_file(path):
        return mtrag.read_targets(path)
    kinds: Kinds = {"gold_answer": "a non-empty string"}
    return not_empty(path, by_query(path, kinds, lambda r: str(r.value["gold_answer"])))


def read_quotes(path: Path) -> dict[QueryId, tuple[GoldQuote, ...]]:
    """JSONL `query_id, doc_id, quote`, one quote a line."""
    quotes: dict[QueryId, tuple[GoldQuote, ...]] = {}
    kinds: Kinds = {
        "doc_id": "a non-empty string or a whole number",
        "quote": "a non-empty string",
    }
    for record in checked_records(path, kinds):
        query_id = required_query_id(path, record)
        quote = GoldQuote(str(record.value["doc_id"]).strip(), str(record.value["quote"]))
        if quote not in quotes.get(query_id, ()):
            quotes[query_id] = (*quotes.get(query_id, ()), quote)
    return not_empty(path, quotes)


def read_answerable(path: Path) -> dict[QueryId, bool]:
    """JSONL `query_id, answerable`; or tasks with `answerability`."""
    if mtrag.is_task_file(path):
        return mtrag.read_answerability(path)
    kinds: Kinds = {"answerable": "true or false"}
    return not_empty(path, by_query(path, kinds, lambda r: r.value["answerable"] is True))


def _read_folder(folder: Path, name: str) -> RunData:
    responses, trec, provenance = (folder / file for file in (RESPONSES, TREC_RUN, PROVENANCE))
    if not any(path.exists() for path in (responses, trec, provenance)):
        raise InputError(
            f"no run in this folder; expected {RESPONSES}, {TREC_RUN} or {PROVENANCE}", path=folder
        )
    answers = _read_responses(responses) if responses.exists() else None
    records = _read_provenance(provenance) if provenance.exists() else None
    if records is not None:
        answers = _joined(provenance, answers, records)
    return RunData(
        name,
        answers=answers,
        rankings=_read_rankings(trec) if trec.exists() else None,
        provenance=records,
    )


def _read_rankings(path: Path) -> dict[QueryId, Ranked]:
    return {query_id: tuple(ranked) for query_id, ranked in read_run(path).items()}


def _read_responses(path: Path) -> dict[QueryId, RunAnswer]:
    return by_query(path, RESPONSE_KINDS, lambda record: response_of(path, record))


def response_of(path: Path, record: JsonlRecord) -> RunAnswer:
    """
    Return the answer of one record of TREC RAG or LongEval.

    Raises:
        InputError: it is none; names the line.
    """
    for message in shape_problems(record.value, RESPONSE_KINDS):
        raise InputError(message, path=path, line=record.line)
    references = tuple(map(str, items(record.value["references"])))
    sentences: list[RunSentence] = []
    for position, sentence in enumerate(items(record.value["answer"])):
        try:
            sentences.append(_sentence(sentence, references))
        except InputError as error:
            problem = f"answer[{position}]: {error.problem}; `ccrag validate` lists all such faults"
            raise InputError(problem, path=path, line=record.line) from error
    return RunAnswer(tuple(sentences), references, abstained=not references)


def _sentence(value: object, references: Sequence[str]) -> RunSentence:
    for message in shape_problems(value, SENTENCE_KINDS):
        raise InputError(message)
    text = value.get("text") if isinstance(value, Mapping) else None
    if not isinstance(text, str) or not isinstance(value, Mapping):
        raise InputError("text must be a string")
    return RunSentence(text, tuple(_citation(c, references) for c in items(value["citations"])))


def _citation(value: object, references: Sequence[str]) -> int:
    """Return the index a citation is, or that of the id it is."""
    if is_whole(value):
        return value
    if isinstance(value, str):
        return references.index(value) if value in references else OUTSIDE
    raise InputError(f"citation {value!r} is neither an index nor an id")


def _read_provenance(path: Path) -> dict[QueryId, QueryRecord]:
    try:
        records = orjson.loads(file_bytes(path))["queries"]
        return {record["query_id"]: record for record in records}
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise InputError(f"is not the provenance of a run ({error!r})", path=path) from error


def _joined(
    path: Path, answers: Mapping[QueryId, RunAnswer] | None, records: Mapping[QueryId, QueryRecord]
) -> dict[QueryId, RunAnswer]:
    """
    Return the answers with what provenance tells of them; without responses, what it tells alone.
    """
    try:
        known = {query_id: _recorded_answer(record) for query_id, record in records.items()}
    except (KeyError, TypeError) as error:
        raise InputError(f"is not the provenance of a run ({error!r})", path=path) from error
    if answers is None:
        return known
    joined: dict[QueryId, RunAnswer] = {}
    for query_id, answer in answers.items():
        other = known.get(query_id)
        if other is not None and _cited(answer) != _cited(other):
            problem = f"tells of another answer to query {query_id!r} than {RESPONSES}; run again"
            raise InputError(problem, path=path)
        joined[query_id] = answer if other is None else _completed(answer, other)
    return joined


def _recorded_answer(record: QueryRecord) -> RunAnswer:
    sentences = tuple(
        RunSentence(sentence["text"], tuple(sentence["citations"]), tuple(sentence["evidence"]))
        for sentence in record["answer"]
    )
    return RunAnswer(
        sentences,
        tuple(record["references"]),
        abstained=record["abstained"],
        evidence=tuple(_evidence(item) for item in record["evidence"]),
        read=tuple(
            PassageSpan(item["doc_id"], item["start"], item["end"]) for item in record["read"]
        ),
        ranked=tuple(PassageSpan(*item) for item in record["ranked"])
        if "ranked" in record
        else None,
        selected=len(record.get("selected", ())),
    )


def _evidence(item: EvidenceRecord) -> Evidence:
    return Evidence(
        evidence_id=item["evidence_id"],
        passage_id=item["passage_id"],
        doc_id=item["doc_id"],
        section=tuple(item["section"]),
        start=item["start"],
        end=item["end"],
        text=item["text"],
        score=item["score"],
    )


def _cited(answer: RunAnswer) -> tuple[tuple[str, ...], list[tuple[int, ...]]]:
    return answer.references, [sentence.citations for sentence in answer.sentences]


def _completed(answer: RunAnswer, told: RunAnswer) -> RunAnswer:
    """Return `told` with the sentences' text as it was submitted."""
    sentences = (
        replace(sentence, text=submitted.text)
        for sentence, submitted in zip(told.sentences, answer.sentences, strict=True)
    )
    return replace(told, sentences=tuple(sentences))
