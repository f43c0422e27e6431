"""Where the marks of a plot stand, in pixels. Pure geometry; the template draws it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

ROW = 22
TOP = 10
AXIS = 26
CHARACTER = 6.6
"""Width of a character of the labels' font, at most about."""
MAX_LABEL_CHARS = 40
TICKS = 4
EVEN = 1e-12
"""Figures closer than this are the same."""


@dataclass(frozen=True, slots=True)
class Point:
    """A figure with its interval, to be drawn."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    kind: str = ""
    """The style it is drawn in: `better`, `worse`, `differs`, `baseline` or none."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A point's place."""

    point: Point
    label: str
    y: float
    x: float | None
    left: float | None
    right: float | None


@dataclass(frozen=True, slots=True)
class Tick:
    """A line of the axis."""

    x: float
    label: str


@dataclass(frozen=True, slots=True)
class DotPlot:
    """A dot with a whisker for every point, one below the other."""

    width: int
    height: int
    plot_left: float
    marks: tuple[Mark, ...]
    ticks: tuple[Tick, ...]

    @property
    def reference(self) -> float | None:
        """Return where the baseline's dot stands."""
        return next((mark.x for mark in self.marks if mark.point.kind == "baseline"), None)


def dot_plot(points: Sequence[Point], *, width: int = 540) -> DotPlot:
    """Lay out `points`, at least one of which has a value, on an axis as wide as they need."""
    labels = [_shortened(point.label) for point in points]
    left = round(max(map(len, labels)) * CHARACTER) + 14
    right = width - 16
    ends = [end for p in points for end in (p.value, p.low, p.high) if end is not None]
    steps = nice_ticks(min(ends), max(ends))
    low, high = min(steps[0], *ends), max(steps[-1], *ends)

    def place(value: float | None) -> float | None:
        return (
            None
            if value is None
            else round(left + (value - low) / (high - low) * (right - left), 1)
        )

    marks = tuple(
        Mark(
            point, label, TOP + ROW * (at + 0.5), *map(place, (point.value, point.low, point.high))
        )
        for at, (point, label) in enumerate(zip(points, labels, strict=True))
    )
    ticks = tuple(Tick(place(step) or 0.0, tick_label(step, steps)) for step in steps)
    return DotPlot(width, TOP + ROW * len(points) + AXIS, left, marks, ticks)


def nice_ticks(low: float, high: float) -> list[float]:
    """
    Return at least two round numbers, evenly spaced, the outer ones enclosing `low` and `high`.
    """
    if high - low < EVEN:
        low, high = low - (abs(low) or 1) / 10, high + (abs(high) or 1) / 10
    rough = (high - low) / TICKS
    power = 10.0 ** floor(log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough - EVEN)
    first, last = floor(low / step + EVEN), ceil(high / step - EVEN)
    return [number * step for number in range(first, max(last, first + 1) + 1)]


def tick_label(value: float, steps: Sequence[float]) -> str:
    """As many decimals as tell the steps apart."""
    decimals = max(0, -floor(log10(steps[1] - steps[0]) + EVEN))
    return f"{value:.{decimals}f}"


def _shortened(label: str) -> str:
    """Return a long label without its middle: runs of a grid differ at the end."""
    if len(label) <= MAX_LABEL_CHARS:
        return label
    kept = MAX_LABEL_CHARS - 1
    return f"{label[: kept // 2]}…{label[-(kept - kept // 2) :]}"


@dataclass(frozen=True, slots=True)
class Bar:
    """One query of a strip: a bar that rises or falls from the middle."""

    at: int
    """Which of the values it is."""
    x: float
    y: float
    width: float
    height: float
    rises: bool


@dataclass(frozen=True, slots=True)
class Strip:
    """Bars side by side, one for every value that is not zero."""

    width: int
    height: int
    bars: tuple[Bar, ...]


def strip(values: Sequence[float], *, most: float, width: int = 1000, height: int = 90) -> Strip:
    """
    Return bars for `values` in their order; one of `most` reaches the edge.

    Args:
        most: the greatest amount to be drawn, the same for all strips that are to be compared.
    """
    step = width / max(len(values), 1)
    middle = height / 2
    bars = []
    for at, value in enumerate(values):
        length = abs(value) / most * middle if most else 0.0
        if length:
            y = middle - length if value > 0 else middle
            bars.append(
                Bar(
                    at,
                    round(at * step, 2),
                    round(y, 2),
                    round(step, 2),
                    round(length, 2),
                    value > 0,
                )
            )
    return Strip(width, height, tuple(bars))


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a bar that stands for a whole."""

    name: str
    count: int
    x: float
    width: float


def shares(counts: Sequence[tuple[str, int]], *, width: float = 100.0) -> tuple[Share, ...]:
    """Return parts side by side in the order given, those of no width left out."""
    total = sum(count for _, count in counts)
    parts: list[Share] = []
    at = 0.0
    for name, count in counts:
        if count:
            part = count / total * width
            parts.append(Share(name, count, round(at, 3), round(part, 3)))
            at += part
    return tuple(parts)
