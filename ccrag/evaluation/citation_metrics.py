"""
Measures of what an answer cites: the right documents, resolvable, and supporting its sentences.

The cited evidence of a sentence is the evidence it names, of the documents it cites; where it
names none, all evidence shown of those documents. Support is not defined for an abstention.
"""

from collections.abc import Callable

from ccrag.answering.support import contained
from ccrag.evaluation.levels import document_judgements
from ccrag.evaluation.measures import CitedDocuments, cited_precision_recall
from ccrag.evaluation.registry import Case, FigureOrGap, LeftOut, Measure, Need, per_query
from ccrag.evaluation.rundata import RunAnswer, RunSentence
from ccrag.types import DocId

CONTAINMENT = 0.7
"""A sentence is supported lexically when its evidence holds this share of its content terms."""
NO_SENTENCES = LeftOut("empty answer")
ABSTAINED = LeftOut("abstained")
NO_PROVENANCE = LeftOut("no provenance for this query")


def cited_document_measures() -> tuple[Measure, ...]:
    """
    Return precision and recall of the documents referred to, and how many of them are not judged.

    Answers cite documents: one whose passages are judged is as relevant as the best of them.
    Where only relevant documents are judged, no judged reference can be wrong: `cited-precision`
    would be 1 whatever is cited, so it is left out there; `cited-precision-strict` is not.
    """
    needs = (Need.ANSWERS, Need.QRELS)
    return (
        Measure(
            "cited-precision",
            "share of relevant among the judged references",
            needs,
            True,
            per_query(_judged_precision),
        ),
        Measure(
            "cited-precision-strict",
            "share of relevant among all references, unjudged ones counting as irrelevant",
            needs,
            True,
            per_query(_of_cited(_strict_precision, "nothing is cited")),
        ),
        Measure(
            "cited-recall",
            "share of the relevant documents that are among the references",
            needs,
            True,
            per_query(_of_cited(lambda cited: cited.recall, "no relevant document is known")),
        ),
        Measure(
            "cited-unjudged",
            "references that are not judged; they count neither way above",
            needs,
            None,
            per_query(_of_cited(lambda cited: float(cited.unjudged_cited), "")),
        ),
    )


def citation_measures(*, containment: float = CONTAINMENT) -> tuple[Measure, ...]:
    """Tell whether sentences cite, citations resolve, and evidence holds what the sentences say."""
    return (
        Measure(
            "cited-sentences",
            "share of answer sentences that cite something",
            (Need.ANSWERS,),
            True,
            per_query(_cited_sentences),
        ),
        Measure(
            "citation-errors",
            "citations that point outside the references",
            (Need.ANSWERS,),
            False,
            per_query(lambda case: float(len(_unresolved(case.answer)))),
        ),
        Measure(
            "citation-duplicates",
            "references listed again, and citations repeated in one sentence",
            (Need.ANSWERS,),
            False,
            per_query(lambda case: float(_duplicates(case.answer))),
        ),
        Measure(
            "lexical-support",
            "share of sentences whose cited evidence holds at least "
            f"{containment:.0%} of their content terms",
            (Need.ANSWERS, Need.PROVENANCE),
            True,
            per_query(lambda case: _lexical_support(case, containment)),
        ),
    )


def undefined_support(answer: RunAnswer) -> LeftOut | None:
    """Return why no sentence of `answer` can be checked against evidence; None when they can be."""
    if not answer.sentences:
        return NO_SENTENCES
    if answer.abstained:
        return ABSTAINED
    return NO_PROVENANCE if answer.evidence is None else None


def cited_texts(answer: RunAnswer, sentence: RunSentence) -> list[str]:
    """
    Return what each citation of `sentence` gives it to stand on, in order of the citations.

    The texts of one document are joined by a space; a citation that does not resolve, or whose
    document was not shown, gives an empty text.
    """
    return [_cited_text(answer, sentence, citation) for citation in sentence.citations]


def _cited_text(answer: RunAnswer, sentence: RunSentence, citation: int) -> str:
    if not 0 <= citation < len(answer.references):
        return ""
    doc_id = answer.references[citation]
    shown = [item for item in answer.evidence or () if item.doc_id == doc_id]
    named = [item for item in shown if item.evidence_id in sentence.evidence_ids]
    return " ".join(item.text for item in (named if sentence.evidence_ids else shown))


def _of_cited(
    value: Callable[[CitedDocuments], float | None], undefined: str
) -> Callable[[Case], FigureOrGap]:
    def figure(case: Case) -> FigureOrGap:
        judged = _judged_documents(case)
        if judged is None:
            return LeftOut("not judged")
        relevant = [doc_id for doc_id, relevance in judged.items() if relevance > 0]
        found = value(cited_precision_recall(case.answer.references, relevant, judged))
        return LeftOut(undefined) if found is None else found

    return figure


def _judged_precision(case: Case) -> FigureOrGap:
    judged = _judged_documents(case)
    if judged and min(judged.values()) > 0:
        return LeftOut("only relevant documents are judged")
    return _of_cited(lambda cited: cited.precision, "no judged document is cited")(case)


def _judged_documents(case: Case) -> dict[DocId, int] | None:
    judged = (case.gold.qrels or {}).get(case.query_id)
    return None if judged is None else document_judgements(judged)


def _strict_precision(cited: CitedDocuments) -> float | None:
    references = cited.judged_cited + cited.unjudged_cited
    return cited.relevant_cited / references if references else None


def _cited_sentences(case: Case) -> FigureOrGap:
    sentences = case.answer.sentences
    if not sentences:
        return NO_SENTENCES
    if case.answer.abstained:
        return ABSTAINED
    return sum(bool(sentence.citations) for sentence in sentences) / len(sentences)


def _unresolved(answer: RunAnswer) -> list[int]:
    cited = (citation for sentence in answer.sentences for citation in sentence.citations)
    return [citation for citation in cited if not 0 <= citation < len(answer.references)]


def _duplicates(answer: RunAnswer) -> int:
    lists = [answer.references, *(sentence.citations for sentence in answer.sentences)]
    return sum(len(entries) - len(set(entries)) for entries in lists)


def _lexical_support(case: Case, containment: float) -> FigureOrGap:
    undefined = undefined_support(case.answer)
    if undefined is not None:
        return undefined
    shares = [
        contained(" ".join(cited_texts(case.answer, sentence)), sentence.text)
        for sentence in case.answer.sentences
    ]
    known = [share for share in shares if share is not None]
    if not known:
        return LeftOut("no sentence has content terms")
    return sum(share >= containment for share in known) / len(known)
