"""The picture of a query's way, and what templates are given."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

from ccrag.web.page.trace_picture import COLUMN, LEFT, SHOWN, STEP, TOP, picture_of
from ccrag.web.page.views import answer_view, document_href


def place(name: str, **more: Any) -> Any:
    whole: Any = {
        "passage_id": f"{name}#1",
        "doc_id": name,
        "title": f"Title {name}",
        "date": None,
        "section": [],
        "start": 0,
        "end": 9,
    }
    return {**whole, **more}


def told(rankings: dict[str, str], read: str, cited: str = "") -> Any:
    """A record of passages named by single letters; each cited one gives a sentence."""
    evidence = [
        {
            "evidence_id": f"e{at}",
            "passage_id": f"{name}#1",
            "doc_id": name,
            "section": ["S"],
            "start": 3,
            "end": 8,
            "text": f"words of {name}",
            "score": 1.0,
        }
        for at, name in enumerate(read, start=1)
    ]
    of = {item["doc_id"]: item["evidence_id"] for item in evidence}
    return {
        "query": "a question",
        "abstained": not cited,
        "answer": [
            {"text": f"Says {name}.", "evidence": [of[name]], "citations": [at]}
            for at, name in enumerate(cited)
        ],
        "references": list(cited),
        "evidence": evidence,
        "read": [place(name) for name in read],
        "variants": [{"name": "original", "text": "a question"}],
        "rankings": [
            {"stage": stage, "hits": [[f"{name}#1", 1.0] for name in names]}
            for stage, names in rankings.items()
        ],
        "notes": [{"stage": "select", "message": "noted"}],
        "seconds": {"lists": 0.0021, "answer": 0.001},
    }


def test_each_passage_goes_through_all_columns_at_its_rank() -> None:
    record = told({"bm25:original": "abc", "rrf": "cab", "rerank": "acb"}, "ac", "a")
    picture = picture_of(record)
    assert [(c.name, c.group, c.count) for c in picture.columns] == [
        ("original", "lists", 3),
        ("rrf", "fusion", 3),
        ("rerank", "rerank", 3),
        ("read", "read", 2),
    ]
    threads = {thread.passage_id: thread for thread in picture.threads}
    assert {pid: thread.kind for pid, thread in threads.items()} == {
        "a#1": "cited",
        "c#1": "read",
        "b#1": "lost",
    }
    assert [dot.rank for dot in threads["a#1"].dots] == [1, 2, 1, 1]
    assert [dot.x for dot in threads["a#1"].dots] == [LEFT + COLUMN * at for at in range(4)]
    assert [dot.y for dot in threads["c#1"].dots] == [TOP + STEP * rank for rank in (3, 1, 2, 2)]
    assert threads["b#1"].label_y is None
    assert picture.threads[-1].passage_id == "a#1"
    assert ("a", "cited", ("1", "2", "1", "1")) in picture.rows
    assert ("b", "lost", ("2", "3", "3", "–")) in picture.rows


def test_a_line_is_broken_where_a_ranking_does_not_hold_the_passage() -> None:
    picture = picture_of(told({"bm25:original": "ab", "bm25:keywords": "b", "rrf": "ab"}, "a"))
    [thread] = [t for t in picture.threads if t.passage_id == "a#1"]
    assert thread.path.count("M") == 2
    assert thread.path.count("C") == 1


def test_far_ranks_come_closer_and_never_meet() -> None:
    names = [chr(0x4E00 + at) for at in range(300)]
    read = names[280:] + names[:3]
    picture = picture_of(told({"rrf": "".join(names)}, "".join(read)))
    dots = [thread.dots[0] for thread in picture.threads if thread.kind != "lost"]
    assert {dot.rank for dot in dots} == {1, 2, 3, *range(281, 301)}
    assert len({dot.y for dot in dots}) == len(dots)
    assert max(dot.y for dot in dots) <= TOP + STEP * (SHOWN + 21)
    assert picture.height > max(dot.y for thread in picture.threads for dot in thread.dots)


def test_nothing_found_is_a_picture_too() -> None:
    picture = picture_of(told({"bm25:original": ""}, ""))
    assert picture.threads == ()
    assert picture.rows == ()


def test_long_names_are_cut() -> None:
    record = told({"candidate-order": "a"}, "a")
    record["read"] = [place("a", section=["x" * 99])]
    picture = picture_of(record)
    assert picture.columns[0].name == "candidate-or…"
    assert len(picture.threads[0].label) == 26


def test_a_citation_leads_to_the_words_it_rests_on() -> None:
    view = answer_view(told({"rrf": "ab"}, "ab", "ba"), "demo")
    assert [said.text for said in view.sentences] == ["Says b.", "Says a."]
    [cite] = view.sentences[0].cites
    assert (cite.number, cite.label) == (1, "source 1: Title b")
    address = urlsplit(cite.href)
    assert parse_qs(address.query) == {"index": ["demo"], "doc_id": ["b"], "span": ["3-8"]}
    assert address.fragment == "span"
    assert [(r.number, r.doc_id, len(r.quotes)) for r in view.references] == [
        (1, "b", 1),
        (2, "a", 1),
    ]
    assert view.total == "3.1 ms"
    assert dict(view.seconds)["lists"] == "2.1 ms"


def test_evidence_says_whether_it_was_used() -> None:
    view = answer_view(told({"rrf": "ab"}, "ab", "b"), "demo")
    assert [(quote.text, quote.used) for quote in view.evidence] == [
        ("words of a", False),
        ("words of b", True),
    ]


def test_addresses_hold_any_id() -> None:
    href = document_href("demo", "a&b=#c/../\"'<ü")
    assert parse_qs(urlsplit(href).query)["doc_id"] == ["a&b=#c/../\"'<ü"]
    assert "#" not in href
    assert '"' not in href
    assert "<" not in href
