"""The report's page: complete, self-contained, and nothing in it that was not escaped."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import orjson
import pytest

from ccrag.errors import InputError
from ccrag.experiment.differences import differences, most_different, primary_measure
from ccrag.experiment.loss_analysis import MEANING, LossStage, RelevantItem
from ccrag.experiment.overview import difference_rows, left_out, matrix, plots
from ccrag.experiment.page import page_of
from ccrag.experiment.report import render
from ccrag.experiment.results import differing_settings, results_json
from ccrag.experiment.sections import stage_times
from tests.unit.experiments import experiment_of

HOSTILE = """<script>alert(1)</script>"'><img src=x onerror=alert(1)></style></title>{{ 7 * 7 }}&"""
GOOD, BAD = ["d1", "d2"], ["d2", "d3", "d1"]
PAIR = {"single-query-bm25": BAD, "default": GOOD}


class Tags(HTMLParser):
    """The tags and attributes of a page; complains of unbalanced ones."""

    VOID = frozenset({"meta", "br", "wbr"})

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        if tag == "li":
            while self.open[-1] != "li":
                self.open.pop()
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    tags.close()
    assert not tags.open
    return tags


def test_hostile_words_stay_words() -> None:
    experiment = experiment_of(
        {"single-query-bm25": BAD, "default": [HOSTILE]},
        text=HOSTILE,
        doc_id=HOSTILE,
        title=HOSTILE,
        sentence=HOSTILE,
        failing=True,
    )
    tags = read(render(page_of(experiment, primary="nDCG@10", sections=9)))
    assert not tags.tags & {"script", "img", "iframe", "link", "object"}
    assert not [name for name, _ in tags.attributes if name.startswith("on")]
    assert tags.text.count(HOSTILE) > 10
    assert "{{ 7 * 7 }}" in tags.text


def test_the_page_needs_no_other_file_and_its_links_lead_somewhere() -> None:
    html = render(page_of(experiment_of(PAIR), primary="nDCG@10", sections=2))
    tags = read(html)
    names = {name for name, _ in tags.attributes}
    assert not names & {"src", "xlink:href", "action"}
    links = {value for name, value in tags.attributes if name == "href" and value}
    anchors = {f"#{value}" for name, value in tags.attributes if name == "id"}
    assert links <= anchors
    assert not re.search(r"https?://|@import|url\(", html)
    assert "default-src 'none'" in html


def test_every_kind_of_end_has_a_meaning_and_a_colour() -> None:
    html = render(page_of(experiment_of(PAIR), primary=None, sections=0))
    for end in LossStage:
        assert MEANING[end]
        assert f".end-{end.replace(' ', '-')} " in html


def test_it_says_how_many_sections_it_shows() -> None:
    experiment = experiment_of(PAIR, queries=5)
    some = render(page_of(experiment, primary="nDCG@10", sections=2))
    assert some.count('<details class="query">') == 2
    assert "2 of 5 queries are shown in full" in some
    every = render(page_of(experiment, primary="nDCG@10", sections=60))
    assert every.count('<details class="query">') == 5
    assert "shown in full" not in every


def test_equal_answers_are_shown_once_and_failures_said() -> None:
    page = page_of(experiment_of(PAIR, failing=True), primary="nDCG@10", sections=9)
    by_id = {section.query.query_id: section for section in page.sections}
    (column,) = by_id["q1"].columns
    assert [run for run, _ in column.runs] == list(PAIR)
    assert not column.failed
    assert [c.failed for c in by_id["q3"].columns] == [True]
    ends = by_id["q3"].ends
    assert (ends.columns, ends.rows) == ((tuple(PAIR),), (("d1", "A title", (LossStage.FAILED,)),))
    assert "1 of 3 queries failed" in render(page)


def test_runs_share_a_column_where_all_that_is_relevant_ended_alike() -> None:
    experiment = experiment_of({**PAIR, "rrf-no-rerank": GOOD}, queries=1)
    query = experiment.results["default"]["q1"]
    lost = replace(query, relevant=(RelevantItem("d1", {}, LossStage.FUSION),))
    changed = replace(experiment, results={**experiment.results, "default": {"q1": lost}})
    (section,) = page_of(changed, primary="nDCG@10", sections=9).sections
    assert section.ends.columns == (("single-query-bm25", "rrf-no-rerank"), ("default",))
    assert section.ends.rows == (("d1", "A title", (LossStage.CITED, LossStage.FUSION)),)


def test_times_begin_with_their_sum_and_leave_out_what_took_none() -> None:
    times = stage_times(
        {
            "a": {"lists": 1.2, "encode": 0.00001, "fusion": 0.0},
            "b": {"lists": 0.01, "fusion": 0.0004},
            "failed": {},
        }
    )
    assert times.stages == ("lists", "fusion")
    assert times.rows == (
        ("a", ("1,200.0", "1,200.0", "0.0")),
        ("b", ("10.4", "10.0", "0.4")),
        ("failed", ("–", "–", "–")),
    )


def test_a_single_run_has_nothing_to_be_compared_with() -> None:
    page = page_of(experiment_of({"default": GOOD}), primary="nDCG@10", sections=9)
    assert (page.baseline, page.comparisons, page.differences, page.settings) == (None, (), (), ())
    assert "▲" not in render(page)


def test_without_any_figure_the_page_still_stands() -> None:
    experiment = experiment_of({"default": []}, queries=1, failing=True)
    read(render(page_of(experiment, primary=None, sections=9)))


def test_the_matrix_marks_what_is_significant_and_best() -> None:
    outcome = experiment_of(PAIR, queries=12).outcome
    (block,) = matrix(outcome)
    cells = {run: dict(zip(block.measures, row, strict=True)) for run, row in block.rows}
    ndcg = next(measure for measure in block.measures if measure.name == "nDCG@10")
    better = cells["default"][ndcg]
    assert (better.mean, better.kind, better.arrow, better.best) == ("1.000", "better", "▲", True)
    base = cells["single-query-bm25"][ndcg]
    assert (base.mean, base.kind, base.best) == ("0.500", "", False)
    words = next(measure for measure in block.measures if measure.name == "words")
    rouge = next(measure for measure in block.measures if measure.name == "rougeL")
    for none_is_better in (words, rouge):
        assert not any(row[none_is_better].best for row in cells.values())
    rows = {row.measure: row for row in difference_rows(outcome)}
    assert (rows["nDCG@10"].difference, rows["nDCG@10"].counts) == ("+0.500", "12 / 0 / 0")
    assert rows["words"].arrow == ""


def test_measures_on_which_nothing_differs_are_not_plotted_but_named() -> None:
    experiment = experiment_of(PAIR)
    assert [measure.name for measure, _ in plots(experiment.outcome)] == ["nDCG@10"]
    page = page_of(experiment, primary="nDCG@10", sections=0)
    assert page.alike == ("rougeL", "question-rougeL", "words")


def test_what_was_left_out_has_its_reason() -> None:
    remarks = {remark.subject: remark for remark in left_out(experiment_of(PAIR).outcome)}
    assert "--quotes" in remarks["evidence-recall"].text
    assert remarks["evidence-recall"].runs == ""


def test_the_primary_measure_is_the_first_that_is_there() -> None:
    outcome = experiment_of(PAIR).outcome
    assert primary_measure(outcome) == "nDCG@10"
    assert primary_measure(outcome, "words") == "words"
    with pytest.raises(InputError, match=r"--primary P@1: not computed here; computed are nDCG@10"):
        primary_measure(outcome, "P@1")


def test_queries_are_sorted_by_what_differs() -> None:
    outcome = experiment_of(PAIR, failing=True).outcome
    assert [
        item.value for item in differences(outcome, "nDCG@10", "default", "single-query-bm25")
    ] == [
        1 - 0.5,
        1 - 0.5,
        0 - 0,
    ]
    assert most_different(outcome, "nDCG@10") == ["q1", "q2", "q3"]
    assert most_different(outcome, None) == ["q1", "q2", "q3"]


def test_only_settings_that_differ_are_listed() -> None:
    found = differing_settings(experiment_of(PAIR))
    assert found["rerank.method"] == {"single-query-bm25": "none", "default": "paper"}
    assert "fusion.rrf_k" not in found
    assert "summary" not in found


def test_settings_are_told_of_the_right_runs_whichever_way_the_table_lies() -> None:
    experiment = experiment_of(PAIR)
    page = page_of(experiment, primary=None, sections=0)
    upright = render(page)
    cells = '<td class="left">none</td><td class="left">paper</td>'
    assert f'<td class="id nowrap">rerank.method</td>{cells}' in upright
    (method,) = (setting for setting in page.settings if setting.name == "rerank.method")
    lying = render(replace(page, settings=(method,)))
    assert '<tr><th>single-query-bm25</th><td class="left">none</td></tr>' in lying
    assert '<tr><th>default</th><td class="left">paper</td></tr>' in lying


def test_results_hold_everything_as_json() -> None:
    experiment = experiment_of(PAIR, failing=True)
    results = orjson.loads(orjson.dumps(results_json(experiment)))
    assert [run["run"] for run in results["made"]] == list(PAIR)
    made = results["made"][1]
    assert made["failures"] == [{"query_id": "q3", "error": "Why?"}]
    assert made["relevant"]["ended"] == {"cited": 2, "failed": 1}
    assert made["relevant"]["ways"]["q1"]["d1"]["ranks"] == {"bm25:original": 1}
    assert {run["run"] for run in results["runs"]} == set(PAIR)
    assert results["comparisons"][0]["measure"] == "nDCG@10"
