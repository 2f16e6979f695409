"""Curves as inline SVG elements."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.storage.formats import template

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WIDTH, HEIGHT = 720, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 12, 12, 30
MAX_POINTS = 400
"""Maximum number of points of a drawn curve."""


class Curve(NamedTuple):
    """A line through points (x, y); ``style`` is a class of the page's style sheet."""

    name: str
    style: str
    points: Sequence[tuple[float, float]]


def chart(
    label: str,
    curves: Sequence[Curve],
    *,
    top: float = 0.0,
    x_text: Callable[[float], str],
    y_text: Callable[[float], str],
) -> str:
    """Draw curves over a common x axis as an SVG element.

    Args:
        label: Text alternative for screen readers.
        curves: Curves; the area below the first one is filled.
        top: End of the y axis; 0 derives it from the largest value.
        x_text: Formats labels of the x axis.
        y_text: Formats labels of the y axis.
    """
    points = [point for curve in curves for point in curve.points]
    right = max((x for x, _ in points), default=0.0) or 1.0
    top = top or axis_end(max((y for _, y in points), default=0.0))
    return template("topiccrawl.addons.dashboard", "templates/curves.svg").render(
        label=label, lines=[(one.style, thinned(one.points)) for one in curves],
        width=WIDTH, height=HEIGHT, right=right, top=top, x_text=x_text, y_text=y_text,
        x=lambda value: _LEFT + value / right * (WIDTH - _LEFT - _RIGHT),
        y=lambda value: HEIGHT - _BOTTOM - value / top * (HEIGHT - _TOP - _BOTTOM),
    )  # fmt: skip


def thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Reduce a curve to at most ``MAX_POINTS`` points and its last point.

    >>> len(thinned([(float(n), 0.0) for n in range(5000)])) <= MAX_POINTS + 1
    True
    """
    step = max(1, -(-len(points) // MAX_POINTS))
    return [*points[::step], *(points[-1:] if (len(points) - 1) % step else ())]


def axis_end(value: float) -> float:
    """Return the end of an axis with four equal steps of round numbers, not below a value.

    >>> axis_end(186.0), axis_end(3.0), axis_end(0.0)
    (200.0, 4.0, 4.0)
    """
    step = 10.0 ** floor(log10(max(value, 4.0) / 4.0))
    return next(4.0 * step * n for n in (1.0, 2.0, 2.5, 5.0, 10.0) if 4.0 * step * n >= value)
