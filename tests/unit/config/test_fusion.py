"""Settings that must fit each other: variants, lists and how they are fused."""

from typing import Any

import pytest
from pydantic import ValidationError

from ccrag.config import PipelineSettings
from ccrag.config.load import load_settings


def settings(**sections: Any) -> PipelineSettings:
    both = {"lists": ["bm25", "dense"]}
    base = {"retrieval": both, "vectors": {"mode": "exact"}, "feedback": {"enabled": False}}
    return PipelineSettings.model_validate(base | sections)


def test_lists_are_named_by_source_and_wording() -> None:
    variants = {"use": ["last-two", "decayed"], "dense": ["original", "rewrite"]}
    named = settings(variants=variants).list_names()
    assert named == ("bm25:last-two", "bm25:decayed", "dense:original", "dense:rewrite")
    fed = PipelineSettings()
    assert fed.list_names()[-1] == "bm25:feedback"


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"fusion": {"method": "highest"}}, "those of bm25 and dense lists are of different"),
        (
            {"fusion": {"weights": {"dense:decayed": 2}}},
            "names 'dense:decayed'; the lists are",
        ),
        ({"fusion": {"weights": {"dense:original": 0}}}, "greater than 0"),
        ({"variants": {"decay": []}}, "weights are 0 or more"),
        ({"variants": {"decay": [0, 1]}}, "the question's is more than 0"),
        ({"variants": {"decay": [1, -1]}}, "weights are 0 or more"),
        ({"variants": {"dense": ["keywords"]}}, "Input should be"),
    ],
)
def test_what_does_not_fit(sections: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        settings(**sections)


def test_what_fits() -> None:
    settings(fusion={"weights": {"dense:original": 2.0}})
    settings(fusion={"method": "highest"}, retrieval={"lists": ["dense"]})


def test_the_damping_constant_is_that_of_the_paper() -> None:
    """Cormack, Clarke and Büttcher (SIGIR 2009) set k to 60; the published pipelines keep it."""
    assert PipelineSettings().fusion.rrf_k == 60
    for name in ("rrf-no-rerank", "caes-rag-rrf"):
        assert load_settings(name).fusion.rrf_k == 60
