"""
No pattern and no reader of foreign text takes the square of its input's length.

Every compiled pattern of the package is tried on runs of what it is made of: once as long, once
twice as long. Patterns that are only ever matched at a beginning are tried there.
"""

import ast
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import process_time

import pytest

import ccrag
from ccrag.answering.polarity import agrees
from ccrag.answering.replies import read_reply
from ccrag.answering.trim import trimmed
from ccrag.answering.wellformed import defects, habits_of
from ccrag.llm.json_extraction import find_json, without_thinking
from ccrag.llm.plain_words import plain_words
from ccrag.llm.quote import tamed
from ccrag.query.rewrite_llm import read_rewrites
from ccrag.retrieval.order_reply import read_order
from ccrag.text.analysis import words
from ccrag.text.markup import plain
from ccrag.text.sections import find_headings
from ccrag.text.tokens import estimate_tokens

LENGTH = 2_000
FLOOR_S = 0.004
"""What takes less is not worth a second look."""
MAX_RATIO = 2.5
TRIES = 6
ANCHORED = {"match", "fullmatch"}
MATCHED = {"_TABLE_ROW"}
"""Used under another name."""
RUNS = [
    *" \t\n1aA.,-|\\<[({#*_}~=$'\"中й:",
    *(
        "1 ",
        "a ",
        "A ",
        "1.",
        "1,",
        "[1",
        "(a",
        "<a",
        "a1",
        "\n\n",
        " \n",
        "\n ",
        "\n#",
        "\n|",
        "; 1",
    ),
]
FOREIGN = [
    *RUNS,
    *('"order": [', '["', '{"a":"', "[1,", "['", "[,", '"[\\"', "[\\u", "/*", "[/*", "“[", "{'a':"),
    *(
        "<think>",
        "</think>",
        "</think>{}",
        "<think ",
        "<|channel|>analysis<|message|>",
        "[e1",
        "e1 ",
    ),
    *("{}", '{"a":1} x {', "&lt;", "[a](", "http://", "not ", "<evidence ", "[INST", "p1 > ", "＜"),
]
SOURCES = {
    path: path.read_text(encoding="utf-8") for path in Path(ccrag.__file__).parent.rglob("*.py")
}


def patterns() -> dict[str, tuple[re.Pattern[str], bool]]:
    """By name: every text pattern of a module, and whether it is only matched at a beginning."""
    found: dict[str, tuple[re.Pattern[str], bool]] = {}
    everything = "\n".join(SOURCES.values())
    for module in pkgutil.walk_packages(ccrag.__path__, "ccrag."):
        if module.name.endswith("__main__"):
            continue
        imported = importlib.import_module(module.name)
        own = SOURCES[Path(str(imported.__file__))]
        for name, value in vars(imported).items():
            sources = own if name.startswith("_") else everything
            for number, pattern in enumerate(held(value)):
                used = set(re.findall(rf"\b{name}(?:\[[^\]]*\])?\.([a-z]+)\b", sources))
                used |= {"match"} if f"_matches({name})" in own or name in MATCHED else set()
                used |= {"search"} if f"_holds({name})" in own else set()
                anchored = bool(used) and used <= ANCHORED | {"values", "items"}
                found[f"{module.name}.{name}.{number}"] = pattern, anchored
    return found | {f"literal {n}": (p, False) for n, p in enumerate(literals())}


def held(value: object) -> Iterator[re.Pattern[str]]:
    inner: Iterable[object] = (value,)
    if isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, list | tuple | set | frozenset):
        inner = value
    for item in inner:
        if isinstance(item, re.Pattern) and isinstance(item.pattern, str):
            yield item


def literals() -> Iterator[re.Pattern[str]]:
    """Patterns written out in calls of `re.sub` and its like."""
    for source in SOURCES.values():
        for node in ast.walk(ast.parse(source)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "re"
                and node.func.attr in ("sub", "split", "search", "findall", "finditer")
                and isinstance(node.args[0], ast.Constant)
                and isinstance(node.args[0].value, str)
            ):
                yield re.compile(node.args[0].value)


def run_of(piece: str, length: int) -> str:
    return (piece * (length // len(piece) + 1))[:length] + "!"


def seconds(work: Callable[[str], object], text: str) -> float:
    begun = process_time()
    work(text)
    return process_time() - begun


def is_linear(work: Callable[[str], object], piece: str, length: int) -> bool:
    """Whether twice the length takes no more than `MAX_RATIO` as long; the machine may stutter."""
    if seconds(work, run_of(piece, length)) < FLOOR_S:
        return True
    for _ in range(TRIES):
        once = min(seconds(work, run_of(piece, length)) for _ in range(2))
        twice = min(seconds(work, run_of(piece, 2 * length)) for _ in range(2))
        if once < FLOOR_S or twice / once <= MAX_RATIO:
            return True
    return False


def all_matches(pattern: re.Pattern[str], anchored: bool) -> Callable[[str], object]:
    if anchored:
        return lambda text: (pattern.match(text), pattern.fullmatch(text))
    return lambda text: sum(1 for _ in pattern.finditer(text))


def test_every_pattern_is_linear() -> None:
    slow = [
        (name, piece)
        for name, (pattern, anchored) in patterns().items()
        for piece in (
            *RUNS,
            *sorted(set(re.findall(r"[A-Za-z]{2,}|[^\w\s]", pattern.pattern)))[:30],
        )
        if not is_linear(all_matches(pattern, anchored), piece, LENGTH)
    ]
    assert slow == []


READERS: dict[str, Callable[[str], object]] = {
    "words": words,
    "tokens": estimate_tokens,
    "headings": find_headings,
    "trimmed": trimmed,
    "defects": lambda text: defects(text, habits_of([text], min_words=1, max_words=None)),
    "plain": plain,
    "tamed": tamed,
    "plain words": plain_words,
    "json": find_json,
    "thinking": without_thinking,
    "order": lambda text: read_order(text, 20),
    "rewrite": lambda text: read_rewrites(text, 2),
    "answer": lambda text: read_reply(text, ()),
    "a sentence of an answer": lambda text: read_reply(f'[{{"text": "{text}"}}]', ()),
    "support": lambda text: agrees(text, "It does not open at nine."),
}


@pytest.mark.parametrize("name", READERS)
def test_every_reader_of_foreign_text_is_linear(name: str) -> None:
    slow = [piece for piece in FOREIGN if not is_linear(READERS[name], piece, 8_000)]
    assert slow == []
