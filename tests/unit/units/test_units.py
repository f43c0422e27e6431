"""Ways to group behind one interface, and `ccrag units` over files."""

import re
from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from ccrag.cli import app
from ccrag.errors import InputError
from ccrag.text.tokens import estimate_tokens
from ccrag.types import Document, Unit, UnitPart
from ccrag.units.report import UnitReport
from ccrag.units.units import UnitRules, Units, make_units, regroup, units_of

TEXT = "Intro here.\n\n# One\n\nalpha beta gamma\n\n# Two\n\ndelta\n\n## Three\n\nepsilon zeta\n"
DOCUMENTS = [
    Document("a", "Alpha", "one two three. See Beta.", links=("c",)),
    Document("b", "Beta", "four five", version_of="x", version="1"),
    Document("c", "Gamma", "six", version_of="x", version="2"),
    Document("d", "Delta", TEXT),
]


def made(rules: UnitRules, documents: Sequence[Document] = DOCUMENTS) -> Units:
    return make_units(lambda: documents, rules, estimate_tokens)


def parts(rules: UnitRules, documents: Sequence[Document] = DOCUMENTS) -> list[UnitPart]:
    units = made(rules, documents)
    return [part for document in documents for part in units.parts(document)]


def members(units: Sequence[Unit]) -> list[list[str]]:
    return [[part.doc_id for part in unit.parts] for unit in units]


def test_links_given_and_found_group_and_versions_stay_apart() -> None:
    found = units_of(parts(UnitRules("links", 100)))
    assert members(found) == [["a", "b"], ["c"], ["d"]]
    assert [part.links for part in found[0].parts] == [("c", "b"), ()]
    assert found[0].tokens == sum(estimate_tokens(d.text) for d in DOCUMENTS[:2])


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (UnitRules("links", 100, links="given"), [["a", "c"], ["b"], ["d"]]),
        (UnitRules("links", 100, links="found"), [["a", "b"], ["c"], ["d"]]),
        (UnitRules("links", 100, versions_together=True), [["a", "b", "c"], ["d"]]),
        (UnitRules("links", 7), [["a"], ["b"], ["c"], ["d"]]),
        (UnitRules("document", 1), [["a"], ["b"], ["c"], ["d"]]),
    ],
)
def test_rules_are_heard(rules: UnitRules, expected: list[list[str]]) -> None:
    assert members(units_of(parts(rules))) == expected


@given(st.integers(1, 30), st.sampled_from([d.text for d in DOCUMENTS] + ["", "  \n"]))
def test_sections_tile_a_document_under_the_budget(max_tokens: int, text: str) -> None:
    document = Document("d", "Delta", text)
    found = parts(UnitRules("sections", max_tokens), [document])
    assert "".join(text[part.start : part.end] for part in found) == text
    assert [part.start for part in found[1:]] == [part.end for part in found[:-1]]
    assert len({part.unit_id for part in found}) == len(found)
    for part in found:
        one_section = text[part.start : part.end].count("#") <= 2
        assert part.tokens <= max_tokens or one_section


def test_sections_are_joined_while_they_fit() -> None:
    cuts = [TEXT[p.start : p.end] for p in parts(UnitRules("sections", 9), DOCUMENTS[3:])]
    assert cuts == [TEXT[: TEXT.index("# Two")], TEXT[TEXT.index("# Two") :]]


def write(path: Path, *records: object) -> Path:
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return path


def test_a_grouping_file_is_followed_in_its_order(tmp_path: Path) -> None:
    file = write(tmp_path / "g.jsonl", {"doc_ids": ["d", "a"]}, {"doc_ids": ["c"]})
    found = units_of(parts(UnitRules("file", 1, file=file)))
    assert members(found) == [["d", "a"], ["b"], ["c"]]


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([{"doc_ids": ["a"]}, {"doc_ids": ["b", "a"]}], r"g.jsonl:2: document 'a' is in two"),
        ([{"doc_ids": ["zz"]}], r"g.jsonl:1: document 'zz' is not in the collection"),
        ([{"doc_ids": ["b", "c"]}], r"g.jsonl:1: holds two versions of one document"),
        ([{"ids": ["b"]}], r"g.jsonl:1: no list of documents; expected one of doc_ids"),
        ([{"doc_ids": 3}], r"g.jsonl:1: doc_ids must be a list of ids"),
        ([[1]], r"g.jsonl:1: expected a JSON object"),
    ],
)
def test_what_is_wrong_in_a_grouping_file(
    tmp_path: Path, records: list[object], message: str
) -> None:
    file = write(tmp_path / "g.jsonl", *records)
    with pytest.raises(InputError, match=message):
        made(UnitRules("file", 1, file=file))


def test_unit_ids_change_with_their_members_and_name_none_of_them() -> None:
    with_c = {p.unit_id for p in parts(UnitRules("links", 100, links="given"))}
    with_b = {p.unit_id for p in parts(UnitRules("links", 100, links="found"))}
    assert len(with_c & with_b) == 1, "only d's"
    assert all(len(unit_id) == 13 and unit_id[0] == "u" for unit_id in with_c)


def test_regrouping_sees_only_the_parts_it_is_given() -> None:
    whole = parts(UnitRules("links", 100, versions_together=True))
    again = regroup(whole, max_tokens=100, versions_together=True)
    assert again == units_of(whole)
    without_a = regroup(whole[1:], max_tokens=100, versions_together=True)
    assert members(without_a) == [["b"], ["c"], ["d"]]
    assert members(regroup(whole, max_tokens=100, versions_together=False))[0] == ["a", "b"]


def test_a_report_counts_sizes_and_links_inside() -> None:
    report = UnitReport(max_tokens=10)
    for document in DOCUMENTS:
        report.add(made(UnitRules("links", 12)).parts(document))
    rows = dict(report.rows())
    assert (rows["documents"], rows["units"], rows["units of one part"]) == ("4", "3", "2")
    assert (rows["links"], rows["links inside units"]) == ("2", "50.0%")
    assert report.over_budget == 1
    assert rows["parts in a unit"] == "1 / 1 / 1 / 2 / 2 / 2"


def test_an_empty_report_has_no_shares() -> None:
    rows = dict(UnitReport(max_tokens=10).rows())
    assert (rows["links inside units"], rows["tokens in a unit"]) == ("–", "–")


def test_the_command_reports_and_writes_a_file_it_can_read_again(tmp_path: Path) -> None:
    documents = write(
        tmp_path / "documents.jsonl",
        {"id": "a", "text": "one two", "links": ["b"]},
        {"id": "b", "text": "three"},
        {"id": "c", "text": "four", "version_of": "v", "version": 1.5},
    )
    out = tmp_path / "units.jsonl"
    first = CliRunner().invoke(app, ["units", str(documents), "--out", str(out)])
    assert first.exit_code == 0, first.output
    assert [orjson.loads(line)["doc_ids"] for line in out.read_bytes().splitlines()] == [
        ["a", "b"],
        ["c"],
    ]
    assert re.search(r"^links inside units +100\.0%$", first.stdout, re.MULTILINE)
    chosen = ["--set", "units.grouping=file", "--set", f"units.file={out}"]
    again = CliRunner().invoke(app, ["units", str(documents), *chosen])
    assert again.stdout == first.stdout


def test_the_command_says_what_it_lacks(tmp_path: Path) -> None:
    documents = write(tmp_path / "documents.jsonl", {"id": "a", "text": "one two"})
    lacking = CliRunner().invoke(app, ["units", str(documents), "--set", "units.grouping=file"])
    assert lacking.exit_code == 1
    assert "units.grouping=file needs units.file" in lacking.stderr
