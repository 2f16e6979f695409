"""Harvest curves as a PNG, drawn by matplotlib (extra ``plot``)."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from math import ceil
from typing import TYPE_CHECKING

from topiccrawl.addons.simulate.drawing import ORACLE, Judged, colour, curve, oracle
from topiccrawl.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


COLUMNS = 2
"""Maximum number of plots per row."""
DPI = 110
_FONTS = ("Noto Sans CJK SC", "Source Han Sans SC", "WenQuanYi Zen Hei", "SimHei", "DejaVu Sans")
"""Fonts in order of preference; the first ones have Chinese glyphs."""


def write(path: Path, title: str, judged: Sequence[Judged]) -> None:
    """Write the curves of all topics to a PNG.

    Raises:
        ConfigurationError: If matplotlib is not installed, or the file cannot be written.
    """
    check()
    from matplotlib import font_manager, rc_context  # noqa: PLC0415  (optional)
    from matplotlib.figure import Figure as Canvas  # noqa: PLC0415

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


def check() -> None:
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
