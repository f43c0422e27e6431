"""Training a reranker: what it writes, and on Cranfield, that it is worth something."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ccrag.errors import InputError, ModelError
from ccrag.models import training
from ccrag.models.judged import JudgedQuery, ndcg, split
from tests.unit.tiny_models import WORDS, save_model

torch = pytest.importorskip("torch", reason="needs the extra ccrag[neural]")
pytest.importorskip("sentence_transformers", reason="needs the extra ccrag[neural]")

from ccrag.models.fitting import TrainingPlan, fit  # noqa: E402
from ccrag.models.reranker import CrossEncoderReranker, load_reranker  # noqa: E402
from ccrag.models.scoring import scores_by_id  # noqa: E402
from ccrag.models.training import train_reranker  # noqa: E402

TOPICS = WORDS[:4]
PLAN = TrainingPlan(
    epochs=6, texts_per_query=4, max_tokens=24, held_out=0.25, head_rate=1e-2, few_rate=1e-2
)


def toy() -> list[JudgedQuery]:
    """Queries of one word; its partner answers it, which only judgements tell, and comes last."""
    return [
        JudgedQuery(f"{topic}-{n}", topic, _texts(partner), {partner: 1})
        for n in range(4)
        for topic, partner in zip(TOPICS, TOPICS[1:] + TOPICS[:1], strict=True)
    ]


def _texts(last: str) -> dict[str, str]:
    return {word: f"{word} . {word}" for word in TOPICS if word != last} | {last: f"{last} ."}


def split_off(judged: list[JudgedQuery]) -> list[JudgedQuery]:
    return split(judged, share=PLAN.held_out, seed=PLAN.seed)[1]


def order_of(reranker: CrossEncoderReranker, query: JudgedQuery) -> list[str]:
    scores, _ = scores_by_id(reranker, query.text, query.texts)
    return sorted(scores, key=lambda doc_id: -scores[doc_id])


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """So small a model only waits for its threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_model(tmp_path_factory.mktemp("models") / "encoder", "BertModel")


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> str:
    home = tmp_path_factory.mktemp("models")
    return save_model(home / "classifier", "BertForSequenceClassification", num_labels=1)


def test_it_writes_a_model_and_what_it_is_worth(encoder: str, tmp_path: Path) -> None:
    steps: list[int] = []
    report = train_reranker(
        toy(), tmp_path / "m", base=encoder, plan=PLAN, device="cpu", on_step=steps.append
    )
    counts = (report.train_queries, report.validation_queries, report.held_out_queries)
    assert counts == (10, 2, 4)
    assert steps == list(range(1, 6 * 10 + 1))
    assert report.pairs == 6 * 10 * 4
    assert report.ndcg_bm25 == pytest.approx(1 / 2.3219, abs=1e-4)  # at rank 4: 1 / log2(5)
    assert report.ndcg_after > max(report.ndcg_before, report.ndcg_bm25)
    assert (report.better, report.worse) == (4, 0)
    written = json.loads((tmp_path / "m" / "training.json").read_text())
    assert written["ndcg_after"] == report.ndcg_after
    assert (written["base"], written["plan"]["epochs"]) == (encoder, 6)
    loaded = load_reranker(str(tmp_path / "m"), device="cpu")
    figures = [ndcg(order_of(loaded, query), query.relevance) for query in split_off(toy())]
    assert sum(figures) / 4 == pytest.approx(report.ndcg_after, abs=1e-4)


def test_the_epoch_is_kept_that_orders_the_validation_queries_best(
    encoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Figures in the order they are asked for: held out, validation at 0 to 3, held out."""
    from ccrag.models.token_match import SCALE, load_match_model

    figures = iter([0.1, 0.2, 0.5, 0.9, 0.9, 0.3])
    monkeypatch.setattr(training, "_figures", lambda _, queries, __: [next(figures)] * len(queries))
    plan = replace(PLAN, epochs=3)
    report = train_reranker(toy(), tmp_path / "kept", base=encoder, plan=plan, device="cpu")
    assert (report.ndcg_before, report.kept_epoch, report.ndcg_after) == (0.1, 2, 0.3)
    figures = iter([0.1, 0.2, 0.1, 0.2, 0.1, 0.3])
    report = train_reranker(toy(), tmp_path / "base", base=encoder, plan=plan, device="cpu")
    assert report.kept_epoch == 0
    kept, base = (
        load_match_model(tmp_path / name, device="cpu")[1].mean_weight.item()
        for name in ("kept", "base")
    )
    assert base == SCALE != kept


def test_the_same_seed_gives_the_same_model(encoder: str, tmp_path: Path) -> None:
    plan = replace(PLAN, epochs=3)
    for name in "ab":
        train_reranker(toy(), tmp_path / name, base=encoder, plan=plan, device="cpu")
    other = replace(plan, seed=1)
    train_reranker(toy(), tmp_path / "c", base=encoder, plan=other, device="cpu")
    a, b, c = (
        load_reranker(str(tmp_path / name), device="cpu").scores("beta", ["beta", "gamma"]).values
        for name in "abc"
    )
    assert a == b != c


def test_the_encoder_below_a_new_head_stays(encoder: str) -> None:
    from ccrag.models.token_match import new_match_model

    model = new_match_model(Path(encoder), device="cpu")
    before = {name: weight.clone() for name, weight in model.named_parameters()}
    fit(model, toy(), PLAN, on_step=lambda _: None)
    changed = {name for name, w in model.named_parameters() if not torch.equal(w, before[name])}
    assert {name.split(".")[0] for name in changed} == {"1"}
    assert model.max_seq_length == 24


def test_a_cross_encoder_is_trained_as_a_whole(classifier: str, tmp_path: Path) -> None:
    plan = TrainingPlan(
        epochs=10, texts_per_query=4, max_tokens=24, held_out=0.25, learning_rate=1e-2
    )
    report = train_reranker(toy(), tmp_path / "m", base=classifier, plan=plan, device="cpu")
    assert report.ndcg_after > report.ndcg_bm25
    before = load_reranker(classifier, device="cpu").scores("beta", ["beta"])
    assert load_reranker(str(tmp_path / "m"), device="cpu").scores("beta", ["beta"]) != before


def test_what_cannot_be_trained_is_refused_before_it_takes_time(
    encoder: str, tmp_path: Path
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(InputError, match="is no empty folder"):
        train_reranker(toy(), tmp_path / "full", base=encoder)
    with pytest.raises(InputError, match="0 of 0 queries"):
        train_reranker([], tmp_path / "m", base=encoder)
    three = save_model(tmp_path / "three", "BertForSequenceClassification", num_labels=3)
    with pytest.raises(ModelError, match="gives 3 scores a pair"):
        train_reranker(toy(), tmp_path / "m", base=three)
