import pytest
from hypothesis import given
from hypothesis import strategies as st

from ccrag.answering.citations import DraftSentence, assemble
from ccrag.errors import CandidateLeakError, InvariantError
from ccrag.types import Answer, Candidates, Evidence, Note, Query
from tests.unit.stages import evidence

QUERY = Query("q1", "Why?", Candidates.of(["c", "b", "a"], query_id="q1"))
SHOWN = (
    evidence("e1", "Fact of a.", doc_id="a"),
    evidence("e2", "Fact of b.", doc_id="b"),
    evidence("e3", "Fact of c.", doc_id="c"),
    evidence("e4", "More of a.", doc_id="a"),
)
ABSTENTION = "No answer."


def assembled(
    *drafts: tuple[str, str], shown: tuple[Evidence, ...] = SHOWN
) -> tuple[Answer, tuple[Note, ...]]:
    """Of drafts given as (text, evidence ids separated by blanks)."""
    sentences = [DraftSentence(text, tuple(named.split())) for text, named in drafts]
    return assemble(QUERY, sentences, shown, abstention=ABSTENTION)


def cited(answer: Answer) -> list[tuple[str, list[str]]]:
    """Each sentence with the documents it cites."""
    return [(s.text, [answer.references[at] for at in s.citations]) for s in answer.sentences]


def test_each_sentence_cites_the_document_of_its_evidence() -> None:
    answer, notes = assembled(("On b.", "e2"), ("On a.", "e1"), ("On c.", "e3"))
    assert cited(answer) == [("On b.", ["b"]), ("On a.", ["a"]), ("On c.", ["c"])]
    assert answer.references == ("b", "a", "c")  # first use, not candidate or evidence order
    assert (answer.evidence, answer.abstained, notes) == (SHOWN, False, ())


def test_a_document_is_referenced_and_cited_once() -> None:
    answer, notes = assembled(("On a.", "e4 e2 e1"), ("Again.", "e1"))
    assert answer.references == ("a", "b")
    assert [s.citations for s in answer.sentences] == [(0, 1), (0,)]
    assert answer.sentences[0].evidence_ids == ("e4", "e2", "e1")
    assert notes == ()


def test_unknown_and_repeated_ids_are_reported_and_not_pointed_elsewhere() -> None:
    answer, notes = assembled(("On b.", "e9 e2 e2"))
    assert cited(answer) == [("On b.", ["b"])]
    assert answer.sentences[0].evidence_ids == ("e2",)
    assert [note.message for note in notes] == [
        "answer sentence 1: cites 'e9', which was not shown",
        "answer sentence 1: cites 'e2' more than once",
    ]


@pytest.mark.parametrize(
    ("draft", "reason"),
    [
        (("Unfounded.", "e9"), "no known evidence"),
        (("Unfounded.", ""), "no known evidence"),
        ((" ", "e1"), "no text"),
    ],
)
def test_a_draft_without_evidence_or_text_is_left_out_first_or_not(
    draft: tuple[str, str], reason: str
) -> None:
    answer, notes = assembled(draft, ("On a.", "e1"), draft)
    assert cited(answer) == [("On a.", ["a"])]
    left_out = [note.message for note in notes if "left out" in note.message]
    assert left_out == [f"answer sentence {at} left out: {reason}" for at in (1, 3)]


@pytest.mark.parametrize("drafts", [(), (("Unfounded.", "e9"),)])
def test_no_draft_left_abstains(drafts: tuple[tuple[str, str], ...]) -> None:
    answer, notes = assembled(*drafts)
    [sentence] = answer.sentences
    assert (sentence.text, sentence.evidence_ids, sentence.citations) == (ABSTENTION, (), ())
    assert (answer.references, answer.abstained, answer.evidence) == ((), True, SHOWN)
    assert len(notes) == 2 * len(drafts)


def test_no_evidence_abstains() -> None:
    assert assembled(shown=())[0].abstained


def test_evidence_from_outside_is_a_leak_even_uncited() -> None:
    stranger = evidence("e5", "Fact of x.", doc_id="x")
    with pytest.raises(CandidateLeakError, match=r"'q1'.*'x'"):
        assembled(("On a.", "e1"), shown=(*SHOWN, stranger))


def test_one_id_for_two_pieces_of_evidence_is_a_bug() -> None:
    with pytest.raises(InvariantError, match="share an id"):
        assembled(shown=(SHOWN[0], SHOWN[0]))


DRAFTS = st.lists(
    st.tuples(
        st.text("ab", min_size=1, max_size=3),
        st.lists(st.sampled_from(["e1", "e2", "e3", "e4", "e9"]), max_size=4).map(" ".join),
    ),
    max_size=5,
)


@given(DRAFTS)
def test_every_citation_resolves_and_every_id_is_used_or_reported(
    drafts: list[tuple[str, str]],
) -> None:
    answer, notes = assembled(*drafts)
    documents = {item.evidence_id: item.doc_id for item in answer.evidence}
    used = [at for s in answer.sentences for at in s.citations]
    assert list(dict.fromkeys(used)) == list(range(len(answer.references)))
    assert len(set(answer.references)) == len(answer.references)
    for sentence in answer.sentences:
        named = [documents[evidence_id] for evidence_id in sentence.evidence_ids]
        assert [answer.references[at] for at in sentence.citations] == list(dict.fromkeys(named))
    given_ids = sum(len(named.split()) for _, named in drafts)
    used_ids = sum(len(s.evidence_ids) for s in answer.sentences)
    assert given_ids == used_ids + sum("cites" in note.message for note in notes)


NAMED = st.lists(st.sampled_from(["e1", "e2", "e3", "e4"]), min_size=1, max_size=4)


@given(st.lists(NAMED.map(" ".join), min_size=2, max_size=5), st.integers(0, 4))
def test_leaving_a_sentence_out_changes_no_other_ones_meaning(named: list[str], at: int) -> None:
    drafts = [(f"Sentence {place}.", ids) for place, ids in enumerate(named)]
    left_out = drafts[at % len(drafts)]
    whole, _ = assembled(*drafts)
    fewer, _ = assembled(*(draft for draft in drafts if draft is not left_out))
    assert cited(fewer) == [pair for pair in cited(whole) if pair[0] != left_out[0]]
