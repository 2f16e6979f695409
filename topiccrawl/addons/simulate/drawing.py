"""Harvest curves as a self-contained HTML page, or as a PNG drawn by matplotlib (extra ``plot``).

The page has inline SVG and tables.
"""

from __future__ import annotations

import warnings
from html import escape
from importlib.util import find_spec
from math import ceil
from typing import TYPE_CHECKING

from topiccrawl.addons.simulate.report import table
from topiccrawl.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from topiccrawl.addons.simulate.harvest import Case, Harvest

Judged = tuple["Case", "Sequence[Harvest]"]
"""A topic and the harvest of each strategy."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Colours that are distinguishable with colour blindness (Okabe and Ito 2008)."""
ORACLE = "#999999"
POINTS = 300
"""Maximum number of points of a curve."""
WIDTH, HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 150, 16, 44

COLUMNS = 2
"""Maximum number of plots per row."""
DPI = 110
_FONTS = ("Noto Sans CJK SC", "Source Han Sans SC", "WenQuanYi Zen Hei", "SimHei", "DejaVu Sans")
"""Fonts in order of preference; the first ones have Chinese glyphs."""

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "pre{overflow-x:auto;font-size:13px}svg{width:100%;height:auto}"
    "text{font:12px system-ui,sans-serif}"
)

Points = list[tuple[float, float]]


def curve(one: Harvest) -> Points:
    """Return points (fetched, found) of a harvest: a sample with the first and last point."""
    return _sampled([(float(at), float(found)) for at, found in enumerate(one.counts, 1)])


def oracle(case: Case) -> Points:
    """Return points (fetched, found) of the oracle within the budget; [] if it has none."""
    known = [(float(at), float(found)) for at, found in case.oracle if at <= case.budget]
    return _sampled(known) if known else []


def _sampled(points: Points) -> Points:
    step = max(1, -(-len(points) // POINTS))
    return [(0.0, 0.0), *points[::step], *points[-1:]]


def page(title: str, judged: Sequence[Judged]) -> str:
    """Return a self-contained HTML page."""
    parts = [f"<h1>{escape(title)}</h1>"]
    for case, harvests in judged:
        parts.append(f"<h2>{escape(case.topic.name)}</h2>")
        parts.append(svg(case, harvests))
        parts.append(f"<pre>{escape(chr(10).join(table(case, harvests)))}</pre>")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def svg(case: Case, harvests: Sequence[Harvest]) -> str:
    """Return the curves of one topic as an SVG element."""
    top = max([one.found for one in harvests] + [found for _, found in case.oracle] + [1])
    lines = [(one.name, colour(n), "", curve(one)) for n, one in enumerate(harvests)]
    if points := oracle(case):
        lines.append(("oracle", ORACLE, ' stroke-dasharray="5 4"', points))
    parts = [*_axes(case.budget, top)]
    for row, (name, ink, dash, points) in enumerate(lines):
        places = " ".join(f"{_x(x, case.budget):.1f},{_y(y, top):.1f}" for x, y in points)
        parts.append(
            f'<polyline fill="none" stroke="{ink}" stroke-width="2"{dash} points="{places}"/>'
        )
        parts += _legend(name, ink, dash, _TOP + 12 + 20 * row)
    label = escape(f"Relevant pages found by pages fetched: {case.topic.name}", quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-label="{label}">' + "".join(parts) + "</svg>"
    )


def colour(number: int) -> str:
    """Return the colour of a strategy by its index, from 0."""
    return COLOURS[number % len(COLOURS)]


def _x(fetched: float, budget: int) -> float:
    return _LEFT + fetched / budget * (WIDTH - _LEFT - _RIGHT)


def _y(found: float, top: float) -> float:
    return HEIGHT - _BOTTOM - found / top * (HEIGHT - _TOP - _BOTTOM)


def _axes(budget: int, top: int) -> list[str]:
    left, right, bottom = _x(0, budget), _x(budget, budget), _y(0, top)
    parts = [f'<path d="M{left} {_TOP}V{bottom}H{right}" fill="none" stroke="#444"/>']
    for quarter in range(5):
        x, y = _x(budget * quarter / 4, budget), _y(top * quarter / 4, top)
        parts.append(_text(x, bottom + 16, "middle", f"{budget * quarter / 4:.0f}"))
        parts.append(_text(left - 6, y + 4, "end", f"{top * quarter / 4:.0f}"))
        parts.append(f'<path d="M{left} {y:.1f}H{right}" stroke="#ddd"/>')
    parts.append(_text((left + right) / 2, HEIGHT - 8, "middle", "pages fetched"))
    parts.append(
        f'<text transform="translate(14 {(_TOP + bottom) / 2}) rotate(-90)"'
        ' text-anchor="middle">relevant pages</text>'
    )
    return parts


def _legend(name: str, ink: str, dash: str, y: float) -> list[str]:
    left = WIDTH - _RIGHT + 14
    line = f'<path d="M{left} {y}h22" stroke="{ink}" stroke-width="2"{dash}/>'
    return [line, _text(left + 28, y + 4, "start", name)]


def _text(x: float, y: float, anchor: str, words: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def write_plot(path: Path, title: str, judged: Sequence[Judged]) -> None:
    """Write the curves of all topics to a PNG.

    Raises:
        ConfigurationError: If matplotlib is not installed, or the file cannot be written.
    """
    check_plot()
    from matplotlib import font_manager, rc_context
    from matplotlib.figure import Figure as Canvas

    known = {font.name for font in font_manager.fontManager.ttflist}
    columns = min(COLUMNS, len(judged))
    rows = ceil(len(judged) / columns)
    with rc_context({"font.family": [font for font in _FONTS if font in known]}):
        figure = Canvas(figsize=(6.4 * columns, 3.8 * rows), layout="constrained")
        figure.suptitle(title)
        for place, one in enumerate(judged, 1):
            _draw(figure.add_subplot(rows, columns, place), one)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Glyph")  # no installed font has the glyph
            _save(path, figure)


def check_plot() -> None:
    """Check that matplotlib is installed.

    Raises:
        ConfigurationError: If it is not; names the extra to install.
    """
    if find_spec("matplotlib") is None:
        raise ConfigurationError(
            "--plot needs matplotlib: pip install 'topiccrawl[plot]', or use --html"
        )


def _draw(axes: Axes, judged: Judged) -> None:
    case, harvests = judged
    if points := oracle(case):
        axes.plot(*zip(*points, strict=True), color=ORACLE, linestyle="--", label="oracle")
    for number, one in enumerate(harvests):
        label = f"{one.name} ({one.area:.3f})"
        axes.plot(*zip(*curve(one), strict=True), color=colour(number), label=label)
    axes.set_title(case.topic.name)
    axes.set_xlabel("pages fetched")
    axes.set_ylabel("relevant pages")
    axes.set_xlim(0, case.budget)
    axes.set_ylim(bottom=0)
    axes.legend(loc="lower right")


def _save(path: Path, figure: Figure) -> None:
    try:
        figure.savefig(path, dpi=DPI, format="png")
    except OSError as error:
        raise ConfigurationError(
            "--plot {path}: cannot be written: {strerror}", path=path, strerror=error.strerror
        ) from error
