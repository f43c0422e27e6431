import pytest
from rouge_score.rouge_scorer import RougeScorer

from ccrag.evaluation.bertscore import bertscore_measure
from ccrag.evaluation.catalogue import default_measures
from ccrag.evaluation.gold import Gold
from ccrag.evaluation.registry import LeftOut
from ccrag.evaluation.rouge import rouge_measures, word_measures
from ccrag.evaluation.rundata import RunAnswer, RunData, RunSentence
from tests.unit.measured import QUERY, answer, figure, named

GOT = answer(RunSentence("Fast wings flutter."), RunSentence("Speeds couple the modes."))
GOLD = "At high speed, wing modes couple and the wings flutter."


@pytest.mark.parametrize("kind", ["rougeL", "rouge1", "rouge2"])
@pytest.mark.parametrize("stemmer", [True, False])
def test_rouge_is_rouge_scores(kind: str, stemmer: bool) -> None:
    direct = RougeScorer([kind], use_stemmer=stemmer).score(GOLD, GOT.text)[kind].fmeasure
    measure = named(rouge_measures(stemmer=stemmer), kind)
    assert figure(measure, GOT, answers={"q": GOLD}) == direct > 0


def test_stemming_counts() -> None:
    gold = {"q": "coupled speed"}
    stemmed, plain = (named(rouge_measures(stemmer=s), "rouge1") for s in (True, False))
    assert figure(stemmed, GOT, answers=gold) == 2 * (2 / 7 * 2 / 2) / (2 / 7 + 2 / 2)
    assert figure(plain, GOT, answers=gold) == 0


@pytest.mark.parametrize("kind", ["rougeL", "rouge1", "rouge2"])
def test_rouge_of_absent_unknown_and_unreadable(kind: str) -> None:
    measure = named(rouge_measures(), kind)
    assert figure(measure, None, answers={"q": GOLD}) == 0
    assert figure(measure, GOT, answers={"other": GOLD}) == LeftOut("no gold answer")
    assert figure(measure, GOT, answers={"q": "颤振"}) == 0
    unreadable = figure(measure, GOT, answers={"q": "… — !"})
    assert isinstance(unreadable, LeftOut)
    assert "no letter or digit" in unreadable.reason


@pytest.mark.parametrize(
    ("gold", "text", "score"),
    [
        ("阿司匹林 COVID-19", "他汀 COVID-19", 2 * (2 / 6 * 2 / 4) / (2 / 6 + 2 / 4)),
        ("阿司匹林", "阿司匹林", 1),
        ("Müller", "M ller", 0),
        ("Größe 3", "Gr e 3", 2 * (1 / 2 * 1 / 3) / (1 / 2 + 1 / 3)),
        ("Die LÖSUNG", "die lo\u0308sung", 1),
        ("हिन्दी में", "हिन्दी में", 1),
        ("สวัสดี", "สวัส", 2 * (4 / 6 * 1) / (4 / 6 + 1)),
    ],
)
def test_rouge_reads_every_script(gold: str, text: str, score: float) -> None:
    measure = named(rouge_measures(), "rougeL")
    got = figure(measure, answer(RunSentence(text)), answers={"q": gold})
    assert got == pytest.approx(score)


def test_rouge_of_plain_english_is_the_packages_own() -> None:
    gold, text = "The wing's flutter — at “Mach 0.8” — was re-tested…", "Flutter tests: (Mach 0.8)!"
    own = RougeScorer(["rougeL"], use_stemmer=True).score(gold, text)["rougeL"].fmeasure
    measure = named(rouge_measures(), "rougeL")
    assert figure(measure, answer(RunSentence(text)), answers={"q": gold}) == own


def test_echoing_the_question_shows() -> None:
    measure = named(rouge_measures(), "question-rougeL")
    assert figure(measure, answer(RunSentence(QUERY))) == 1
    assert figure(measure, answer(RunSentence("Nothing alike."))) == 0
    assert figure(measure, None) == 0


def test_words_are_parted_by_white_space_after_nfkc() -> None:
    words = named(word_measures(), "words")
    assert figure(words, answer(RunSentence("Rate-limited\u00a0calls"), RunSentence("fail."))) == 3
    spaced = "a\N{DIAERESIS}b"  # a spacing accent: NFKC makes it a space and a combining one
    assert figure(words, answer(RunSentence(spaced))) == 2
    assert figure(words, None) == 0


def test_query_coverage_counts_content_terms() -> None:
    coverage = named(word_measures(), "query-coverage")
    # why, do, at are stop words: wing, flutter, high, speed
    assert figure(coverage, GOT) == 3 / 4
    assert figure(coverage, None) == 0 / 4
    nothing = figure(coverage, GOT, queries={"q": "Why?"})
    assert nothing == LeftOut("the question has no content terms")


def test_bertscore_asks_once_and_gives_empty_answers_zero() -> None:
    asked: list[tuple[list[str], list[str]]] = []

    def scorer(texts: list[str], targets: list[str]) -> list[float]:
        asked.append((texts, targets))
        return [0.5 + at / 10 for at in range(len(texts))]

    run = RunData("r", {"a": GOT, "b": answer(RunSentence("B.")), "c": RunAnswer()})
    gold = Gold(dict.fromkeys("abcd", QUERY), answers={"a": "A", "b": "B", "c": "C"})
    found = bertscore_measure(scorer).figures(run, gold)  # type: ignore[arg-type]
    assert found == {"a": 0.5, "b": 0.6, "c": 0.0, "d": LeftOut("no gold answer")}
    assert asked == [([GOT.text, "B."], ["A", "B"])]


def test_without_a_model_bertscore_says_so() -> None:
    bert = named(default_measures(), "bertscore")
    obstacle = bert.obstacle(RunData("r", {}), Gold({}, answers={}))
    assert obstacle is not None
    assert "--bertscore" in obstacle
