"""Which runs an experiment holds, and what they are called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.errors import ConfigError
from ccrag.experiment.plan import UNSAFE, expand_grid, folder_names, plan_runs, split_values


def test_every_pipeline_runs_in_every_combination() -> None:
    planned = plan_runs(
        ["single-query-bm25", "default"],
        overrides=["answer.max_sentences=3"],
        grid=["fusion.rrf_k=10,60", "select.passages=5"],
    )
    assert [(run.name, run.folder) for run in planned] == [
        (f"{name} fusion.rrf_k={k} select.passages=5", f"{name}_fusion.rrf_k={k}_select.passages=5")
        for name in ("single-query-bm25", "default")
        for k in (10, 60)
    ]
    for run, k in zip(planned, (10, 60, 10, 60), strict=True):
        assert run.settings.fusion.rrf_k == k
        assert (run.settings.select.passages, run.settings.answer.max_sentences) == (5, 3)
        assert run.settings.output.run_id == run.folder


def test_without_a_grid_a_run_is_called_as_its_pipeline() -> None:
    (run,) = plan_runs(["default"], overrides=['output.run_id="mine"'])
    assert (run.name, run.folder, run.settings.output.run_id) == ("default", "default", "mine")


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        ([], [()]),
        (["a.b=1"], [("a.b=1",)]),
        (
            ["a.b=1,2", "c.d= x , y"],
            [("a.b=1", "c.d=x"), ("a.b=1", "c.d=y"), ("a.b=2", "c.d=x"), ("a.b=2", "c.d=y")],
        ),
    ],
)
def test_grid_expands_with_the_last_axis_fastest(
    axes: list[str], expected: list[tuple[str, ...]]
) -> None:
    assert expand_grid(axes) == expected


def test_commas_inside_brackets_and_quotes_part_nothing() -> None:
    assert split_values('["a","b"],["c"]') == ['["a","b"]', '["c"]']
    assert split_values("'x,y',z") == ["'x,y'", "z"]
    (one, two) = plan_runs(["default"], grid=['variants.use=["original"],["original","keywords"]'])
    assert one.settings.variants.use == ("original",)
    assert two.settings.variants.use == ("original", "keywords")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"pipelines": []}, "no pipelines"),
        ({"pipelines": ["default", "default"]}, "default: named twice"),
        ({"grid": ["fusion.rrf_k"]}, "expected section.key=value,value"),
        ({"grid": ["fusion.rrf_k=10,"]}, "expected section.key=value,value"),
        ({"grid": ["=1"]}, "expected section.key=value,value"),
        ({"grid": ["fusion.rrf_k=10,10"]}, "10: repeated in --grid"),
        ({"grid": ["fusion.rrf_k=1", "fusion.rrf_k=2"]}, "fusion.rrf_k: set more than once"),
        ({"grid": ["fusion.rrf_k=1"], "overrides": ["fusion.rrf_k=2"]}, "set more than once"),
        ({"grid": ["fusion.k=1"]}, "unknown setting fusion.k"),
    ],
)
def test_what_cannot_be_planned_is_said(arguments: dict[str, list[str]], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        plan_runs(**({"pipelines": ["default"]} | arguments))


def test_folder_names_are_safe_where_names_are_not() -> None:
    names = ["plain", "a b", "a_b", "../up", ".hidden", "x" * 300, 'm use=["a"]', "Plain"]
    folders = folder_names(names)
    assert len({folder.casefold() for folder in folders}) == len(names)
    assert folder_names(["plain", "a b"]) == ["plain", "a_b"]
    assert folders[3].startswith("_up-")


@given(st.lists(st.text(min_size=1), unique=True, max_size=6))
def test_any_names_give_different_safe_folders(names: list[str]) -> None:
    folders = folder_names(names)
    assert len({folder.casefold() for folder in folders}) == len(names)
    for folder in folders:
        assert UNSAFE.sub("", folder) == folder
        assert not folder.startswith(".")
        assert 0 < len(folder) < 128
