"""Text as it is searched: one spelling for what is one thing."""

import pytest

from ccrag.text.analysis import terms
from ccrag.text.markup import plain, query_parts, search_text, searched
from ccrag.types import WeightedText


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("Plain words stay.", "Plain words stay."),
        (r"of $d_{\mathrm{model}}$, and", "of d_model , and"),
        (r"$P_{drop} = 0.1$", "P_drop = 0.1"),
        (r"$W_{i}^{Q}\in \mathbb{R}$", "W_i^Q in R"),
        (r"$\beta_{1} = 0.9$ and ε", "beta_1 = 0.9 and epsilon"),
        (r"\operatorname {s o f t m a x} (x) \tag {1}", "softmax (x) equation 1"),
        (r"l r a t e = d _ {\mathrm {m o d e l}}", "lrate = d_model"),
        (r"\frac{a}{b}", "frac a b"),
        ("<tr><td>MoE [32]</td><td>26.03</td></tr>", "MoE [32] 26.03"),
        ("a < b and c > d", "a < b and c > d"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b | | 1 | 2 |"),
        ("![Figure 1](https://host/x.jpg)\nCaption", "Figure 1 Caption"),
        ("**bold** `code` &amp; more", "bold code & more"),
        ("Vinyals &amp;lt;", "Vinyals &lt;"),
    ],
)
def test_plain(text: str, expected: str) -> None:
    assert plain(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("d_k", "$d_k$"),
        ("d_k", "$d_{k}$"),
        ("d_k", r"\(d _ {k}\)"),
        ("d_model", r"$d_{\mathrm{model}}$"),
        ("d_model", "<td>dmodel</td>"),
        ("P_drop", "Pdrop"),
        ("W^Q", "$W^{Q}$"),
        ("β1", r"\beta_{1}"),
        ("Table 3", "Tables 3"),
        ("Table 3", "tab. 3"),
        ("Fig. 2", "Figure 2"),
        ("表 3", "Table 3"),
        ("equation (2)", r"\tag{2}"),
        ("row E", "rows (E)"),
    ],
)
def test_spellings_of_one_thing_share_a_word(one: str, other: str) -> None:
    joined = [set(searched(text).lower().split()) - set(".,()") for text in (one, other)]
    assert any(len(word) > 1 for word in joined[0] & joined[1])


def test_a_table_number_is_a_word_of_its_own() -> None:
    assert "table3" in terms(searched("see Table 3"))
    assert "table3" not in terms(searched("a table of 3 rows"))


def test_values_stay_whole() -> None:
    assert {"0.1", "28.4", "300,000"} <= set(terms(searched("0.1 or 28.4 after 300,000 steps")))


def test_parts_of_a_long_symbol_are_words_too() -> None:
    assert {"warmupsteps", "warmup", "steps"} <= set(searched("warmup_steps").split())


def test_a_word_with_its_negation_is_a_word_too() -> None:
    assert "notcount" in terms(searched("floods we did not count"))
    assert "notcount" in terms(searched("floods that weren't counted"))
    assert "notcheckpoint" in terms(searched("but no checkpoint averaging"))
    assert "notcount" not in terms(searched("floods we counted, and not more"))


def test_a_query_for_a_numbered_thing_leaves_the_number_alone() -> None:
    [(asked, weight)] = query_parts((WeightedText("What does Table 2 show of d_k?", 0.5),))
    assert sorted(set(asked.split())) == ["d_k", "dk", "show", "table", "table2"]
    assert weight == 0.5
    assert set(query_parts((WeightedText("表 2 是什么？", 1.0),))[0].text.split()) == {"table2"}
    assert query_parts((WeightedText("What is it?", 1.0),)) == (WeightedText("What is it?", 1.0),)


def test_search_text_begins_with_the_headings() -> None:
    assert search_text(("3 Model", "3.1 $d_k$"), "Text.") == "3 Model > 3.1 d_k\nText."
    assert search_text((), "Text.") == "Text."
