"""The measures by name, in the order of a report."""

from collections.abc import Collection, Sequence

from ccrag.errors import InputError
from ccrag.evaluation.bertscore import BertScorer, bertscore_measure
from ccrag.evaluation.citation_metrics import citation_measures, cited_document_measures
from ccrag.evaluation.entailment import NliScorer, entailment_measures
from ccrag.evaluation.evidence_metrics import abstention_measures, evidence_measures
from ccrag.evaluation.judge import Judge, grade_measures
from ccrag.evaluation.nuggets import NuggetFile, nugget_measure
from ccrag.evaluation.registry import Measure
from ccrag.evaluation.retrieval import retrieval_measure
from ccrag.evaluation.rouge import QUESTION_OVERLAP, ROUGE, rouge_measures, word_measures
from ccrag.evaluation.weighted_support import SupportGrader, support_measures

DEFAULT_RETRIEVAL = ("nDCG@10", "R@10", "P@1", "RR")


def default_measures(
    *,
    stemmer: bool = True,
    nli: NliScorer | None = None,
    bert: BertScorer | None = None,
    judge: Judge | None = None,
    nuggets: NuggetFile | None = None,
    support: SupportGrader | None = None,
) -> tuple[Measure, ...]:
    """
    Return every measure of ours and the default retrieval measures, in the order of a report.

    Args:
        stemmer: whether ROUGE compares stems, as the organisers of LongEval do.
        nli: an entailment model, for ALCE's citation recall and precision.
        bert: a model for BERTScore.
        judge: a language model that grades answers.
        nuggets: where the nuggets of queries are kept, for the judge.
        support: grades citations, for TREC's weighted precision and recall.
    """
    return (
        *(retrieval_measure(name) for name in DEFAULT_RETRIEVAL),
        *rouge_measures(stemmer=stemmer),
        bertscore_measure(bert),
        *word_measures(),
        *cited_document_measures(),
        *citation_measures(),
        *support_measures(support),
        *entailment_measures(nli),
        *evidence_measures(),
        *abstention_measures(),
        *grade_measures(judge),
        nugget_measure(judge, nuggets),
    )


def select_measures(
    names: Sequence[str], known: Sequence[Measure], *, required: Collection[str] = ()
) -> tuple[Measure, ...]:
    """
    Return the measures named, each once; a name that is not `known` is read as ir-measures reads
    it.

    With ROUGE comes `question-rougeL` if it is known, for echoing the question scores high there.

    Args:
        required: the names that a person asked for; the others are left out with their reason where
            they cannot be computed.

    Raises:
        InputError: a name means nothing, or one that is required cannot be computed here.
    """
    by_name = {measure.name: measure for measure in known}
    wanted = list(dict.fromkeys(names))
    if QUESTION_OVERLAP in by_name and QUESTION_OVERLAP not in wanted:
        rouge = [at for at, name in enumerate(wanted) if name in ROUGE]
        if rouge:
            wanted.insert(rouge[-1] + 1, QUESTION_OVERLAP)
    chosen = tuple(by_name.get(name) or retrieval_measure(name) for name in wanted)
    for measure in chosen:
        if measure.unavailable is not None and measure.name in required:
            raise InputError(f"measure {measure.name} {measure.unavailable}")
    return chosen
