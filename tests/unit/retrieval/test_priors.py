from math import exp

import pytest

from ccrag.retrieval.priors import citation_prior, temporal_scores
from ccrag.text.dates import year_of, years_in
from tests.unit.stages import passage


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("in 2019, and 1998.", (2019, 1998)),
        ("from 2010-2015, again 2010", (2010, 2015)),
        ("2019-05-01 or the 1990s", (2019, 1990)),
        ("在2019年", (2019,)),
        ("２０１９", (2019,)),
        ("doc 120195 and 12019", ()),
        ("id A2019, 2019B, #2019, 0.2019, 2019.5", ()),
        ("1999,000 people; ISSN 1932-6203", ()),
        ("1499 and 2101", ()),
        ("1500 and 2100", (1500, 2100)),
    ],
)
def test_years_in(text: str, expected: tuple[int, ...]) -> None:
    assert years_in(text) == expected


@pytest.mark.parametrize(
    ("date", "expected"),
    [(None, None), ("2019-05-01T00:00", 2019), ("1998", 1998), ("0001-01-01", None), ("May", None)],
)
def test_year_of(date: str | None, expected: int | None) -> None:
    assert year_of(date) == expected


def test_citation_prior_is_a_share() -> None:
    assert [citation_prior(edges, 4) for edges in (0, 1, 4)] == [0.0, 1 / 4, 1.0]
    assert citation_prior(0, 0) == 0.0


@pytest.mark.parametrize(("edges", "max_edges"), [(5, 4), (-1, 4), (1, 0)])
def test_impossible_edges_are_refused(edges: int, max_edges: int) -> None:
    with pytest.raises(ValueError, match=f"{edges} citation edges, expected 0 to {max_edges}"):
        citation_prior(edges, max_edges)


def test_without_temporal_words_all_are_zero() -> None:
    assert temporal_scores("ice", [passage("a", date="2019")]) == {"a": 0.0}
    assert temporal_scores("recent ice", []) == {}


def test_years_asked_for_score_by_distance() -> None:
    passages = [
        passage("met", "measured in 2010", date="2024"),
        passage("near", date="2012-01-01"),
        passage("far", "since 1990"),
        passage("undated", "ice"),
    ]
    assert temporal_scores("recent ice of 2010 or 2014", passages) == {
        "met": 1.0,
        "near": exp(-2 / 5),
        "far": exp(-20 / 5),
        "undated": 0.0,
    }


def test_recency_is_the_place_among_the_years() -> None:
    dates = {"old": "1990", "mid": "2000-05", "new": "2024", "new2": "2024-11", "none": None}
    passages = [passage(name, date=date) for name, date in dates.items()]
    assert temporal_scores("the latest ice", passages) == {
        "old": 0.0,
        "mid": 1 / 2,
        "new": 1.0,
        "new2": 1.0,
        "none": 0.0,
    }


def test_one_year_only_is_the_newest() -> None:
    passages = [passage("a", date="2019"), passage("b")]
    assert temporal_scores("recent ice", passages) == {"a": 1.0, "b": 0.0}
