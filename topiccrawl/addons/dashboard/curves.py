"""Curves and bars as SVG elements: pictures inside a page, without anything from elsewhere."""

from __future__ import annotations

from html import escape
from math import floor, log10
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WIDTH, HEIGHT = 720, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 12, 12, 30
MOST = 400
"""Maximum of points of a drawn curve."""


class Curve(NamedTuple):
    """A line through points (x, y); ``style`` names a class of the page's style sheet."""

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
    """Curves over a common axis, as an SVG element.

    Args:
        label: Text alternative for screen readers.
        curves: The first one is filled.
        top: Of the y axis; the largest value where 0.
        x_text: Writes a place of the x axis.
        y_text: Writes a place of the y axis.
    """
    points = [point for curve in curves for point in curve.points]
    right = max((x for x, _ in points), default=0.0) or 1.0
    top = top or nice(max((y for _, y in points), default=0.0))
    parts = [*_grid(right, top, x_text, y_text)]
    for number, curve in enumerate(curves):
        places = [(_x(x, right), _y(y, top)) for x, y in thinned(curve.points)]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        if number == 0 and places:
            base = f"{_y(0, top):.1f}"
            first, last = f"{places[0][0]:.1f},{base}", f"{places[-1][0]:.1f},{base}"
            parts.append(f'<polygon class="fill" points="{first} {line} {last}"/>')
        parts.append(f'<polyline class="{curve.style}" points="{line}"/>')
    name = escape(label, quote=True)
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{name}">'
        + "".join(parts)
        + "</svg>"
    )


def thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """At most ``MOST`` of the points and the last one.

    >>> len(thinned([(float(n), 0.0) for n in range(5000)])) <= MOST + 1
    True
    """
    step = max(1, -(-len(points) // MOST))
    return [*points[::step], *(points[-1:] if (len(points) - 1) % step else ())]


def nice(value: float) -> float:
    """The end of an axis in four equal steps that people count by, not below a value.

    >>> nice(186.0), nice(3.0), nice(0.0)
    (200.0, 4.0, 4.0)
    """
    step = 10.0 ** floor(log10(max(value, 4.0) / 4.0))
    return next(4.0 * step * n for n in (1.0, 2.0, 2.5, 5.0, 10.0) if 4.0 * step * n >= value)


def bar(share: float) -> str:
    """A bar that is filled to a share in [0, 1], as an SVG element."""
    width = 100 * max(0.0, min(1.0, share))
    return (
        '<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="100" height="6" class="rest"/><rect width="{width:.1f}" height="6"/></svg>'
    )


def _grid(
    right: float, top: float, x_text: Callable[[float], str], y_text: Callable[[float], str]
) -> list[str]:
    parts = []
    for quarter in range(5):
        y, x = _y(top * quarter / 4, top), _x(right * quarter / 4, right)
        end = ("start", "middle", "middle", "middle", "end")[quarter]
        parts.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}"/>')
        parts.append(_text(_LEFT - 8, y + 4, "end", y_text(top * quarter / 4)))
        parts.append(_text(x, HEIGHT - 8, end, x_text(right * quarter / 4)))
    return parts


def _x(value: float, right: float) -> float:
    return _LEFT + value / right * (WIDTH - _LEFT - _RIGHT)


def _y(value: float, top: float) -> float:
    return HEIGHT - _BOTTOM - value / top * (HEIGHT - _TOP - _BOTTOM)


def _text(x: float, y: float, anchor: str, words: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
