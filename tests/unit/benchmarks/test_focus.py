"""The judge of the focus benchmark, on a web whose curve is known by hand."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.focus import Collection, crawl, figures, judge
from topiccrawl.demo import generate

if TYPE_CHECKING:
    from pathlib import Path

PAGES = [
    {"url": "http://a.test/", "body": "front", "label": "news"},
    {"url": "http://a.test/1", "body": "one", "label": "sport.football"},
    {"url": "http://a.test/2", "body": "two", "categories": ["subject.sport"]},
    {"url": "http://a.test/3", "body": "three", "label": "sports"},
]
TOPIC = {"name": "t", "relevant": ["sport"], "budget": 4, "oracle_area": 5}


def collection(folder: Path) -> Collection:
    path = folder / "web.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(page) + "\n" for page in PAGES)
    return Collection(path)


def test_the_area_under_the_curve_counts_each_page_once_and_errors_never(tmp_path: Path) -> None:
    lines = [(200, "http://a.test/"), (404, "http://a.test/9"), (200, "http://a.test/1")]
    lines += [(200, "http://a.test/1"), (200, "http://a.test/robots.txt"), (200, "http://a.test/3")]
    log = tmp_path / "access.tsv"
    log.write_text("".join(f"0.1\t1\t{status}\t5\t{url}\n" for status, url in lines))
    result = judge(log, collection(tmp_path), TOPIC)
    # fetched: front, 1, 3; found after each: 0, 1, 1, and 1 to the end of the budget: 3 of 5
    assert (result.pages, result.found) == (3, 1)
    assert result.area == pytest.approx(3 / 5)


def test_unknown_pages_and_hosts_are_answered_as_a_web_does(tmp_path: Path) -> None:
    web = collection(tmp_path)
    statuses = [
        web.answer(f"http://{where}").status for where in ("a.test/1", "a.test/x", "b.test/")
    ]
    assert statuses == [200, 404, 502]


def test_figures_are_flat_and_paired() -> None:
    areas = {"best-first": {"a": 0.5, "b": 0.75}, "shark-plus": {"a": 0.75, "b": 0.5}}
    assert figures(areas) == {
        "mean_area": 0.625,
        "mean_minus_best_first": 0.0,
        "worst_minus_best_first": -0.25,
        "area.a": 0.75,
        "area.b": 0.5,
        "mean_area.best-first": 0.625,
        "mean_area.shark-plus": 0.625,
    }


@pytest.mark.quality
def test_the_default_finds_the_demo_webs_topic_sooner_than_best_first(tmp_path: Path) -> None:
    path = tmp_path / "demo.web.jsonl.gz"
    generate(11, 400, traps=False, faults=False).write_collection(path)
    (topic,) = json.loads((tmp_path / "demo.topics.json").read_text(encoding="utf-8"))
    web = Collection(path)
    ours = crawl(web, topic, "shark-plus", 8).area
    assert ours >= 0.70  # floor; .79 when it was set
    assert ours > crawl(web, topic, "best-first", 8).area - 0.02
