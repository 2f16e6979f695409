"""Tests of the chart and the HTML report of a simulation."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from topiccrawl.addons.simulate.harvest import Case, harvest
from topiccrawl.addons.simulate.report import HEIGHT, POINTS, WIDTH, page, svg
from topiccrawl.topics.topic import Topic

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


def test_curves_are_lines_of_the_page_that_can_be_cut_out() -> None:
    lines = page("a.web.jsonl.gz", [(CASE, FOUND)]).splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("<svg"))
    root = ET.fromstring("\n".join(lines[start : lines.index("</svg>") + 1]))  # noqa: S314  (our own)
    assert "font-size" in root.attrib, "no style of the page is needed"


def test_empty_case_is_drawn() -> None:
    empty = Case(TOPIC, frozenset(), 5, 5, 0, (), 0.0)
    assert harvest("bfs", [], empty).area == 0
    ET.fromstring(svg(empty, [harvest("bfs", [], empty)]))  # noqa: S314  (our own)
