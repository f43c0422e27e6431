"""Open what a command works with, from settings: engine, index, models, pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from ccrag.answering.answerability import CROSS_ENCODER
from ccrag.answering.calibration import Calibration
from ccrag.answering.support import Support
from ccrag.concurrency import one_at_a_time
from ccrag.config import EncoderSettings, PipelineSettings, RerankerSettings, Settings
from ccrag.config.defaults import BEST_FIRST, Default, Purpose, unnamed_pipeline
from ccrag.config.load import load_settings, pipeline_names
from ccrag.config.requirements import requirements
from ccrag.engine.client import Notify, open_client, silent
from ccrag.engine.index import Index, IndexInfo, built_specs, missing, open_index
from ccrag.errors import ConfigError, IndexMismatchError, IndexMissingError
from ccrag.indexing.command import index_command
from ccrag.indexing.spec import index_spec
from ccrag.llm.client import load_llm
from ccrag.models.base import Encoder, encoder_identity
from ccrag.models.cached import CachedEncoder
from ccrag.models.encoder import load_encoder, missing_extra
from ccrag.models.nli import load_nli
from ccrag.models.reranker import Reranker, load_reranker
from ccrag.models.token_vectors import TransformerTokens, token_encoder_of
from ccrag.models.tokens import load_token_counter
from ccrag.pipeline.abstention import Abstainer, FeatureExtractor
from ccrag.pipeline.answering import AnswerGenerator, NoAnswerGenerator
from ccrag.pipeline.calibrations import (
    NONE,
    calibration_label,
    check_made_with,
    load_calibration,
)
from ccrag.pipeline.contexts import ContextPipeline
from ccrag.pipeline.evidence import EvidenceSelector, ranking_of
from ccrag.pipeline.expansion import first_requests
from ccrag.pipeline.pipeline import Pipeline, PipelineModels
from ccrag.types import JSON, Passage, Query, QueryId

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

    from ccrag.models.cached import CachedEncoder


class Models:
    """Local models, each loaded once however many pipelines share it; thread-safe."""

    def __init__(self) -> None:
        self._encoders: dict[EncoderSettings, CachedEncoder] = {}
        self._tokens: dict[EncoderSettings, TransformerTokens] = {}
        self._rerankers: dict[RerankerSettings, Reranker] = {}
        self._entailment: dict[str, Support] = {}
        self._loading = Lock()

    def pipeline(
        self, settings: Settings, index: Index, *, generator: AnswerGenerator | None = None
    ) -> Pipeline:
        """
        Return the pipeline of `settings` over `index`, with the models it needs.

        Args:
            generator: writes the answers, so that no language model is opened for them.

        Raises:
            ModelError: a model cannot be had.
            IndexMismatchError: the index holds vectors of another encoder.
            ConfigError: no such calibration, or one that was made with another pipeline.
        """
        calibration = calibration_of(settings)
        ranking_of(settings)  # a missing file of weights is told before models are loaded
        models = self.needed(settings, generates=generator is None)
        if models.encoder is not None:
            check_encoder(models.encoder, index.info, settings)
        abstainer = None
        if calibration is not None:
            with self._loading:
                abstainer = self._abstainer(settings, calibration, models.encoder)
        return Pipeline(settings, index, models, generator=generator, abstainer=abstainer)

    def needed(
        self, settings: Settings, *, searches: bool = True, generates: bool = True
    ) -> PipelineModels:
        """
        Return the models that the pipeline of `settings` needs, loading those not loaded yet.

        Args:
            searches: False where passages come with the queries, so that no list is made.
            generates: False where the answers are written elsewhere.

        Raises:
            ModelError: a model cannot be had.
        """
        needs = requirements(settings)
        encodes = needs.question_vectors if searches else needs.sentence_vectors
        asks_llm = needs.llm if generates else needs.llm_before_answer
        with self._loading:
            return PipelineModels(
                encoder=self._encoder(settings) if encodes else None,
                tokens=self._token_encoder(settings) if needs.token_vectors else None,
                reranker=self._reranker(settings) if needs.cross_encoder else None,
                llm=load_llm(settings.provider) if asks_llm else None,
                support=self._nli(needs.support_model)
                if generates and needs.support_model
                else None,
                count=load_token_counter(settings.budget.tokenizer),
            )

    def feature_extractor(
        self, settings: Settings, index: Index, *, cross_encoder: bool, nli: str | None
    ) -> FeatureExtractor:
        """
        Return what gives the features that a decision of answerability is learnt from.

        Args:
            cross_encoder: whether the one of `reranker` gives a feature.
            nli: the entailment model that gives one, by folder or name on the hub.

        Raises:
            ModelError: a model cannot be had.
            IndexMismatchError: the index holds vectors of another encoder.
        """
        encoder = None
        with self._loading:
            if requirements(settings).question_vectors:
                encoder = self._encoder(settings)
                check_encoder(encoder, index.info, settings)
            return self._feature_extractor(settings, encoder, cross_encoder=cross_encoder, nli=nli)

    def _feature_extractor(
        self,
        settings: PipelineSettings,
        encoder: Encoder | None,
        *,
        cross_encoder: bool,
        nli: str | None,
    ) -> FeatureExtractor:
        return FeatureExtractor(
            settings,
            encoder,
            reranker=self._reranker(settings) if cross_encoder else None,
            entails=self._nli(nli) if nli is not None else None,
        )

    def _abstainer(
        self, settings: PipelineSettings, calibration: Calibration, encoder: Encoder | None
    ) -> Abstainer:
        feature_extractor = self._feature_extractor(
            settings,
            encoder,
            cross_encoder=CROSS_ENCODER in calibration.weights,
            nli=calibration.nli,
        )
        label = calibration_label(settings.answer.answerability)
        return Abstainer(settings, feature_extractor, calibration, label=label)

    def encoding_counts(self) -> tuple[int, int]:
        """
        Count the texts whose vectors were known before, and those encoded, by all encoders.
        """
        counts = [encoder.counts for encoder in self._encoders.values()]
        return sum(c.cached for c in counts), sum(c.encoded for c in counts)

    def _encoder(self, settings: PipelineSettings) -> CachedEncoder:
        if settings.encoder not in self._encoders:
            self._encoders[settings.encoder] = load_encoder(settings.encoder)
        return self._encoders[settings.encoder]

    def _token_encoder(self, settings: PipelineSettings) -> TransformerTokens:
        if settings.encoder not in self._tokens:
            self._tokens[settings.encoder] = token_encoder_of(self._encoder(settings))
        return self._tokens[settings.encoder]

    def _reranker(self, settings: PipelineSettings) -> Reranker:
        if settings.reranker not in self._rerankers:
            chosen = settings.reranker
            self._rerankers[chosen] = load_reranker(
                chosen.model,
                max_tokens=chosen.max_tokens,
                window_overlap=chosen.window_overlap,
                batch_tokens=chosen.batch_tokens,
            )
        return self._rerankers[settings.reranker]

    def _nli(self, model: str) -> Support:
        if model not in self._entailment:
            self._entailment[model] = one_at_a_time(load_nli(model))
        return self._entailment[model]


def find_index(
    client: OpenSearch, name: str, settings: Settings, *, command: str | None = None
) -> Index:
    """
    Return the index that the pipeline of `settings` needs.

    Args:
        command: builds what is missing; None: `index_command` says it.

    Raises:
        IndexMissingError: it is not built; the message says what is, which packaged pipelines
            that serves, and which command to run.
        IndexMismatchError: it does not fit; the message says which command to run.
    """
    command = command or index_command(name, settings)
    try:
        return open_index(client, name, index_spec(settings), settings.engine, command=command)
    except IndexMissingError as error:
        if not error.built:
            raise
        serves = [p for p in pipeline_names() if _serves(p, error.built)]
        raise missing(error.alias, error.built, command, serves=serves) from error


def _serves(pipeline: str, built: Sequence[str]) -> bool:
    """Tell whether `built` is all that a packaged pipeline needs, and its extras are installed."""
    settings = load_settings(pipeline)
    needed = missing_extra(settings.encoder) if requirements(settings).question_vectors else None
    return needed is None and index_spec(settings).fits(built)


def open_pipeline(
    settings: Settings,
    name: str,
    *,
    notify: Notify = silent,
    generator: AnswerGenerator | None = None,
) -> Pipeline:
    """
    Return the pipeline of `settings` over the index `name`; starts the embedded node when needed.

    Args:
        writer: writes the answers instead of the one that `settings` name.

    Raises:
        EngineError: no engine, no such index, or one that does not fit; the message says which
            command to run.
        ModelError: a model the pipeline needs cannot be had.
    """
    index = find_index(open_client(settings, notify=notify), name, settings)
    return Models().pipeline(settings, index, generator=generator)


def default_settings(
    purpose: Purpose, overrides: Sequence[str], *, index: str, notify: Notify
) -> Settings:
    """
    Return the settings of the pipeline that a command takes when none is named, which is told to
    `notify`.

    The best that can run here or, where `index` was not built for it, the one without models if the
    index was built for that.

    Raises:
        ConfigError, EngineError: as `load_settings` and `open_client`.
    """
    chosen = unnamed_pipeline(purpose)
    settings = load_settings(chosen.name, overrides)
    best, light = BEST_FIRST[purpose]
    if chosen == Default(best):
        built = built_specs(open_client(settings, notify=notify), index)
        lighter = load_settings(light, overrides)
        if not index_spec(settings).fits(built) and index_spec(lighter).fits(built):
            why = f"{index} was not built for {best}; ccrag index PATH... --index {index} builds it"
            chosen, settings = Default(light, why), lighter
    if chosen.is_told:
        notify(str(chosen))
    return settings


def open_to_calibrate(
    settings: Settings,
    name: str,
    *,
    cross_encoder: bool = False,
    nli: str | None = None,
    notify: Notify = silent,
) -> tuple[Pipeline, FeatureExtractor]:
    """
    Return the pipeline of `settings` over the index `name`, writing nothing, and what looks at its
    ways.

    Raises:
        EngineError, ModelError: as `open_pipeline` and `Models.feature_extractor`.
    """
    index = find_index(open_client(settings, notify=notify), name, settings)
    undecided = settings.model_copy(
        update={"answer": settings.answer.model_copy(update={"answerability": NONE})}
    )
    models = Models()
    return (
        models.pipeline(undecided, index, generator=NoAnswerGenerator()),
        models.feature_extractor(settings, index, cross_encoder=cross_encoder, nli=nli),
    )


def open_to_train_evidence(
    settings: Settings, name: str, *, notify: Notify = silent
) -> tuple[Pipeline, EvidenceSelector]:
    """
    Return the pipeline of `settings` over the index `name`, writing nothing, and what gives the
    features of sentences: over words, cosines and tokens where the pipeline has an encoder, else
    over words.

    Raises:
        EngineError, ModelError: as `open_pipeline`.
    """
    index = find_index(open_client(settings, notify=notify), name, settings)
    learnt = "learnt" if requirements(settings).question_vectors else "learnt-lexical"
    to_learn = settings.model_copy(
        update={"evidence": settings.evidence.model_copy(update={"scorer": learnt})}
    )
    models = Models()
    needed = models.needed(to_learn, generates=False)
    return (
        models.pipeline(settings, index, generator=NoAnswerGenerator()),
        EvidenceSelector(to_learn, needed.encoder, None, needed.tokens),
    )


def calibration_of(settings: PipelineSettings) -> Calibration | None:
    """
    Return the calibration that decides answerability, if `settings` name one.

    Raises:
        ConfigError: there is none of this name, or it was made with another pipeline.
    """
    name = settings.answer.answerability
    calibration = load_calibration(name)
    if calibration is not None:
        check_made_with(name, calibration, settings)
    return calibration


def open_context_pipeline(
    settings: Settings, passages: Mapping[QueryId, Sequence[Passage]]
) -> ContextPipeline:
    """
    Return what answers from the passages given for each query; no engine is asked.

    Raises:
        ModelError: a model that reading or writing needs cannot be had.
        ConfigError: answerability is to be decided, which takes the lists of a search.
    """
    if settings.answer.answerability != NONE:
        raise ConfigError(
            "answer.answerability reads the lists of a search, and contexts that are given have "
            "none: set answer.answerability=none"
        )
    return ContextPipeline(settings, passages, Models().needed(settings, searches=False))


def show_requests(settings: PipelineSettings, query: Query) -> list[JSON]:
    """Return the searches of a query's first round, as they would be sent; no engine is asked."""
    encoder = load_encoder(settings.encoder) if requirements(settings).question_vectors else None
    return first_requests(settings, query, encoder)


def check_encoder(encoder: Encoder, info: IndexInfo, settings: Settings) -> None:
    """
    Let only the encoder that made an index's vectors encode its queries.

    Raises:
        IndexMismatchError: it is another one; the message says in what.
    """
    stored, asked = dict(info.spec.encoder), encoder_identity(encoder)
    if info.spec.vectors is None or stored == asked:
        return
    name = next(name for name in sorted(stored | asked) if stored.get(name) != asked.get(name))
    raise IndexMismatchError(
        f"index {info.name!r} holds vectors of another encoder ({name} "
        f"{stored.get(name)!r}, here {asked.get(name)!r}); set encoder.model to it, or run: "
        f"{index_command(info.name, settings)}"
    )


def open_support(settings: PipelineSettings) -> Support | None:
    """
    Return the model that checks generated sentences against their evidence, if `settings` name one.

    Raises:
        ModelError: it cannot be had.
    """
    model = requirements(settings).support_model
    return None if model is None else one_at_a_time(load_nli(model))
