"""
MTRAGEval predictions: tasks A (retrieval), B (generation from given contexts) and C (both).

Values in, values out; no files. What is given as contexts goes back as it came.
"""

from collections.abc import Mapping, Sequence

from ccrag.errors import InputError
from ccrag.formats.trec_rag import one_line
from ccrag.types import JSON, Answer, DocId, Hit, Passage, PassageId, Query, Ranking

MAX_CONTEXTS = 10


def retrieval_record(query: Query, ranking: Ranking) -> JSON:
    """Task A: the `MAX_CONTEXTS` best documents, each with the score of its best passage."""
    best: dict[DocId, Hit] = {}
    for hit in ranking:
        best.setdefault(hit.doc_id, hit)
    contexts = [{"document_id": hit.doc_id, "score": hit.score} for hit in best.values()]
    return {
        "task_id": query.query_id,
        "Collection": _collection(query),
        "contexts": contexts[:MAX_CONTEXTS],
    }


def generation_record(query: Query, answer: Answer, contexts: Sequence[JSON]) -> JSON:
    """Task B: an answer, with the contexts as they were given."""
    return {
        "task_id": query.query_id,
        "input": input_turns(query),
        "contexts": list(contexts),
        "predictions": [{"text": prediction(answer)}],
    }


def rag_record(
    query: Query,
    answer: Answer,
    ranking: Ranking,
    *,
    read: Sequence[PassageId],
    passages: Mapping[PassageId, Passage],
) -> JSON:
    """Task C: an answer and what it was read from, best first: a document once, with its text."""
    scores = {hit.passage_id: hit.score for hit in ranking}
    texts: dict[DocId, list[Passage]] = {}
    for passage_id in read:
        passage = passages[passage_id]
        texts.setdefault(passage.doc_id, []).append(passage)
    contexts: list[JSON] = [
        {
            "document_id": doc_id,
            "score": max(scores.get(passage.passage_id, 0.0) for passage in found),
            "text": "\n".join(passage.text for passage in found),
            "title": found[0].title,
        }
        for doc_id, found in texts.items()
    ]
    return {
        "task_id": query.query_id,
        "Collection": _collection(query),
        "input": input_turns(query),
        "contexts": contexts[:MAX_CONTEXTS],
        "predictions": [{"text": prediction(answer)}],
    }


def input_turns(query: Query) -> list[JSON]:
    """Return the dialogue as tasks have it, the question last."""
    earlier = [{"speaker": turn.speaker, "text": turn.text} for turn in query.turns]
    return [*earlier, {"speaker": "user", "text": query.text}]


def prediction(answer: Answer) -> str:
    """Return the answer's sentences as one text."""
    return " ".join(one_line(sentence.text) for sentence in answer.sentences)


def _collection(query: Query) -> str:
    """
    Return the name of the collection that the task names.

    Raises:
        InputError: the query's candidates are no collection.
    """
    if query.candidates.collection is None:
        raise InputError(
            f"query {query.query_id!r} names no collection; MTRAGEval's formats need its tasks"
        )
    return query.candidates.collection
