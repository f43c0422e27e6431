"""TREC RAG 2024."""

from collections.abc import Iterator, Mapping, Sequence

from ccrag.evaluation.validate.answers import AnswerRules, answer_problems, word_count
from ccrag.evaluation.validate.metadata import by_id, wording_problems
from ccrag.evaluation.validate.shape import Kinds, is_whole, items, shape_problems
from ccrag.evaluation.validate.submission import Rules
from ccrag.types import Query

ID_KEY = "topic_id"
KINDS: Kinds = {
    "run_id": "a non-empty string",
    "topic_id": "a non-empty string",
    "topic": "a non-empty string",
    "response_length": "a whole number",
}
ANSWER_RULES = AnswerRules(max_words=400, max_references=20, segment_ids=True)


def trec_rag24_rules(queries: Sequence[Query] | None) -> Rules:
    """Yield what the 2024 track asks; without queries, topics are not compared."""
    known = by_id(queries)

    def check(record: Mapping[str, object]) -> Iterator[str]:
        yield from shape_problems(record, KINDS)
        yield from wording_problems(record, "topic", ID_KEY, known)
        yield from answer_problems(record, ANSWER_RULES, None)
        stated, counted = record.get("response_length"), word_count(items(record.get("answer")))
        if is_whole(stated) and stated != counted:
            yield f"response_length is {stated}, the answer has {counted} words"

    return Rules(check=check, id_key=ID_KEY, constant_keys=("run_id",), asked=known)
