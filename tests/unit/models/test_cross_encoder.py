"""Loading a cross-encoder and scoring with it: a real but tiny model with random weights."""

from pathlib import Path

import pytest

from ccrag.errors import ModelError
from ccrag.models.reranker import CrossEncoderReranker, load_reranker
from tests.tiny_models import BERT_TOKENS, make_tiny_bert

pytest.importorskip("sentence_transformers", reason="needs the extra ccrag[neural]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    home = tmp_path_factory.mktemp("models")
    return make_tiny_bert(home / "tiny", "BertForSequenceClassification", num_labels=1)


@pytest.fixture(scope="module")
def reranker(folder: str) -> CrossEncoderReranker:
    return load_reranker(folder, device="cpu", window_overlap=2, batch_tokens=48)


def logits(folder: str, query: str, texts: list[str]) -> list[float]:
    """What the model itself says of each pair alone."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        pairs = (tokenizer(query, text, return_tensors="pt") for text in texts)
        return [float(model(**pair).logits[0, 0]) for pair in pairs]


def test_scores_are_the_models_logits(folder: str, reranker: CrossEncoderReranker) -> None:
    texts = ["alpha beta", "gamma", ".", "epsilon delta alpha beta gamma .", "alpha beta"]
    found = reranker.scores("beta", texts)
    assert found.values == pytest.approx(logits(folder, "beta", texts), abs=1e-5)
    assert len({round(value, 3) for value in found.values}) == 4
    assert (found.windowed, found.query_cut) == (0, False)
    assert min(found.values) < 0 or max(found.values) > 1  # no sigmoid has squeezed them


def test_a_long_text_has_its_best_windows_score(
    folder: str, reranker: CrossEncoderReranker
) -> None:
    words = ["alpha", "beta", "gamma", "delta", "."] * 8 + ["epsilon", "epsilon", "delta"]
    found = reranker.scores("beta gamma", [" ".join(words)])
    room = BERT_TOKENS - 2 - 3
    windows, start = [], 0
    tokens = [3 if word == "epsilon" else 1 for word in words]
    while True:
        end = start
        while end < len(words) and sum(tokens[start : end + 1]) <= room:
            end += 1
        windows.append(" ".join(words[start:end]))
        if end == len(words):
            break
        start = end - 2
    assert len(windows) > 2
    assert found.windowed == 1
    assert found.values == pytest.approx([max(logits(folder, "beta gamma", windows))], abs=1e-5)


def test_identity_and_limit(folder: str, reranker: CrossEncoderReranker, tmp_path: Path) -> None:
    assert (reranker.model_id, reranker.max_tokens) == (folder, BERT_TOKENS)
    assert load_reranker(folder, max_tokens=20).max_tokens == 20
    assert load_reranker(folder, max_tokens=99).max_tokens == BERT_TOKENS
    other = make_tiny_bert(
        tmp_path / "m", "BertForSequenceClassification", num_labels=1, model_max_length=9999
    )
    assert load_reranker(other).max_tokens == BERT_TOKENS  # there are no more positions
    assert load_reranker(other).revision != reranker.revision


def test_the_revision_is_of_the_contents(folder: str, reranker: CrossEncoderReranker) -> None:
    assert load_reranker(folder).revision == reranker.revision
    config = Path(folder, "config.json")
    before = config.read_text()
    config.write_text(before + " ")
    try:
        assert load_reranker(folder).revision != reranker.revision
    finally:
        config.write_text(before)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("BertModel", {}, "is no cross-encoder but a BertModel"),
        ("BertForSequenceClassification", {"num_labels": 3}, "gives 3 scores a pair"),
    ],
)
def test_other_models_are_refused(
    kind: str, options: dict[str, int], message: str, tmp_path: Path
) -> None:
    model = make_tiny_bert(tmp_path / "m", kind, **options)
    with pytest.raises(ModelError, match=message):
        load_reranker(model)


def test_a_folder_without_a_model_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be loaded as a cross-encoder") as raised:
        load_reranker(str(tmp_path))
    assert "\n" not in str(raised.value)
    with pytest.raises(ModelError, match="no model folder '/nowhere/at/all'; copy its files here"):
        load_reranker("/nowhere/at/all")
