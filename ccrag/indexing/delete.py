"""
Deleting documents for good: from an index under every index spec, and from the caches on disk.

Cached are vectors, which are made of texts, and replies of language models, which quote them. What
is made of texts that other documents of the index have too stays.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ccrag.config import Settings
from ccrag.engine.client import Notify, open_client, silent
from ccrag.engine.stored import (
    Stored,
    clear_leftovers,
    require_stored,
    sources,
    stored_passages,
)
from ccrag.errors import InputError
from ccrag.indexing.builds import candidate_settings, existing_builds
from ccrag.indexing.passages import EncodingCounts
from ccrag.indexing.update import Update, check_stored
from ccrag.llm.cache import drop_replies
from ccrag.llm.client import default_reply_folder
from ccrag.llm.quote import quoted
from ccrag.models.cache import VectorCache, key_of
from ccrag.models.encoder import default_cache_folder, load_encoder
from ccrag.retrieval.linked import Pool
from ccrag.text.markup import plain, text_of_passages
from ccrag.types import DocId, Passage

MIN_QUOTED_CHARS = 20
"""A shorter sentence in a cached reply's request does not show which document it came from."""


@dataclass(frozen=True, slots=True)
class DeletionReport:
    """Counts of all that was deleted."""

    documents: int
    absent: tuple[DocId, ...]
    """Ids the index does not hold: deleted before, or never in it."""
    items: dict[str, int]
    """Documents, passages and unit parts deleted, by alias."""
    dropped: tuple[str, ...]
    """Aliases of units that cannot be made without the deleted documents: dropped as a whole."""
    vectors: int
    """Cached vectors of texts that no other document of the index has."""
    replies: int
    """Cached replies of a language model that was shown such texts."""


def delete_documents(
    name: str, doc_ids: Sequence[DocId], settings: Settings, *, notify: Notify = silent
) -> DeletionReport:
    """
    Delete documents from the index `name`, wherever they or something made of them is stored.

    Links that other documents have to them go too, citation edges are counted anew, units made
    anew. What an interrupted load or deletion left behind goes as a whole. Ids the index does not
    hold are no error: the same deletion can be repeated until it succeeds.

    Raises:
        InputError: no id.
        IndexMissingError: there is no such index.
        IndexMismatchError: the index was built by another version; nothing is deleted.
        EngineError: a request failed; the index is as it was, and the command can be repeated.
        ModelError: a cache cannot be used; likewise.
    """
    wanted = tuple(dict.fromkeys(doc_ids))
    if not wanted:
        raise InputError("no document to delete was named")
    client = open_client(settings, notify=notify)
    stored = require_stored(client, name, consequence="nothing was deleted")
    clear_leftovers(client, name)
    check_stored(name, stored)
    # The caches go first: if a request fails later, repeating the command still finds the passages
    # whose texts they were made of.
    held = {doc_id for doc_id, _ in sources(client, stored[0].index, wanted, [])}
    absent = tuple(doc_id for doc_id in wanted if doc_id not in held)
    going = list(stored_passages(client, stored, sorted(held)))
    staying = (p for p in stored_passages(client, stored) if p.doc_id not in held)
    own = _not_in(texts_made_of(going, window=settings.linked.window), staying) if held else set()
    vectors = _forget_vectors(own, stored, settings) if held else 0
    sentences = {p.slice(span).strip() for p in going for span in p.sentences} & own
    replies = drop_replies(
        settings.provider.cache_folder or default_reply_folder(),
        [quoted(text)[1:-1] for text in sorted(sentences) if len(text) >= MIN_QUOTED_CHARS],
    )
    builds = existing_builds(
        name, stored, lambda: candidate_settings([settings]), load_encoder, for_adding=False
    )
    update = Update(client, name, stored, settings, removed=held)
    done = update.run(builds, EncodingCounts(), lambda _done, _total: None)
    items = {alias: -grown for alias, grown in done.items.items()}
    return DeletionReport(done.removed, absent, items, done.dropped, vectors, replies)


def _not_in(texts: set[str], passages: Iterable[Passage]) -> set[str]:
    """Return those of `texts` that none of `passages` has, whole or as a sentence."""
    shared = {text for passage in passages for text in texts_of(passage) if text in texts}
    return texts - shared


def _forget_vectors(texts: Collection[str], stored: Sequence[Stored], settings: Settings) -> int:
    """Drop the vectors of `texts`, by whatever model; returns how many there were."""
    folder = settings.encoder.cache_folder or default_cache_folder()
    prefixes = {"", settings.encoder.passage_prefix}
    prefixes |= {dict(item.meta.get("encoder", ())).get("passage_prefix", "") for item in stored}
    keys = [key_of(prefix, text) for prefix in sorted(prefixes) for text in texts]
    return sum(VectorCache(path).drop(keys) for path in sorted(folder.glob("*.sqlite")))


def texts_made_of(passages: Sequence[Passage], *, window: int) -> set[str]:
    """Return every text that a stage may encode of these passages: whole, by sentence, in runs."""
    texts = {text for passage in passages for text in texts_of(passage)}
    pool = Pool(passages, window=window)
    for sentence in pool.sentences:
        for run in pool.runs_around(sentence):
            texts |= {run, " ".join(f"{sentence.passage.title}. {run}".split())}
    return texts


def texts_of(passage: Passage) -> Iterator[str]:
    """Yield what may be encoded of one passage, but for runs."""
    yield passage.text
    yield from (text_of_passages(is_plain=is_plain)(passage) for is_plain in (False, True))
    for span in passage.sentences:
        text = passage.slice(span)
        yield from (text, text.strip(), " ".join(text.split()), plain(text))
