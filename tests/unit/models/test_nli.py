"""A model of entailment: a real but tiny classifier with random weights, its labels named."""

import random
from pathlib import Path
from typing import Any

import pytest

from ccrag.errors import ModelError
from ccrag.evaluation.entailment import NliScorer, entailment_measures
from ccrag.evaluation.rundata import RunSentence
from ccrag.models.nli import PAIRS_AT_ONCE, NliModel, entailment_label, load_nli
from tests.tiny_models import BERT_TOKENS, make_tiny_bert
from tests.unit.measured import answer, evidence, figure

pytest.importorskip("sentence_transformers", reason="needs the extra ccrag[neural]")

LABELS = {0: "contradiction", 1: "ENTAILMENT", 2: "neutral"}
CLASSIFIER = "BertForSequenceClassification"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_tiny_bert(tmp_path_factory.mktemp("models") / "nli", CLASSIFIER, id2label=LABELS)


@pytest.fixture(scope="module")
def nli(folder: str) -> NliModel:
    return load_nli(folder, device="cpu")


def softmax(folder: str, premise: str, hypothesis: str) -> list[float]:
    """What the model itself says of one pair, by label."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        logits = model(**tokenizer(premise, hypothesis, return_tensors="pt")).logits[0]
    exponentials = logits.exp()
    return [float(value / exponentials.sum()) for value in exponentials]


@pytest.mark.parametrize(
    ("premise", "hypothesis"),
    [("alpha beta", "gamma"), ("gamma", "alpha beta"), ("epsilon delta .", "delta"), ("", "beta")],
)
def test_it_is_the_softmax_at_the_label(
    folder: str, nli: NliModel, premise: str, hypothesis: str
) -> None:
    by_label = softmax(folder, premise, hypothesis)
    assert nli(premise, hypothesis) == pytest.approx(by_label[1], abs=1e-6)
    assert len({round(value, 3) for value in by_label}) == 3, "the labels could not be mixed up"


@pytest.mark.parametrize("position", [0, 1, 2])
def test_the_label_is_found_wherever_it_stands(position: int, tmp_path: Path) -> None:
    labels = {at: "entailment" if at == position else f"other {at}" for at in range(3)}
    model = make_tiny_bert(tmp_path / "m", CLASSIFIER, id2label=labels)
    found = load_nli(model, device="cpu")("alpha", "beta gamma")
    assert found == pytest.approx(softmax(model, "alpha", "beta gamma")[position], abs=1e-6)


def test_not_entailment_is_another_label() -> None:
    assert entailment_label({0: "not_entailment", 1: "Entailment"}, "m") == 1


@pytest.mark.parametrize("labels", [{0: "LABEL_0", 1: "LABEL_1"}, {0: "not_entailment", 1: "x"}])
def test_a_model_without_the_label_is_refused(labels: dict[int, str], tmp_path: Path) -> None:
    model = make_tiny_bert(tmp_path / "m", CLASSIFIER, id2label=labels)
    with pytest.raises(ModelError, match=f"has the labels {', '.join(labels.values())}; exactly"):
        load_nli(model)


def test_other_models_are_refused(tmp_path: Path) -> None:
    encoder = make_tiny_bert(tmp_path / "encoder", "BertModel")
    with pytest.raises(ModelError, match="is no cross-encoder but a BertModel"):
        load_nli(encoder)
    with pytest.raises(ModelError, match="no model folder '/nowhere/at/all'; copy its files here"):
        load_nli("/nowhere/at/all")


def test_of_a_long_premise_the_best_window_counts(folder: str, nli: NliModel) -> None:
    words = random.Random(7).choices(["alpha", "beta", "gamma", "delta", "."], k=45)
    room = BERT_TOKENS - 3 - 2
    # The overlap is wider than a window: the next one begins a word further on.
    windows = [" ".join(words[start : start + room]) for start in range(len(words) - room + 1)]
    found = [softmax(folder, window, "beta gamma")[1] for window in windows]
    best = found.index(max(found))
    assert best % PAIRS_AT_ONCE, "not the first of its batch"
    assert best % room, "nor one that is there without overlap"
    assert nli(" ".join(words), "beta gamma") == pytest.approx(max(found), abs=1e-6)


def test_of_a_long_hypothesis_every_window_must_be_entailed(folder: str, nli: NliModel) -> None:
    words = ["alpha", "beta", "gamma", "delta", ".", "alpha"] * 4
    half = (BERT_TOKENS - 3) // 2
    parts = [" ".join(words[at : at + half]) for at in range(0, len(words), half)]
    found = [softmax(folder, "delta", part)[1] for part in parts]
    assert len(parts) == 3
    assert nli("delta", " ".join(words)) == pytest.approx(min(found), abs=1e-6)
    assert max(found) > min(found)


def test_it_fits_the_measures(nli: NliModel) -> None:
    """With the threshold between what two premises give, one of two sentences is entailed."""
    scorer: NliScorer = nli
    shown = (evidence(1, "d1", "alpha beta"), evidence(2, "d2", "delta . delta"))
    got = answer(RunSentence("gamma", (0,)), RunSentence("gamma", (1,)), shown=shown)
    threshold = (nli("alpha beta", "gamma") + nli("delta . delta", "gamma")) / 2
    measures = entailment_measures(scorer, threshold=threshold)
    assert [figure(measure, got) for measure in measures] == [1 / 2, 1 / 2]


def test_no_number_is_an_error(nli: NliModel, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    def broken(_model: Any, _features: Any) -> Any:
        return torch.full((1, 3), float("nan"))

    monkeypatch.setattr("ccrag.models.nli.forward_logits", broken)
    with pytest.raises(ModelError, match="gave a probability that is not a number"):
        nli("alpha", "beta")
