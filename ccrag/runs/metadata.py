"""Write `ir-metadata.yml`: how a run retrieves and answers. Values in, text out."""

from ccrag.config import LlmSettings, Settings
from ccrag.config.requirements import requirements
from ccrag.formats import ir_metadata
from ccrag.llm.prompts import Prompt

EXTRACTIVE = ir_metadata.GenerationEntry(
    description="Extractive: sentences of the candidate documents as they stand, best first.",
    prompt="none",
    llm="none",
    reasoning=False,
    agents=False,
)
LIBRARIES = ("ccrag", "opensearch", "opensearch-py")


def metadata_text(settings: Settings, *, run_id: str, prompt: Prompt | None) -> str:
    """
    Return the file's text.

    Args:
        prompt: of a generated answer; None when answers are extractive.
    """
    output = settings.output
    return ir_metadata.render(
        ir_metadata.ir_metadata(
            tag=run_id,
            team=output.team_id,
            goal=output.description,
            libraries=[*LIBRARIES, *(["openai"] if prompt or _by_model(settings) else [])],
            repository=output.repository,
            data_name=output.data_name,
            retrieval=[_retrieval(settings)],
            generation=_generated(settings, prompt) if prompt else EXTRACTIVE,
        )
    )


def _retrieval(settings: Settings) -> ir_metadata.RetrievalEntry:
    ranked = "candidate-order" not in settings.retrieval.lists
    return ir_metadata.RetrievalEntry(
        name=" ".join([settings.summary or settings.name, *_by_model(settings)]),
        documents=settings.select.passages,
        chunking=True,
        chunk_ranking=ranked,
        single_stage_retrieval=settings.rerank.method == "none",
    )


def _by_model(settings: Settings) -> list[str]:
    """Return what a language model does for the ranking."""
    model = _model(settings.llm)
    rewrites = [f"Questions rewritten by {model}."] if requirements(settings).llm_rewrite else []
    listwise = settings.rerank.method == "listwise"
    return [*rewrites, *([f"Listwise rerank by {model}."] if listwise else [])]


def _generated(settings: Settings, prompt: Prompt) -> ir_metadata.GenerationEntry:
    return ir_metadata.GenerationEntry(
        description=(
            f"Generated from at most {settings.evidence.max_sentences} evidence sentences of the "
            "candidate documents and nothing else; every sentence names its evidence, and one "
            "without shown evidence is left out."
        ),
        prompt=f"{prompt.label}\n\n{prompt.text}",
        llm=_model(settings.llm),
        reasoning=settings.output.reasoning,
        agents=False,
    )


def _model(llm: LlmSettings) -> str:
    sampled = {"temperature": llm.temperature, "top_p": llm.top_p, "seed": llm.seed}
    told = ", ".join(f"{name} {value}" for name, value in sampled.items() if value != "unset")
    return f"{llm.model} ({told})" if told else llm.model
