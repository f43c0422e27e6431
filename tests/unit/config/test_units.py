"""Settings of units and linked reading that do not fit together, and what an index must hold."""

from pathlib import Path
from typing import Any

import pytest

from ccrag.config import PipelineSettings
from ccrag.config.load import load_settings
from ccrag.errors import InputError
from ccrag.indexing.spec import index_spec, unit_spec


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"select": {"read": "units", "neighbours": 1}}, "select.neighbours belongs to"),
        ({"linked": {"scorer": "lexical", "mention": 0.5}}, "linked.mention compares meanings"),
        ({"units": {"grouping": "file"}}, "units.grouping=file needs units.file"),
    ],
)
def test_what_does_not_fit_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PipelineSettings.model_validate(settings)


def test_only_pipelines_that_read_units_need_them_stored() -> None:
    assert index_spec(load_settings("hybrid")).units is None
    for name in ("longrag", "linked"):
        spec = index_spec(load_settings(name))
        assert spec.units is not None
        assert spec.units.name == "links-both-apart-4000t"
        assert spec.stored == {spec.name, "units-links-both-apart-4000t"}


@pytest.mark.parametrize(
    "changes",
    [
        {"grouping": "document"},
        {"grouping": "sections"},
        {"max_tokens": 900},
        {"links": "given"},
        {"versions": "marked"},
    ],
)
def test_what_units_depend_on_is_in_name_and_fingerprint(changes: dict[str, Any]) -> None:
    usual = unit_spec(PipelineSettings())
    changed = unit_spec(PipelineSettings.model_validate({"units": changes}))
    assert changed.name != usual.name
    assert changed.parameters != usual.parameters


@pytest.mark.parametrize(
    "changes", [{"within": "index"}, {"score": "best-three"}, {"count": 2}, {"newest": True}]
)
def test_what_is_decided_at_query_time_is_not(changes: dict[str, Any]) -> None:
    changed = unit_spec(PipelineSettings.model_validate({"units": changes}))
    assert changed == unit_spec(PipelineSettings())


def test_a_grouping_file_counts_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "groups.jsonl"
    settings = PipelineSettings.model_validate({"units": {"grouping": "file", "file": path}})
    with pytest.raises(InputError, match=r"groups\.jsonl: cannot be read"):
        unit_spec(settings)
    path.write_text('{"doc_ids": ["a"]}\n')
    first = unit_spec(settings)
    path.write_text('{"doc_ids": ["b"]}\n')
    assert unit_spec(settings).name != first.name


def test_a_tokenizer_counts_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text("{}")
    settings = PipelineSettings.model_validate({"budget": {"tokenizer": str(path)}})
    assert "tokenizer-" in unit_spec(settings).name
