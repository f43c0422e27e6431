"""A kind of list is a file and a line: requests reach it, and those of one retriever together."""

from collections.abc import Sequence
from typing import Any, cast, get_args

import pytest

from ccrag.config import PipelineSettings
from ccrag.config.stages import ListName
from ccrag.errors import CcragError
from ccrag.pipeline.retrievers import LIST_KINDS, make_retriever, search_bodies
from ccrag.pipeline.retrievers.base import (
    ListKind,
    RetrievalRequest,
    RetrievalResult,
    RetrieverInputs,
)
from ccrag.types import Candidates, Hit, Query, Ranking, Variant

ASKED = Query("q", "How high?", Candidates.whole_index())
TOY = cast(ListName, "toy")


class ByLength:
    """Rank one made-up passage; count the calls."""

    def __init__(self, _inputs: RetrieverInputs) -> None:
        self.calls = 0

    def rank(self, requests: Sequence[RetrievalRequest]) -> list[RetrievalResult | CcragError]:
        self.calls += 1
        return [
            RetrievalResult(Ranking.of("q", request.stage, [Hit("a#1", "a", float(self.calls))]))
            for request in requests
        ]


def request(variant: str, source: ListName = TOY) -> RetrievalRequest:
    return RetrievalRequest(ASKED, Variant(variant, ASKED.text), source)


def test_a_new_kind_is_asked_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIST_KINDS, TOY, ListKind(lambda *_: [{"toy": True}], ByLength))
    retriever = make_retriever(PipelineSettings(), cast(Any, None), None)
    results = retriever.rank([request("original"), request("keywords")])
    rankings = [cast(RetrievalResult, result).ranking for result in results]
    assert [ranking.stage for ranking in rankings] == ["toy:original", "toy:keywords"]
    assert {ranking.source for ranking in rankings} == {"toy"}
    assert [ranking.hits[0].score for ranking in rankings] == [1.0, 1.0]  # in one call
    assert search_bodies(PipelineSettings(), request("original")) == [{"toy": True}]


def test_every_name_that_settings_take_has_its_kind() -> None:
    assert set(LIST_KINDS) == set(get_args(ListName))
