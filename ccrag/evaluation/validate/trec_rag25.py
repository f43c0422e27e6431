"""TREC RAG 2025, formats 1 (citations are indices) and 2 (citations are segment ids)."""

from collections.abc import Iterator, Mapping, Sequence

from ccrag.evaluation.validate.answers import AnswerRules, answer_problems
from ccrag.evaluation.validate.metadata import CONSTANT_KEYS, ID_KEY, by_id, metadata_problems
from ccrag.evaluation.validate.submission import Rules
from ccrag.types import Query

ANSWER_RULES = AnswerRules(
    max_words=399,  # the guidelines say "less than 400"
    max_references=100,
    segment_ids=True,
    ids_may_cite=True,
)


def trec_rag25_rules(queries: Sequence[Query] | None) -> Rules:
    """Yield what the 2025 guidelines ask; without queries, topics are not compared."""
    known = by_id(queries)

    def check(record: Mapping[str, object]) -> Iterator[str]:
        yield from metadata_problems(record, known)
        yield from answer_problems(record, ANSWER_RULES, None)

    return Rules(check=check, id_key=ID_KEY, constant_keys=CONSTANT_KEYS, asked=known)
