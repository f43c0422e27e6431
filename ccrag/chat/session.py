"""
A chat: a library, its candidates, and a dialogue that goes on question by question.

The pipeline is opened once. A question that fails, or is given up, leaves the dialogue as it was.
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import get_args

import orjson
import platformdirs

from ccrag.chat.exchanges import Conversation, Exchange
from ccrag.chat.file import ChatFile
from ccrag.config import ChatSettings, PipelineSettings
from ccrag.config.stages import TurnVariantName
from ccrag.engine.indexes import Listed
from ccrag.errors import InputError
from ccrag.library import Library, make_query
from ccrag.runs.provenance import result_json
from ccrag.types import Candidates, DocId, Result

LISTED = 50
"""Documents that a list shows, besides those cited."""


@dataclass(frozen=True, slots=True)
class ChatOutcome:
    """The outcome of a question."""

    result: Result
    unsaved: InputError | None
    """Why the exchange is not in the file yet; it will be tried again with the next."""


@dataclass(frozen=True, slots=True)
class ReadableDocuments:
    """Documents that a chat may read."""

    documents: tuple[Listed, ...]
    cited: frozenset[DocId]
    total: int
    """Of all that may be read, listed or not."""
    has_more: bool
    """True where more documents match than are listed."""


class Chat:
    """A dialogue over the candidates of one library; one question at a time."""

    def __init__(
        self,
        library: Library,
        candidates: Candidates,
        *,
        file: ChatFile | None = None,
        history_words: int,
    ) -> None:
        """
        Go on with the dialogue in `file`, or begin one; without a file it is kept nowhere.

        Args:
            history_words: see `ChatSettings`.

        Raises:
            UnknownDocumentError, UnknownCollectionError: the index does not hold a candidate.
            InputError: the file is damaged, or over something else.
        """
        self._library = library
        self._history_words = history_words
        self._file = file
        self.candidates = library.pipeline.checked(make_query("?", candidates)).candidates
        held = set(self.candidates.doc_ids or ())
        self.left_out = tuple(d for d in candidates.doc_ids or () if d not in held)
        """Candidates that the index does not hold, where settings let them pass."""
        self.conversation = Conversation() if file is None else file.read()

    def ask(self, text: str) -> ChatOutcome:
        """
        Answer a question that may lean on the dialogue; the exchange becomes part of it.

        Raises:
            CcragError: no answer was had; the dialogue is as it was.
        """
        turns = self.conversation.recent_turns(max_words=self._history_words)
        result = self._library.ask(text, candidates=self.candidates, turns=turns)
        record = orjson.loads(orjson.dumps(result_json(result)))
        exchange = Exchange(record, turns_read=len(turns))
        unsaved: InputError | None = None
        if self._file is not None:
            try:
                self._file.append_exchange(exchange)
            except InputError as error:
                unsaved = error
        self.conversation = self.conversation.and_then(exchange)
        return ChatOutcome(result, unsaved)

    def begin_anew(self) -> None:
        """
        Forget the dialogue; its file keeps it.

        Raises:
            InputError: the file does not know yet; it will, with the next line written.
        """
        if not self.conversation.exchanges:
            return
        self.conversation = Conversation()
        if self._file is not None:
            self._file.append_new()

    def documents(self, words: str = "") -> ReadableDocuments:
        """
        Return the documents that may be read: those cited, then others by id.

        Args:
            words: only those whose title holds them, or whose id begins so; best first.

        Raises:
            EngineError: the engine failed.
        """
        index, cited = self._library.pipeline.index, self.conversation.cited()
        page = index.listed(self.candidates, text=words, size=LISTED)
        first = {doc_id: Listed(doc_id, title, None) for doc_id, title in cited.items()}
        listed = {document.doc_id: document for document in page.documents}
        shown = listed if words.strip() else first | listed
        return ReadableDocuments(
            documents=tuple(shown.values()),
            cited=frozenset(cited),
            total=self.total,
            has_more=page.after is not None,
        )

    @property
    def total(self) -> int:
        """Return how many documents may be read."""
        info, candidates = self._library.pipeline.index.info, self.candidates
        if candidates.doc_ids is not None:
            return len(candidates.doc_ids)
        if candidates.collection is not None:
            return info.collections[candidates.collection]
        return info.documents


def reads_turns(settings: PipelineSettings) -> bool:
    """Tell whether a pipeline searches or reads by a variant that earlier turns have a part in."""
    variants = {settings.variants.question, *settings.searched_variants}
    return not variants.isdisjoint(get_args(TurnVariantName))


def new_file(index: str, settings: ChatSettings, *, now: datetime) -> Path:
    """
    Return a file for a dialogue that none was named for; its folder is made.

    Raises:
        InputError: the folder cannot be made.
    """
    folder = settings.folder or platformdirs.user_data_path("ccrag", appauthor=False) / "chats"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", path=folder) from error
    return folder / f"{index}-{now:%Y%m%d-%H%M%S}.jsonl"
