"""Curves and bars as inline SVG elements."""

from __future__ import annotations

from html import escape
from math import floor, log10
from typing import TYPE_CHECKING, NamedTuple

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


def bar(share: float) -> str:
    """Draw a bar that is filled to a share in [0, 1] as an SVG element."""
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
