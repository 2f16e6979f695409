"""Tests of the chart and the HTML report of a simulation."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from topiccrawl.addons.simulate.harvest import Case, harvest
from topiccrawl.addons.simulate.report import (
    HEIGHT,
    POINTS,
    WIDTH,
    check_plot,
    page,
    svg,
    write_plot,
)
from topiccrawl.errors import ConfigurationError
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from pathlib import Path

TOPIC = Topic(name="足球 <b> & Co", terms={"足球": 1.0})
NAMES = [f"p{n}" for n in range(2_000)]
ORACLE = tuple((at, min(at, 700)) for at in range(1, 2_001))
CASE = Case(TOPIC, frozenset(NAMES[::3]), 2_000, 4_000, 700, ORACLE, 1e6)
FOUND = [harvest("best-first", reversed(NAMES), CASE), harvest("shark-plus", NAMES[:900], CASE)]


def test_curves_rise_inside_the_chart() -> None:
    root = ET.fromstring(svg(CASE, FOUND))  # noqa: S314  (our own)
    curves = [line.attrib["points"] for line in root.iter() if line.tag.endswith("polyline")]
    assert len(curves) == 3  # two strategies and the oracle
    for points in curves:
        places = [tuple(map(float, point.split(","))) for point in points.split()]
        assert len(places) <= POINTS + 2
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in places)
        assert places == sorted(places, key=lambda place: (place[0], -place[1]))
    assert {"best-first", "shark-plus", "oracle"} <= {text.text for text in root.iter()}


def test_page_is_self_contained_and_escapes_names() -> None:
    html = page("a.web.jsonl.gz", [(CASE, FOUND)])
    assert "足球 &lt;b&gt; &amp; Co" in html
    assert "<b>" not in html
    assert not re.search(r"<script|<link|<img|src=|url\(", html)
    assert f"{FOUND[0].area:.3f}" in html


def test_empty_case_is_drawn() -> None:
    empty = Case(TOPIC, frozenset(), 5, 5, 0, (), 0.0)
    assert harvest("bfs", [], empty).area == 0
    ET.fromstring(svg(empty, [harvest("bfs", [], empty)]))  # noqa: S314  (our own)


def test_plot_is_a_png_file(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra topiccrawl[plot] is not installed")
    path = tmp_path / "curves.png"
    write_plot(path, "title", [(CASE, FOUND)] * 3)
    assert path.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ConfigurationError, match="cannot be written"):
        write_plot(tmp_path / "none" / "curves.png", "title", [(CASE, FOUND)])


def test_missing_matplotlib_is_reported_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ConfigurationError, match=r"topiccrawl\[plot\]"):
        check_plot()
