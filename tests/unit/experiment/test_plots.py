"""Where the marks of a plot stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.experiment.plots import (
    MAX_LABEL_CHARS,
    Point,
    dot_plot,
    nice_ticks,
    shares,
    strip,
    tick_label,
)

FIGURES = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 4))


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.16, 0.43, ["0.1", "0.2", "0.3", "0.4", "0.5"]),
        (120.0, 163.0, ["120", "140", "160", "180"]),
        (0.0, 1.0, ["0.0", "0.5", "1.0"]),
        (1.0, 1.0, ["0.90", "0.95", "1.00", "1.05", "1.10"]),
    ],
)
def test_ticks_are_round_and_enclose(low: float, high: float, labels: list[str]) -> None:
    steps = nice_ticks(low, high)
    assert [tick_label(step, steps) for step in steps] == labels


@given(st.lists(st.tuples(FIGURES, FIGURES, FIGURES), min_size=1, max_size=12))
def test_everything_stands_inside_in_order(figures: list[tuple[float, float, float]]) -> None:
    points = [Point("run", value, low, high) for low, value, high in map(sorted, figures)]
    plot = dot_plot(points)
    assert 2 <= len(plot.ticks) <= 8
    for mark in plot.marks:
        assert mark.left is not None
        assert mark.x is not None
        assert mark.right is not None
        assert plot.plot_left <= mark.left <= mark.x <= mark.right <= plot.width
        assert 0 < mark.y < plot.height
    places = [tick.x for tick in plot.ticks]
    assert places == sorted(places)


def test_long_names_lose_their_middle_so_that_runs_of_a_grid_stay_apart() -> None:
    names = [f"single-query-bm25 a.long.setting=1 bm25.statistics={of}" for of in ("index", "own")]
    labels = [mark.label for mark in dot_plot([Point(name, 1.0, 1.0, 1.0) for name in names]).marks]
    assert [label[-6:] for label in labels] == ["=index", "cs=own"]
    assert all(label.startswith("single-query-") for label in labels)
    assert {len(label) for label in labels} == {MAX_LABEL_CHARS}


def test_a_run_without_a_figure_keeps_its_row() -> None:
    plot = dot_plot([Point("a", None), Point("b", 0.5, 0.4, 0.6, "baseline")])
    assert [mark.x is None for mark in plot.marks] == [True, False]
    assert plot.reference == plot.marks[1].x


def test_a_strip_rises_and_falls_from_the_middle_on_the_scale_given() -> None:
    drawn = strip([0.5, 0.0, -0.25], most=1.0, width=300, height=80)
    assert [(bar.at, bar.x, bar.y, bar.height, bar.rises) for bar in drawn.bars] == [
        (0, 0.0, 40 - 20, 20, True),
        (2, 200.0, 40, 10, False),
    ]
    assert strip([], most=0.0).bars == strip([0.0], most=0.0).bars == ()


def test_shares_fill_the_width() -> None:
    parts = shares([("a", 1), ("b", 0), ("c", 3)])
    assert [(part.name, part.x, part.width) for part in parts] == [("a", 0, 25), ("c", 25, 75)]
    assert shares([("a", 0)]) == ()
