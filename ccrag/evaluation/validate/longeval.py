"""LongEval 2026 task 4: a TREC RAG 2025 record whose references are the query's candidates."""

from collections.abc import Iterator, Mapping, Sequence

from ccrag.evaluation.validate.answers import AnswerRules, answer_problems
from ccrag.evaluation.validate.metadata import (
    CONSTANT_KEYS,
    ID_KEY,
    asked,
    by_id,
    metadata_problems,
)
from ccrag.evaluation.validate.submission import Rules
from ccrag.types import Query

ANSWER_RULES = AnswerRules(max_words=400, complete=True)


def longeval_rules(queries: Sequence[Query] | None) -> Rules:
    """Yield what LongEval asks; without queries, neither topics nor candidates are compared."""
    known = by_id(queries)

    def check(record: Mapping[str, object]) -> Iterator[str]:
        yield from metadata_problems(record, known)
        query = asked(record, ID_KEY, known)
        candidates = None if query is None else query.candidates
        yield from answer_problems(record, ANSWER_RULES, candidates)

    return Rules(check=check, id_key=ID_KEY, constant_keys=CONSTANT_KEYS, asked=known)
