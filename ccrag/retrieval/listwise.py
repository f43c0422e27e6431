"""
A shortlist in the order that a language model gives it, all passages of a window read at once.

Pure: who is asked is the caller's. The model sees the question and the passages under labels of
their own, no document ids; its reply decides their order and nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ccrag.errors import ModelError
from ccrag.llm.calls import AskModel, call_record
from ccrag.llm.prompts import Prompt
from ccrag.llm.quote import quoted, quoted_object
from ccrag.llm.reply import ChatReply
from ccrag.llm.request import ChatParameters, ChatRequest, ReplySchema, closed_object
from ccrag.retrieval.lookup import passages_of
from ccrag.retrieval.order_reply import Order, label, read_order
from ccrag.text.tokens import estimate_tokens
from ccrag.types import Hit, ModelCall, Note, Passage, PassageId, Ranking

STAGE = "rerank"
TITLE_SHARE = 4
"""A title takes at most so large a part (one in four) of what a passage may take."""


@dataclass(frozen=True, slots=True)
class Listwise:
    """The settings of listwise reranking: all that decides a request."""

    prompt: Prompt
    parameters: ChatParameters
    window_tokens: int
    """Of the passages in one request, by estimate; a passage is cut at half of it."""


@dataclass(slots=True)
class Reranked:
    """A shortlist in a new order, or why it has none; and what that took."""

    ranking: Ranking | None = None
    """None: see `failure`."""
    failure: str | None = None
    notes: list[Note] = field(default_factory=list)
    calls: list[ModelCall] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _ShownPassage:
    """A passage as the model sees it."""

    title: str
    text: str
    tokens: int
    cut: bool

    def line(self, name: str) -> str:
        """Return one JSON object on one line that nothing in it can end."""
        title = {"title": self.title} if self.title else {}
        return quoted_object({"id": name, **title, "text": self.text})


def rerank_listwise(
    fused: Ranking,
    *,
    passages: Mapping[PassageId, Passage],
    question: str,
    listwise: Listwise,
    ask: AskModel,
) -> Reranked:
    """
    Order the passages of `fused` as `ask` does; with fewer than two nobody is asked.

    Passages that exceed `window_tokens` are read in windows from the last to the first, as RankGPT
    does (Sun et al., 2023): each begins with the best of the one before, at most half of it, so
    that what is good moves up as far as it deserves. Scores are places: n, n - 1, …, 1.

    When a call fails or a reply names no passage, there is no ranking: windows of which some are
    ordered and some are not are no order. What was repaired in replies is noted.

    Raises:
        InvariantError: a passage of `fused` is missing from `passages`.
    """
    done = Reranked()
    shown = _shown(passages_of(fused.hits, passages), listwise.window_tokens // 2)
    order, end = list(fused.hits), len(fused)
    cut = sum(item.cut for item in shown.values())
    if cut and end > 1:
        limit = "half of rerank.window_tokens"
        done.notes.append(Note(STAGE, f"{cut} passages are cut for the model, at {limit}"))
    while end > 1:
        sizes = [shown[hit.passage_id].tokens for hit in order]
        start = _window_start(sizes, end, listwise.window_tokens)
        lines = [shown[hit.passage_id] for hit in order[start:end]]
        found = _ordered(lines, question, listwise, ask, done)
        if found is None:
            return done
        order[start:end] = [order[start + place] for place in found.places]
        if start == 0:
            break
        sizes = [shown[hit.passage_id].tokens for hit in order]
        end = start + _carried(sizes, start, end, listwise.window_tokens)
    placed = (Hit(h.passage_id, h.doc_id, float(len(order) - at)) for at, h in enumerate(order))
    done.ranking = Ranking.of(fused.query_id, STAGE, placed)
    return done


def listwise_request(lines: Sequence[str], question: str, listwise: Listwise) -> ChatRequest:
    """
    Return the request that asks for an order of passages, given as the lines they are shown in.
    """
    names = [label(place) for place in range(len(lines))]
    messages = listwise.prompt.messages(
        question=quoted(question), passages=list(lines), count=len(lines)
    )
    order = {"type": "array", "items": {"type": "string", "enum": names}}
    schema = ReplySchema("order", closed_object({"order": order}))
    return ChatRequest(
        messages,
        listwise.parameters,
        schema,
        listwise.prompt.label,
        readable=lambda text: read_order(text, len(lines)).readable,
    )


def _ordered(
    window: Sequence[_ShownPassage],
    question: str,
    listwise: Listwise,
    ask: AskModel,
    done: Reranked,
) -> Order | None:
    """Return the order of one window; None when there is none, and `done` says why."""
    lines = [item.line(label(place)) for place, item in enumerate(window)]
    request = listwise_request(lines, question, listwise)
    try:
        reply = ask(request)
    except ModelError as error:
        done.failure = str(error)
        return None
    done.calls.append(call_record(request, reply))
    order, told = _read(reply, len(window))
    if not order.readable:
        done.failure = f"reply {len(done.calls)}: {'; '.join(told)}"
        return None
    done.notes += [Note(STAGE, f"reply {len(done.calls)}: {repair}") for repair in told]
    return order


def _read(reply: ChatReply, count: int) -> tuple[Order, list[str]]:
    if reply.fault is not None:
        return Order(tuple(range(count)), readable=False), [reply.fault]
    order = read_order(reply.text, count)
    return order, list(order.repairs)


def _window_start(sizes: Sequence[int], end: int, budget: int) -> int:
    """Return where the longest window that ends at `end` and fits begins; any two passages fit."""
    start, total = end, 0
    while start > 0 and total + sizes[start - 1] <= budget:
        start -= 1
        total += sizes[start]
    return start


def _carried(sizes: Sequence[int], start: int, end: int, budget: int) -> int:
    """
    Return how many of a window's best the next one ends with: up to half, with room for one more.
    """
    room = budget - sizes[start - 1] - sizes[start]
    carried = 1
    while carried < (end - start) // 2 and sizes[start + carried] <= room:
        room -= sizes[start + carried]
        carried += 1
    return carried


def _shown(passages: Sequence[Passage], max_tokens: int) -> dict[PassageId, _ShownPassage]:
    return {passage.passage_id: _show(passage, max_tokens) for passage in passages}


def _show(passage: Passage, max_tokens: int) -> _ShownPassage:
    title = _fitting(passage.title, max_tokens // TITLE_SHARE)
    text = _fitting(passage.text, max_tokens - estimate_tokens(title))
    tokens = estimate_tokens(title) + estimate_tokens(text)
    return _ShownPassage(title, text, tokens, cut=(title, text) != (passage.title, passage.text))


def _fitting(text: str, max_tokens: int) -> str:
    """Return the beginning of `text` that is at most so long."""
    while (tokens := estimate_tokens(text)) > max_tokens:
        text = text[: len(text) * max_tokens // tokens]
    return text
