"""Results as text for a terminal. Documents are hostile: their control characters never get out."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ccrag.chat.exchanges import Exchange
from ccrag.chat.session import ReadableDocuments
from ccrag.formats.provenance import CallRecord, EvidenceRecord, QueryRecord
from ccrag.runs.provenance import passage_json, ranking_json, result_json
from ccrag.types import DocId, Evidence, Passage, PassageId, Result

SNIPPET_CHARS = 240
WIDTH_WITHOUT_TERMINAL = 100


def console() -> Console:
    """stdout, coloured only for a terminal; wide enough lines when it is not one."""
    terminal = Console()
    return terminal if terminal.is_terminal else Console(width=WIDTH_WITHOUT_TERMINAL)


def clean(text: str) -> str:
    """White space collapsed, control characters replaced: no text steers the terminal."""
    return "".join(
        c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.split())
    )


def print_answer(result: Result, *, explain: bool) -> None:
    """The answer's sentences with [n], then each reference with its quoted evidence."""
    parts: list[RenderableType] = [*_weakness(result), _answer_text(result)]
    parts += [_reference(result, at, doc_id) for at, doc_id in enumerate(result.answer.references)]
    if explain:
        parts += _explanation(result_json(result))
    console().print(Group(*parts))


def print_hits(result: Result, *, top_n: int, explain: bool) -> None:
    """The best passages: rank, score, where they stand, and how they begin."""
    parts: list[RenderableType] = []
    for rank, hit in enumerate(result.ranking.hits[:top_n], start=1):
        passage = result.passages.get(hit.passage_id)
        line = Text.assemble((f"{rank:>3}. ", "bold"), (f"{hit.score:.4f}  ", "dim"))
        line.append(_place(passage) if passage else clean(hit.passage_id))
        parts.append(line)
        if passage:
            parts.append(Padding(Text(_snippet(passage.text), style="dim"), (0, 0, 0, 5)))
    if not parts:
        parts.append(Text("no passage of the candidates matches"))
    if explain:
        parts += _explanation(result_json(result))
    console().print(Group(*parts))


def search_json(result: Result, *, top_n: int, explain: bool) -> dict[str, Any]:
    """The ranking and its best passages with text; with `explain`, the trace too."""
    best = [hit.passage_id for hit in result.ranking.hits[:top_n]]
    found = [result.passages[passage_id] for passage_id in best if passage_id in result.passages]
    shown = {
        "query": result.query.text,
        "ranking": ranking_json(result.ranking.top(top_n)),
        "passages": [{**passage_json(passage), "text": passage.text} for passage in found],
    }
    if explain:
        whole = result_json(result)
        shown |= {key: whole[key] for key in ("variants", "rankings", "notes", "seconds", "calls")}
    return shown


def _weakness(result: Result) -> list[RenderableType]:
    """A line before an answer whose evidence does not match the question, or that has none."""
    strength = result.answer.strength
    if strength is None or strength.level == "strong":
        return []
    if not result.ranking.hits:
        return [Text("no passage of the candidates was found for this question", style="yellow")]
    weak = "weak evidence: " if strength.level == "weak" else ""
    return [Text(f"{weak}{clean(strength.reason)}", style="yellow")]


def _answer_text(result: Result) -> Text:
    text = Text()
    for sentence in result.answer.sentences:
        numbers = "".join(f"[{citation + 1}]" for citation in sentence.citations)
        text.append(clean(sentence.text))
        if sentence.supported is False:
            text.append(" (its evidence does not hold this)", style="yellow")
        text.append(f" {numbers}\n" if numbers else "\n", style="bold cyan")
    return text


def _reference(result: Result, at: int, doc_id: DocId) -> RenderableType:
    """One reference: title, date, id, and every quote the answer used from it, with its place."""
    used = {evidence_id for s in result.answer.sentences for evidence_id in s.evidence_ids}
    quotes = [e for e in result.answer.evidence if e.doc_id == doc_id and e.evidence_id in used]
    passage = result.passages[quotes[0].passage_id]
    head = Text.assemble((f"[{at + 1}] ", "bold cyan"), (clean(passage.title) or doc_id, "bold"))
    if passage.date:
        head.append(f"  {clean(passage.date)[:10]}", style="dim")
    head.append(f"  {clean(doc_id)}", style="dim")
    return Group(head, *(_quote(evidence) for evidence in quotes))


def _quote(evidence: Evidence) -> RenderableType:
    text = Text.assemble(
        ("“" + clean(evidence.text) + "”", "italic"),
        (f"  {_section(evidence.section)}characters {evidence.start}–{evidence.end}", "dim"),
    )
    return Padding(text, (0, 0, 0, 4))


def _section(path: Iterable[str]) -> str:
    names = " › ".join(map(clean, path))
    return f"{names}, " if names else ""


def _place(passage: Passage) -> str:
    title = f" {clean(passage.title)}" if passage.title else ""
    where = f"{_section(passage.section)}{passage.start}–{passage.end}"
    return f"{clean(passage.doc_id)}{title} ({where})"


def _snippet(text: str) -> str:
    shown = clean(text)
    return shown if len(shown) <= SNIPPET_CHARS else shown[:SNIPPET_CHARS] + "…"


def print_trace(exchange: Exchange) -> None:
    """Print how an answer of a dialogue came about, under its question."""
    question = Text.assemble(("Question  ", "bold"), clean(exchange.question))
    earlier = Text(f"asked after {exchange.turns_read} earlier turns", style="dim")
    console().print(Group(question, earlier, *_explanation(exchange.record)))


def print_documents(readable: ReadableDocuments) -> None:
    """The documents a chat may read, a line each, `*` before those that were cited."""
    cited = "; * is cited in this dialogue" if readable.cited else ""
    table = Table(show_header=False, box=None, pad_edge=False)
    for document in readable.documents:
        mark = "*" if document.doc_id in readable.cited else ""
        table.add_row(mark, clean(document.doc_id), clean(document.title))
    parts: list[RenderableType] = [
        Text(f"documents to read: {readable.total}{cited}", style="dim"),
        table if readable.documents else Text("no title holds these words"),
    ]
    if readable.has_more:
        parts.append(Text("… and others: /docs WORDS finds them by title", style="dim"))
    console().print(Group(*parts))


def _explanation(record: QueryRecord) -> list[RenderableType]:
    """Variants, ranks of the passages read, evidence, notes, model calls, seconds."""
    variants = Table(title="Variants", title_justify="left", show_header=False, box=None)
    for variant in record["variants"]:
        variants.add_row(variant["name"], clean(variant["text"]))
    notes = [Text(f"{note['stage']}: {clean(note['message'])}") for note in record["notes"]]
    seconds = ", ".join(f"{s} {t * 1000:.1f} ms" for s, t in record["seconds"].items())
    calls = [Text(_call(call), style="dim") for call in record["calls"]]
    tables = [
        part
        for table in (_ranks(record), *_spans(record), *_answerability(record))
        for part in (Text(), table)
    ]
    rest = [Text(), *notes, *calls, Text(seconds, style="dim")]
    return [Text(), variants, *tables, *rest]


def _answerability(record: QueryRecord) -> list[RenderableType]:
    """Return the decision whether the candidates answer, with the heaviest features first."""
    decision = record.get("answerability")
    if decision is None:
        return []
    does = "abstains" if decision["abstains"] else "answers"
    table = Table(
        title=f"Do the candidates answer? {does}: probability {decision['probability']:.2f} that "
        f"they do not, abstention from {decision['threshold']:g} "
        f"({clean(decision['calibration'])})",
        title_justify="left",
        box=None,
    )
    for name in ("feature", "value", "against an answer (+)"):
        table.add_column(name, justify="left" if name == "feature" else "right")
    weighed = sorted(decision["contributions"].items(), key=lambda item: -abs(item[1]))
    for name, added in weighed:
        table.add_row(clean(name), f"{decision['features'][name]:.3f}", f"{added:+.2f}")
    return [table]


def _call(call: CallRecord) -> str:
    """One line on a call to a language model."""
    tokens = "tokens not counted"
    if call["prompt_tokens"] is not None:
        tokens = f"{call['prompt_tokens']} + {call['completion_tokens']} tokens"
    known = ", known before" if call["cached"] else ""
    named = f"{call['model']} ({call['prompt']})"
    return clean(f"{named}: {tokens}{known}, request {call['digest'][:12]}")


def _ranks(record: QueryRecord) -> Table:
    table = Table(title="Rank of each passage read, by stage", title_justify="left", box=None)
    table.add_column("")
    table.add_column("passage")
    ranks: dict[PassageId, dict[str, int]] = defaultdict(dict)
    for ranking in record["rankings"]:
        table.add_column(ranking["stage"].removeprefix("bm25:"), justify="right")
        for rank, (passage_id, _) in enumerate(ranking["hits"], start=1):
            ranks[passage_id][ranking["stage"]] = rank
    numbers = {item["passage_id"]: _number(item, record) for item in _used(record)}
    for place in record["read"]:
        own = ranks[place["passage_id"]]
        cells = (str(own.get(ranking["stage"], "–")) for ranking in record["rankings"])
        passage_id = place["passage_id"]
        table.add_row(numbers.get(passage_id, ""), clean(passage_id), *cells)
    return table


def _spans(record: QueryRecord) -> list[Table]:
    """The evidence that the answer rests on, if there is any."""
    table = Table(title="Evidence of the answer", title_justify="left", box=None, expand=True)
    table.add_column("")
    table.add_column("passage")
    table.add_column("characters", justify="right")
    table.add_column("score", justify="right")
    used = _used(record)
    is_learnt = any("reasons" in item for item in used)
    if is_learnt:
        table.add_column("chosen by")
    table.add_column("text", no_wrap=True, overflow="ellipsis", ratio=1)
    for item in used:
        where = f"{item['start']}–{item['end']}"
        row = (_number(item, record), clean(item["passage_id"]), where, f"{item['score']:.4g}")
        why = next((f"{name} {value:+.1f}" for name, value in item.get("reasons", ())), "")
        table.add_row(*row, *([why] if is_learnt else []), clean(item["text"]))
    return [table] if table.rows else []


def _used(record: QueryRecord) -> list[EvidenceRecord]:
    """The evidence that a sentence of the answer names, in its order."""
    used = {evidence_id for sentence in record["answer"] for evidence_id in sentence["evidence"]}
    return [item for item in record["evidence"] if item["evidence_id"] in used]


def _number(evidence: EvidenceRecord, record: QueryRecord) -> Text:
    """Return the number by which the answer cites the document of the evidence."""
    return Text(f"[{record['references'].index(evidence['doc_id']) + 1}]", style="bold cyan")
