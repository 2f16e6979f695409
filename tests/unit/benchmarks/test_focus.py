"""Tests of the focus benchmark: its measure, its server and its marked pages."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from benchmarks.focus import Served, judge, marked_case
from topiccrawl.addons.simulate.collection import RecordedPage, RecordedWeb
from topiccrawl.addons.simulate.harvest import Case
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from pathlib import Path

WEB = RecordedWeb(
    RecordedPage(f"http://a.test/{path}", 200, (("Content-Type", "text/html"),), b"text", marks)
    for path, marks in (("", ()), ("1", ("sport",)), ("2", ("sport",)), ("3", ()))
)
CASE = Case(
    Topic(name="t", terms={"sport": 1.0}), WEB.relevant(["sport"]), 4, 4, 2, (), oracle_area=5
)


def test_area_counts_each_page_once_and_no_errors(tmp_path: Path) -> None:
    lines = [(200, "http://a.test/"), (404, "http://a.test/9"), (200, "http://a.test/1")]
    lines += [(200, "http://a.test/1"), (200, "http://a.test/robots.txt"), (200, "http://a.test/3")]
    lines += [(0, "http://a.test/2")]
    log = tmp_path / "access.tsv"
    log.write_text("".join(f"0.1\t1\t{status}\t5\t{url}\n" for status, url in lines))
    result = judge(log, WEB, CASE)
    # fetched: front, 1, 3; found after each: 0, 1, 1, then 1 to the end of the budget: 3 of 5
    assert (result.pages, result.found) == (3, 1)
    assert result.area == pytest.approx(3 / 5)


def test_unknown_pages_are_404_and_unknown_hosts_502() -> None:
    served = Served(WEB)
    statuses = [
        served.answer(f"http://{where}").status for where in ("a.test/1", "a.test/x", "b.test/")
    ]
    assert statuses == [200, 404, 502]


def test_marked_pages_do_not_count() -> None:
    case, marks = marked_case(WEB, CASE, 1, random.Random(1))  # noqa: S311
    (wanted,) = (mark for mark in marks if mark.wanted)
    (unwanted,) = (mark for mark in marks if not mark.wanted)
    (removed,) = CASE.relevant - case.relevant
    assert wanted.url == f"http://{removed}"
    assert unwanted.url in {"http://a.test/", "http://a.test/3"}
    assert (len(CASE.relevant), len(case.relevant), case.budget) == (2, 1, 4)
