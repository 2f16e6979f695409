"""Tests of ``scrapy frontier``: stats, list, requeue, forget, export and import."""

from __future__ import annotations

import gzip
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from tests.unit.addons.url_patterns.test_patterns import scrapy
from topiccrawl.addons.queue_admin.commands import frontier as commands
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.links.strategies import FirstCome
from topiccrawl.model import Offer
from topiccrawl.storage.crawls import CrawlLog
from topiccrawl.topics.topic import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from topiccrawl.frontier.entries import Entry

    Run = Callable[..., tuple[int, str]]

SITE = "http://a.test"
TOPIC = "新能源汽车"
QUICK = Politeness(delay=0.0, jitter=0.0, adaptive=False, robots=False, concurrency=9)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    def run(*arguments: str, folder: str = "here") -> tuple[int, str]:
        where = ("-s", f"TOPICCRAWL_DATA_DIR={tmp_path / folder}")
        return scrapy(capsys, monkeypatch, "frontier", *arguments, *where)

    return run


@pytest.fixture(autouse=True)
def _crawl(tmp_path: Path) -> None:
    """Create a frontier with one crawled page, two queued URLs and two errors."""
    folder = tmp_path / "here" / "frontiers" / resolve(TOPIC).slug
    frontier = EmbeddedFrontier(folder, FirstCome(), QUICK, Limits(), owner=TOPIC, sync="never")
    frontier.push([Seed(f"{SITE}/")])
    links = [Offer(f"{SITE}/{n}", 0, ()) for n in range(4)]
    frontier.finish(frontier.pop()[0], Outcome(Ending.CRAWLED, "hub"), links)
    for lease in frontier.pop(2):
        frontier.finish(lease, Outcome(Ending.ERROR, "http-404"))
    frontier.close()
    log = CrawlLog(tmp_path / "here")
    log.finish(log.begin(TOPIC, str(folder), 0.0), "finished", 1.0)


def test_queues_are_counted_and_listed(run: Run) -> None:
    status, out = run("stats")
    assert status == 0
    stats = dict(line.split()[:2] for line in out.splitlines())
    assert (stats["prior"], stats["crawled"], stats["error"], stats["known"]) == (
        "2",
        "1",
        "2",
        "5",
    )
    assert stats["error/http-404"] == "2"
    assert run("list", "crawled") == (0, f"1.0000  {SITE}/  (hub)\n")
    assert run("list", "error", "-n", "1")[1].count("(http-404)") == 1
    assert run("list", "error", "--reason", "dns") == (0, "")


def test_counters_and_reasons_are_described_in_the_language(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANGUAGE", "zh")
    lines = run("stats")[1].splitlines()
    assert "prior                               2  priorQueue：等待中，价值高" in lines
    assert "known                               5  所有已记录的网址" in lines
    assert "error/http-404                      2  网页不存在（404）" in lines
    listed = run("list", "error", "-n", "1")[1]
    assert listed.endswith("  (http-404)  网页不存在（404）\n")
    assert run("list", "crawled")[1] == f"1.0000  {SITE}/  (列表)\n"


def test_urls_are_requeued_and_forgotten(run: Run) -> None:
    assert run("requeue", f"{SITE}/", f"{SITE}/none") == (
        0, f"{SITE}/none: not recorded, or nothing to change\n1 of 2 requeued\n",
    )  # fmt: skip
    assert run("requeue", "--reason", "http-404") == (0, "2 of 2 requeued\n")
    assert run("forget", f"{SITE}/1") == (0, "1 of 1 deleted\n")
    assert run("forget", f"{SITE}/1")[0] == 1
    stats = dict(line.split()[:2] for line in run("stats")[1].splitlines())
    assert (stats["prior"], stats["error"], stats["known"]) == ("4", "0", "4")


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_export_is_imported_into_another_folder(run: Run, tmp_path: Path, name: str) -> None:
    file = str(tmp_path / name)
    assert run("export", file) == (0, "")
    status, out = run("import", file, folder="there")
    assert (status, f"5 URLs of {TOPIC}" in out) == (0, True)
    assert run("stats", folder="there") == run("stats")
    assert run("export", "-", folder="there") == run("export", "-")
    status, out = run("import", file, folder="there")
    assert (status, "is not empty" in out) == (1, True)


def test_invalid_export_is_reported_and_not_loaded(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    assert run("import", str(file), folder="there")[0] == 1
    run("export", str(file))
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    status, out = run("import", str(file), folder="there")
    assert (status, f"{file}: not a valid frontier export" in out) == (1, True)
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(whole)[:-20])
    assert run("import", str(cut), folder="there")[0] == 1
    file.write_text("{}\n")
    assert run("import", str(file), folder="there")[0] == 1
    assert run("stats", folder="there")[0] == 1
    file.write_bytes(whole)
    assert run("import", str(file), folder="there")[0] == 0


def test_interrupted_export_and_import_leave_nothing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "out.jsonl"

    def interrupted(_: object) -> str:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(commands, "to_line", interrupted)
        assert run("export", str(file)) == (130, "interrupted\n")
    assert list(tmp_path.glob("*out*")) == []
    assert run("export", str(file)) == (0, "")
    load = EmbeddedFrontier.load

    def interrupted_load(self: EmbeddedFrontier, entries: Iterator[Entry]) -> int:
        load(self, islice(entries, 3))
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(EmbeddedFrontier, "load", interrupted_load)
        assert run("import", str(file), folder="there") == (130, "interrupted\n")
    assert run("import", str(file), folder="there")[0] == 0


def test_invalid_arguments_are_refused(run: Run) -> None:
    status, out = run("list", "nothing")
    assert (status, "invalid arguments 'list nothing': see `topiccrawl frontier -h`" in out) == (
        2,
        True,
    )
    assert run("requeue")[0] == 2
    assert run("requeue", f"{SITE}/", "--reason", "dns")[0] == 2
