"""The head that makes a cross-encoder of an encoder, on a tiny encoder with random weights."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.unit.tiny_models import save_model

torch = pytest.importorskip("torch", reason="needs the extra ccrag[neural]")
pytest.importorskip("sentence_transformers", reason="needs the extra ccrag[neural]")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(save_model(tmp_path_factory.mktemp("models") / "encoder", "BertModel"))


@pytest.fixture
def model(encoder: Path) -> Any:
    from ccrag.models.token_match import new_match_model

    return new_match_model(encoder, device="cpu").eval()


def scored(model: Any, *pairs: tuple[str, str]) -> list[float]:
    with torch.inference_mode():
        features = model.preprocess(list(pairs))
        return [float(score) for score in model(features)["scores"].flatten()]


def read_each_other(model: Any) -> None:
    """Give the cross-attention layer an effect, as training does."""
    torch.manual_seed(1)
    torch.nn.init.normal_(model[1].output.weight)


def test_untrained_the_score_is_of_the_two_texts_apart(encoder: Path, model: Any) -> None:
    """Mean and closest-token cosines of what the encoder says of each text, weighed 10 and 5."""
    import transformers
    from torch.nn.functional import cosine_similarity, normalize

    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder)
    plain = transformers.AutoModel.from_pretrained(encoder).eval()
    with torch.inference_mode():
        query, text = (
            plain(**tokenizer(alone, return_tensors="pt")).last_hidden_state[0]
            for alone in ("alpha beta", "beta delta gamma")
        )
        means = cosine_similarity(query.mean(0), text.mean(0), dim=0)
        matches = (normalize(query, dim=1) @ normalize(text, dim=1).T).max(1).values.mean()
    (found,) = scored(model, ("alpha beta", "beta delta gamma"))
    assert found == pytest.approx(float(10 * means + 5 * matches), abs=1e-4)


def test_a_pairs_score_does_not_depend_on_its_batch(model: Any) -> None:
    read_each_other(model)
    short, long = ("alpha", "beta"), ("alpha beta", "gamma delta epsilon . alpha beta gamma")
    assert scored(model, short, long) == pytest.approx(
        scored(model, short) + scored(model, long), abs=1e-4
    )


def test_an_empty_text_has_a_score(model: Any) -> None:
    read_each_other(model)
    assert all(map(torch.isfinite, map(torch.tensor, scored(model, ("alpha", ""), ("", "beta")))))


def test_a_text_is_read_once_while_it_is_remembered(model: Any) -> None:
    tower = model[0]
    read: list[int] = []
    encode = tower._encode

    def counted(rows: Any, **kwargs: Any) -> Any:
        read.append(len(rows))
        return encode(rows, **kwargs)

    tower._encode = counted
    pairs = (("alpha", "beta"), ("alpha", "gamma delta"))
    fresh = scored(model, *pairs)
    with tower.remembering():
        assert scored(model, *pairs) == pytest.approx(fresh, abs=1e-5)
        read.clear()
        assert scored(model, *pairs) == pytest.approx(fresh, abs=1e-5)
        assert sum(read) == 0
    read.clear()
    scored(model, pairs[0])
    assert sum(read) == 2


def test_several_threads_remember_together(model: Any) -> None:
    pairs = [("alpha", " ".join(["beta"] * count)) for count in range(1, 9)] * 40
    expected = [scored(model, pair) for pair in pairs[:8]] * 40
    with model[0].remembering(), ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda pair: scored(model, pair), pairs))
    assert found == [pytest.approx(score, abs=1e-4) for score in expected]


def test_no_more_is_remembered_than_there_is_room_for(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ccrag.models.token_match.MAX_REMEMBERED", 1)
    with model[0].remembering():
        scored(model, ("alpha", "beta"), ("alpha", "gamma"))
        assert len(model[0]._memory._known) == 1


def test_trained_query_and_text_read_each_other(model: Any) -> None:
    """With the layer, the score of a text is no sum of what its query tokens find alone."""
    before = scored(model, ("alpha beta", "gamma"), ("alpha beta", "delta"))
    read_each_other(model)
    after = scored(model, ("alpha beta", "gamma"), ("alpha beta", "delta"))
    assert after != pytest.approx(before, abs=1e-2)


def test_it_is_read_as_it_was_written(model: Any, tmp_path: Path) -> None:
    from ccrag.models.reranker import load_reranker
    from ccrag.models.token_match import is_match_model

    read_each_other(model)
    model.save_pretrained(str(tmp_path / "m"), create_model_card=False)
    assert is_match_model(tmp_path / "m")
    texts = ["alpha", "beta gamma", "epsilon ."]
    found = load_reranker(str(tmp_path / "m"), device="cpu").scores("gamma", texts)
    expected = scored(model, *(("gamma", text) for text in texts))
    assert found.values == pytest.approx(expected, abs=1e-5)
