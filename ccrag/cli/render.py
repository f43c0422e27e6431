"""Results as text for a terminal. Documents are hostile: their control characters never get out."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ccrag.runs.provenance import passages_json, ranking_json, result_json
from ccrag.types import DocId, Evidence, ModelCall, Passage, PassageId, Result

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
    parts: list[RenderableType] = [_answer_text(result)]
    parts += [_reference(result, at, doc_id) for at, doc_id in enumerate(result.answer.references)]
    if explain:
        parts += _explanation(result)
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
        parts += _explanation(result)
    console().print(Group(*parts))


def search_json(result: Result, *, top_n: int, explain: bool) -> dict[str, Any]:
    """The ranking and its best passages with text; with `explain`, the trace too."""
    best = [hit.passage_id for hit in result.ranking.hits[:top_n]]
    found = [result.passages[passage_id] for passage_id in best if passage_id in result.passages]
    shown = {
        "query": result.query.text,
        "ranking": ranking_json(result.ranking.top(top_n)),
        "passages": passages_json(found),
    }
    if explain:
        whole = result_json(result)
        shown |= {key: whole[key] for key in ("variants", "rankings", "notes", "seconds", "calls")}
    return shown


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


def _explanation(result: Result) -> list[RenderableType]:
    """Variants, each stage's rank of the passages that were read, notes, model calls, seconds."""
    variants = Table(title="Variants", title_justify="left", show_header=False, box=None)
    for variant in result.trace.variants:
        variants.add_row(variant.name, clean(variant.text))
    notes = [Text(f"{note.stage}: {clean(note.message)}") for note in result.trace.notes]
    seconds = ", ".join(f"{s} {t * 1000:.1f} ms" for s, t in result.trace.seconds.items())
    calls = [Text(_call(call), style="dim") for call in result.trace.calls]
    return [Text(), variants, Text(), _ranks(result), *notes, *calls, Text(seconds, style="dim")]


def _call(call: ModelCall) -> str:
    """One line on a call to a language model."""
    tokens = "tokens not counted"
    if call.prompt_tokens is not None:
        tokens = f"{call.prompt_tokens} + {call.completion_tokens} tokens"
    known = ", known before" if call.cached else ""
    return clean(f"{call.model} ({call.prompt}): {tokens}{known}, request {call.digest[:12]}")


def _ranks(result: Result) -> Table:
    table = Table(title="Rank of each passage read, by stage", title_justify="left", box=None)
    table.add_column("passage")
    ranks: dict[PassageId, dict[str, int]] = defaultdict(dict)
    for ranking in result.trace.rankings:
        table.add_column(ranking.stage.removeprefix("bm25:"), justify="right")
        for rank, hit in enumerate(ranking, start=1):
            ranks[hit.passage_id][ranking.stage] = rank
    for passage_id in result.read:
        cells = (str(ranks[passage_id].get(r.stage, "–")) for r in result.trace.rankings)
        table.add_row(clean(passage_id), *cells)
    return table
