"""
Variants of a dialogue's question, made of its turns; those of a model are given. Pure.

In every text the newest turn comes first: an encoder weighs the beginning of a text most and reads
no further than its limit, and of a long query the search takes the first words only.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Literal

from ccrag.query.rewrite_rules import rewritten
from ccrag.types import Query, Turn, Variant, WeightedText

RuleVariantName = Literal["last-two", "last-three", "user-turns", "dialogue", "decayed", "rewrite"]
BY_MODEL = "llm-rewrite"


def turn_variants(
    query: Query, *, use: Collection[str], decay: Sequence[float], rewrites: Sequence[str] = ()
) -> tuple[Variant, ...]:
    """
    Return the variants of `query` that `use` names, in the order of `RuleVariantName`.

    `last-two` and `last-three`: the question and the user's one or two turns before it.
    `user-turns`: all the user's turns. `dialogue`: the agent's too. `decayed`: the user's turns as
    parts of one list, see `decayed_parts`. `rewrite`: see `rewrite.rewritten`. `llm-rewrite`: all
    `rewrites`, last, numbered from the second on. Names of other variants are left to others.

    Of a query without turns every variant has the query's own text; each still gets its list, so
    that lists keep their share of a fusion.

    Args:
        decay: weights of the question, of the turn before it, and so on; not empty.
        rewrites: those of a language model, see `model_rewrite`.
    """
    makers: dict[RuleVariantName, Callable[[], Variant]] = {
        "last-two": lambda: Variant("last-two", _joined(user_texts(query)[:2])),
        "last-three": lambda: Variant("last-three", _joined(user_texts(query)[:3])),
        "user-turns": lambda: Variant("user-turns", _joined(user_texts(query))),
        "dialogue": lambda: Variant("dialogue", _joined(_texts(query.turns, query.text))),
        "decayed": lambda: _decayed(user_texts(query), decay),
        "rewrite": lambda: Variant("rewrite", rewritten(query.text, query.turns)),
    }
    by_model = rewrites if BY_MODEL in use else ()
    numbered = (
        Variant(BY_MODEL if number == 1 else f"{BY_MODEL}-{number}", text)
        for number, text in enumerate(by_model, start=1)
    )
    return (*(make() for name, make in makers.items() if name in use), *numbered)


def user_texts(query: Query) -> list[str]:
    """Return the question and the user's earlier turns that are not blank, newest first."""
    return _texts([turn for turn in query.turns if turn.speaker == "user"], query.text)


def decayed_parts(texts: Sequence[str], decay: Sequence[float]) -> tuple[WeightedText, ...]:
    """
    Weigh `texts`, newest first, by `decay`, whose last weight is that of all older texts together.

    The older texts share their weight as one part. A part of weight 0 is left out.
    """
    *own, shared = decay
    parts = [WeightedText(text, weight) for text, weight in zip(texts, own, strict=False)]
    older = texts[len(own) :]
    if older:
        parts.append(WeightedText(_joined(older), shared))
    return tuple(part for part in parts if part.weight > 0)


def _decayed(texts: Sequence[str], decay: Sequence[float]) -> Variant:
    return Variant("decayed", _joined(texts), decayed_parts(texts, decay))


def _texts(turns: Sequence[Turn], question: str) -> list[str]:
    earlier = [turn.text for turn in reversed(turns) if turn.text.strip()]
    return [question, *earlier]


def _joined(texts: Sequence[str]) -> str:
    return "\n".join(text.strip() for text in texts)
