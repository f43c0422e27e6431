"""Lines over budgets, one panel a group of questions, as SVG. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import log2

from ccrag.experiment.plots import nice_ticks, tick_label

COLOURS = (
    "#767676",
    "#b0892b",
    "#a65a4a",
    "#6a5acd",
    "#3b7ea1",
    "#1a7f37",
    "#8fbf5a",
    "#c3b1e1",
)
WIDTH, HEIGHT = 430, 300
LEFT, RIGHT, TOP, BOTTOM = 44, 14, 34, 40
LINE = 18

Panel = Mapping[str, Sequence[float]]
"""A share per budget for each way."""


def plot(panels: Mapping[str, Panel], budgets: Sequence[int], *, axis: str = "tokens") -> str:
    """The panels side by side over one legend; budgets on a scale of doublings."""
    states = list(next(iter(panels.values())))
    width, height = WIDTH * len(panels), HEIGHT + LINE * len(states) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for at, (title, panel) in enumerate(panels.items()):
        parts += [
            f'<g transform="translate({at * WIDTH} 0)">',
            *_panel(title, panel, budgets, axis),
        ]
        parts.append("</g>")
    for at, state in enumerate(states):
        y = HEIGHT + LINE * at + 8
        colour = COLOURS[at % len(COLOURS)]
        parts.append(f'<rect x="{LEFT}" y="{y - 5}" width="22" height="4" fill="{colour}"/>')
        parts.append(f'<text x="{LEFT + 30}" y="{y + 2}">{escape(state)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(title: str, panel: Panel, budgets: Sequence[int], axis: str) -> Iterator[str]:
    steps = nice_ticks(0.0, 1.0)
    yield f'<text x="{LEFT}" y="18" font-weight="bold">{escape(title)}</text>'
    for step in steps:
        y = _y(step)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" stroke="#ddd"/>'
        label = tick_label(step, steps)
        yield f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{label}</text>'
    for budget in budgets:
        x = _x(budget, budgets)
        yield f'<text x="{x}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{budget:,}</text>'
    middle = (LEFT + WIDTH - RIGHT) / 2
    yield f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{axis}</text>'
    for at, shares in enumerate(panel.values()):
        colour = COLOURS[at % len(COLOURS)]
        places = [(_x(b, budgets), _y(s)) for b, s in zip(budgets, shares, strict=True)]
        points = " ".join(f"{x},{y}" for x, y in places)
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        yield from (f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in places)


def _x(budget: int, budgets: Sequence[int]) -> float:
    low, high = log2(budgets[0]), log2(budgets[-1])
    return round(LEFT + 18 + (log2(budget) - low) / (high - low) * (WIDTH - LEFT - RIGHT - 36), 1)


def _y(share: float) -> float:
    return round(TOP + (1 - share) * (HEIGHT - TOP - BOTTOM), 1)
