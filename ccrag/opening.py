"""Opening what a command works with, from settings: engine, index, models, pipeline."""

from ccrag.config import PipelineSettings, Settings
from ccrag.engine.client import Notify, open_client, silent
from ccrag.engine.index import IndexFacts, open_index
from ccrag.errors import IndexMismatchError
from ccrag.models.encoder import Encoder, encoder_identity, load_encoder
from ccrag.models.llm import Llm, load_llm
from ccrag.models.reranker import Reranker, load_reranker
from ccrag.pipeline import Pipeline, needs_llm, needs_query_vectors, needs_reranker
from ccrag.recipes import recipe_of


def open_pipeline(settings: Settings, name: str, *, notify: Notify = silent) -> Pipeline:
    """
    The pipeline of `settings` over the index `name`; starts the embedded node when needed.

    Raises:
        EngineError: no engine, no such index, or one that does not fit; the message says which
            command to run.
        ModelError: a model the pipeline needs cannot be had.
    """
    client = open_client(settings, notify=notify)
    index = open_index(client, name, recipe_of(settings), settings.engine, pipeline=settings.name)
    encoder = _query_encoder(settings, index.facts)
    return Pipeline(
        settings,
        index,
        encoder=encoder,
        reranker=open_reranker(settings),
        llm=open_llm(settings),
    )


def _query_encoder(settings: PipelineSettings, facts: IndexFacts) -> Encoder | None:
    if not needs_query_vectors(settings):
        return None
    encoder = load_encoder(settings.encoder)
    check_encoder(encoder, facts, pipeline=settings.name)
    return encoder


def check_encoder(encoder: Encoder, facts: IndexFacts, *, pipeline: str) -> None:
    """
    Let only the encoder that made an index's vectors encode its queries.

    Raises:
        IndexMismatchError: it is another one; the message says in what.
    """
    stored, asked = dict(facts.recipe.encoder), encoder_identity(encoder)
    if facts.recipe.vectors is None or stored == asked:
        return
    name = next(name for name in sorted(stored | asked) if stored.get(name) != asked.get(name))
    raise IndexMismatchError(
        f"index {facts.name!r} holds vectors of another encoder ({name} "
        f"{stored.get(name)!r}, here {asked.get(name)!r}); set encoder.model to it, or run: "
        f"ccrag index PATH... --index {facts.name} --pipeline {pipeline}"
    )


def open_reranker(settings: PipelineSettings) -> Reranker | None:
    """The cross-encoder, if a stage of `settings` asks one."""
    if not needs_reranker(settings):
        return None
    chosen = settings.reranker
    return load_reranker(
        chosen.model,
        max_tokens=chosen.max_tokens,
        window_overlap=chosen.window_overlap,
        batch_tokens=chosen.batch_tokens,
    )


def open_llm(settings: Settings) -> Llm | None:
    """The language model, if a stage of `settings` asks one."""
    return load_llm(settings.provider) if needs_llm(settings) else None
