"""Tests of `scrapy simulate`, also against real crawls."""

from __future__ import annotations

import gzip
import json
import sys
from typing import TYPE_CHECKING

import pytest
from scrapy import cmdline
from typing_extensions import override

from benchmarks.focus import crawl, fetched_pages, in_flight
from lab.demo import generate
from tests.crawl.run import MEASURED
from topiccrawl.addons.adaptation.learner import TopicLearner
from topiccrawl.addons.simulate.collection import RecordedWeb
from topiccrawl.addons.simulate.harvest import harvest, labelled_case, read_truth
from topiccrawl.addons.simulate.orders import read as replays
from topiccrawl.addons.simulate.replay import Conditions, Replay
from topiccrawl.addons.simulate.session import CachingScorer
from topiccrawl.links.strategies import strategy
from topiccrawl.topics import SiteWords

if TYPE_CHECKING:
    from pathlib import Path

    from scrapy.settings import Settings

    from topiccrawl.addons.simulate.replay import Replayed
    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.model import Page, Verdict
    from topiccrawl.topics import Scorer
    from topiccrawl.topics.contract import TopicUpdate

PAGES = 260
SLOW_START = 1000
"""Pages of slow start, with which one page at a time is requested, in a fixed order."""


@pytest.fixture(scope="module", name="demo")
def _demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demo") / "demo.web.jsonl.gz"
    generate(5, PAGES, traps=False, faults=False).write_collection(path)
    return path


def truth_of(demo: Path) -> Path:
    return demo.with_name("demo.topics.json")


class ImmediateLearner(TopicLearner):
    """An adapter that applies changes before they are stored, as a replay does.

    A crawl applies a change once it is stored, some pages later on a slow disk.
    """

    def __init__(self, scorer: Scorer, order: LinkStrategy, method: str) -> None:
        super().__init__(scorer, order, method)
        self._changes = 0
        self._unstored: list[TopicUpdate] = []

    @override
    def learn(self, page: Page, verdict: Verdict) -> bool:
        is_learnt = super().learn(page, verdict)
        if change := super().adapt():
            self._changes += 1
            super().apply(self._changes, change)
            self._unstored.append(change)
        return is_learnt

    @override
    def adapt(self) -> TopicUpdate | None:
        return self._unstored.pop(0) if self._unstored else None

    @override
    def apply(self, number: int, change: TopicUpdate | None = None) -> None:
        """Do nothing: the change is already in use."""


def immediate(_settings: Settings, scorer: Scorer, order: LinkStrategy) -> ImmediateLearner:
    """Return the adapter of the crawl, for ``TOPICCRAWL_ADAPTER``."""
    return ImmediateLearner(scorer, order, "words")


@pytest.mark.crawl
@pytest.mark.parametrize(
    ("name", "method", "batch"),
    [("best-first", "off", 1), ("shark-plus", "words", 1), ("shark-plus", "off", 8)],
)
@pytest.mark.slow
def test_replay_fetches_the_pages_of_a_crawl(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, method: str, batch: int
) -> None:
    monkeypatch.delenv(MEASURED, raising=False)
    web = RecordedWeb.read(demo)
    (labelled,) = read_truth(truth_of(demo)).values()
    case = labelled_case(web, labelled)
    if batch > 1:  # start URLs and robots.txt files are certain, so they are fetched at once
        one = case.topic.model_copy(update={"seeds": case.topic.seeds[:1]})
        case = case._replace(topic=one)
    path = f"{__name__}.immediate" if method == "words" else ""
    adaptation = [f"TOPICCRAWL_ADAPTATION={method}", f"TOPICCRAWL_ADAPTER={path}"]
    # no request while a page is scraped: otherwise its number depends on the machine's speed
    one_by_one = [*in_flight(batch), "SCRAPER_SLOT_MAX_ACTIVE_SIZE=0"]
    one_by_one += [f"TOPICCRAWL_SLOW_START={SLOW_START}", f"ROBOTSTXT_OBEY={int(batch == 1)}"]
    real = crawl(web, case, name, [*one_by_one, *adaptation], keep=tmp_path)
    scorer = CachingScorer(case.topic, sites=SiteWords())
    robots = batch == 1
    conditions = Conditions(case.budget, batch, SLOW_START, robots=robots)
    order = strategy(name, scorer)
    adapter = None if method == "off" else TopicLearner(scorer, order, method)
    replayed = Replay(web, case.topic, scorer, order, conditions, adapter).run()
    (log,) = tmp_path.glob("*.tsv")
    assert fetched_pages(log, web)[: case.budget] == list(replayed.fetched)
    assert harvest(name, replayed.fetched, case).area == pytest.approx(real.area, abs=1e-9)
    assert replayed.changes == (3 if method == "words" else 0)


class CountingLearner(TopicLearner):
    """An adapter from outside of the package."""

    pages = 0

    @override
    def learn(self, page: Page, verdict: Verdict) -> bool:
        CountingLearner.pages += 1
        return super().learn(page, verdict)


def counting(_settings: Settings, scorer: Scorer, order: LinkStrategy) -> CountingLearner:
    """Return the adapter of the replay, for ``TOPICCRAWL_ADAPTER``."""
    return CountingLearner(scorer, order, "words")


@pytest.mark.parametrize(("path", "learns"), [(f"{__name__}.counting", True), ("", False)])
def test_a_replay_learns_with_the_adapter_of_the_settings(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    demo: Path,
    path: str,
    *,
    learns: bool,
) -> None:
    monkeypatch.setattr(CountingLearner, "pages", 0)
    status, out = scrapy(
        capsys, monkeypatch, "simulate", str(demo), "--truth", str(truth_of(demo)),
        "--strategy", "best-first", "--budget", "30", "-s", f"TOPICCRAWL_ADAPTER={path}",
    )  # fmt: skip
    assert status == 0, out
    assert CountingLearner.pages == (30 if learns else 0)


def scrapy(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> tuple[int, str]:
    monkeypatch.setattr(sys, "argv", ["scrapy", *arguments])
    with pytest.raises(SystemExit) as end:
        cmdline.execute()
    captured = capsys.readouterr()
    return int(end.value.code or 0), captured.out + captured.err


def test_strategies_are_compared(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, demo: Path, tmp_path: Path
) -> None:
    html, figures = tmp_path / "a.html", tmp_path / "a.json"
    status, out = scrapy(
        capsys, monkeypatch, "simulate", str(demo), "--truth", str(truth_of(demo)),
        "--strategy", "bfs", "--strategy", "shark-plus", "--strategy", "best-first",
        "--html", str(html), "--json", str(figures),
    )  # fmt: skip
    assert status == 0, out
    assert "relevant of" in out
    assert "to best-first" in out
    found = json.loads(figures.read_text())
    assert found["mean_area"] == found["mean_area.shark-plus"] > found["mean_area.bfs"]
    assert html.read_text(encoding="utf-8").count("<polyline") == 4


def test_two_collections_in_two_processes_with_other_seeds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    webs = [tmp_path / f"{name}.web.jsonl.gz" for name in ("one", "two")]
    for seed, web in enumerate(webs):
        generate(seed + 5, 120, traps=False, faults=False).write_collection(web)
    figures = tmp_path / "a.json"
    status, out = scrapy(
        capsys, monkeypatch, "simulate", *map(str, webs), "--seed-sets", "2", "--processes", "2",
        "--strategy", "best-first", "--strategy", "examples.link_strategy.UrlWords",
        "--json", str(figures), "--plot", str(tmp_path / "a.png"),
    )  # fmt: skip
    assert status == 0, out
    assert f"--plot is deprecated: {tmp_path / 'a.html'} has the curves" in out
    assert (tmp_path / "a.html").read_text(encoding="utf-8").count("<svg") == 4
    assert "one.web.jsonl.gz: mean area over 2 topics" in out
    assert "all: mean area over 4 topics" in out
    assert out.count(", spread ") == 6
    areas = [name for name in json.loads(figures.read_text()) if name.startswith("area.")]
    assert sum("set 2" in name for name in areas) == 2


def test_order_of_pages_is_written_and_reproducible(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, demo: Path, tmp_path: Path
) -> None:
    files = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    for file in files:
        status, out = scrapy(
            capsys, monkeypatch, "simulate", str(demo), "--truth", str(truth_of(demo)),
            "--strategy", "best-first", "--strategy", "bfs", "--order", str(file),
        )  # fmt: skip
        assert status == 0, out
    best, bfs = map(json.loads, files[0].read_text(encoding="utf-8").splitlines())
    assert (best["strategy"], bfs["strategy"]) == ("best-first", "bfs")
    web = RecordedWeb.read(demo)
    (labelled,) = read_truth(truth_of(demo)).values()
    case = labelled_case(web, labelled)
    assert harvest("bfs", bfs["pages"], case).area == pytest.approx(bfs["area"], abs=1e-6)
    assert len(set(best["pages"])) == len(best["pages"]) == len(bfs["pages"]) == case.budget
    assert best["pages"] != bfs["pages"]
    assert files[0].read_bytes() == files[1].read_bytes()


def test_site_word_weights_are_separate_for_each_replay(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, demo: Path, tmp_path: Path
) -> None:
    def order(*options: str) -> list[str]:
        file = tmp_path / "order.jsonl"
        status, out = scrapy(
            capsys, monkeypatch, "simulate", str(demo), "--order", str(file), *options
        )
        assert status == 0, out
        pages: list[str] = json.loads(file.read_bytes().splitlines()[-1])["pages"]
        return pages

    alone = order("--strategy", "shark-plus")
    assert order("--strategy", "best-first", "--strategy", "shark-plus") == alone
    assert order("--strategy", "shark-plus", "-s", "TOPICCRAWL_SITE_WORDS=0") != alone


def test_interrupted_run_continues_from_its_order_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, demo: Path, tmp_path: Path
) -> None:
    whole, resumed = tmp_path / "whole.jsonl", tmp_path / "resumed.jsonl"
    common = (
        "simulate", str(demo), "--budget", "30", "--seed-sets", "3", "--strategy", "best-first",
        "--strategy", "bfs", "--json", str(tmp_path / "figures.json"), "--order",
    )  # fmt: skip
    assert scrapy(capsys, monkeypatch, *common, str(whole))[0] == 0
    figures = (tmp_path / "figures.json").read_bytes()
    run, runs = Replay.run, []

    def interrupted(replay: Replay) -> Replayed:
        runs.append(replay)
        if len(runs) == 4:  # the second strategy of the second set of start pages
            raise KeyboardInterrupt
        return run(replay)

    monkeypatch.setattr(Replay, "run", interrupted)
    assert scrapy(capsys, monkeypatch, *common, str(resumed))[0] != 0
    lines = resumed.read_bytes().splitlines(keepends=True)
    assert lines == whole.read_bytes().splitlines(keepends=True)[:2]
    resumed.write_bytes(b"".join(lines) + b'{"topic": "killed wh')
    status, out = scrapy(capsys, monkeypatch, *common, str(resumed), "--resume")
    assert (status, len(runs)) == (0, 4 + 4), out
    status, out = scrapy(capsys, monkeypatch, *common, str(tmp_path / "new.jsonl"), "--resume")
    assert status == 0, out
    assert (tmp_path / "new.jsonl").read_bytes() == whole.read_bytes()
    assert resumed.read_bytes() == whole.read_bytes()
    assert (tmp_path / "figures.json").read_bytes() == figures
    # with another number of concurrent requests, nothing in the file applies
    status, out = scrapy(
        capsys, monkeypatch, *common, str(resumed), "--resume", "--batch", "4", "--processes", "2"
    )
    assert status == 0, out
    assert len(resumed.read_bytes().splitlines()) == 6 + 6


def test_resume_needs_the_file_of_an_interrupted_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, demo: Path, tmp_path: Path
) -> None:
    status, out = scrapy(capsys, monkeypatch, "simulate", str(demo), "--resume")
    assert (status, "--order FILE" in out) == (1, True), out
    status, out = scrapy(
        capsys, monkeypatch, "simulate", str(demo), "--resume", "--order", str(tmp_path)
    )
    assert (status, f"{tmp_path}: cannot be read" in out) == (1, True), out
    other = tmp_path / "other.jsonl"
    common = ("simulate", str(demo), "--budget", "10", "--order", str(other))
    for text in ('{"url": "http://a.test/"}\n', '{"url": "http://a.test/"}', "[]\n"):
        other.write_text(text)
        status, out = scrapy(capsys, monkeypatch, *common, "--resume")
        assert (status, "line 1: not a replay" in out) == (1, True), out
        status, out = scrapy(capsys, monkeypatch, *common, "--topic", "none")
        assert (status, other.read_text()) == (1, text), out


def test_readers_keep_the_order_and_survive_breaking_pages(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    demo: Path,
    tmp_path: Path,
) -> None:
    web = tmp_path / "bombs.web.jsonl"
    bombs = [{"url": f"http://bomb.test/{name}", "body": "<p>x"} for name in ("segfault", "exit")]
    with gzip.open(demo, "rt", encoding="utf-8") as lines:
        web.write_text(lines.read() + "".join(json.dumps(bomb) + "\n" for bomb in bombs))
    orders = [tmp_path / f"{readers}.jsonl" for readers in (0, 2)]
    for readers, order in zip((0, 2), orders, strict=True):
        reader = "tests.unit.extract.readers_trial.TrialReader"
        trial = ("-s", f"TOPICCRAWL_READER={reader}") if readers else ()
        status, out = scrapy(
            capsys, monkeypatch, "simulate", str(web), "--truth", str(truth_of(demo)),
            "--budget", "60", "--order", str(order), "-s", f"TOPICCRAWL_READERS={readers}", *trial,
        )  # fmt: skip
        assert status == 0, out
    read = [[one._replace(replay="") for one in replays(order).values()] for order in orders]
    assert read[0] == read[1]
    assert all(bomb["url"] in caplog.text for bomb in bombs)


def test_failed_reader_is_replaced_and_invalid_one_refused(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    demo: Path,
) -> None:
    common = ("simulate", str(demo), "--truth", str(truth_of(demo)), "--budget", "20")
    status, out = scrapy(
        capsys, monkeypatch, *common, "-s", "TOPICCRAWL_READERS=1",
        "-s", "TOPICCRAWL_READER=tests.unit.extract.readers_trial.UnstartableReader",
    )  # fmt: skip
    assert (status, "relevant of" in out) == (0, True), out
    assert "pages are parsed in this process" in caplog.text
    status, out = scrapy(capsys, monkeypatch, *common, "-s", "TOPICCRAWL_READER=no.such.Reader")
    assert (status, "TOPICCRAWL_READER" in out, "Traceback" in out) == (1, True, False), out


def test_labels_beside_a_collection_are_used_and_help_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, demo: Path
) -> None:
    common = ("simulate", str(demo), "--strategy", "best-first", "--budget", "30")
    status, out = scrapy(capsys, monkeypatch, *common)
    assert status == 0, out
    assert "30 fetched" in out
    status, out = scrapy(capsys, monkeypatch, "simulate", "--help")
    assert status == 0, out
    lines = out.splitlines()  # Scrapy underlines lines that end with a colon
    assert {lines[n - 1] for n, line in enumerate(lines) if set(line) in ({"="}, {"-"})} == {
        "Usage", "Options", "Global Options",
    }  # fmt: skip


def test_topic_in_words_needs_no_labels(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, demo: Path
) -> None:
    (labelled,) = read_truth(truth_of(demo)).values()
    common = ("simulate", str(demo), "--topic", "新能源汽车", "--strategy", "best-first")
    status, out = scrapy(capsys, monkeypatch, *common)
    assert (status, "has none of its" in out) == (1, True)
    seeds = ",".join(labelled.seeds)
    arguments = ("--seeds", seeds, "--budget", "60", "--batch", "2")
    status, out = scrapy(capsys, monkeypatch, *common, *arguments)
    assert status == 0, out
    assert "reachable pages, 60 fetched" in out


def test_invalid_input_is_reported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, demo: Path, tmp_path: Path
) -> None:
    truth = ("--truth", str(truth_of(demo)))
    wrong = [
        ((), 2, "Usage"),
        ((str(tmp_path / "none.web.jsonl.gz"),), 1, "pass --topic or --truth"),
        ((str(tmp_path / "none"), "--topic", "足球"), 1, "no such collection"),
        ((str(demo), *truth, "--topic", "nothing"), 1, "has no topic 'nothing'"),
        ((str(demo), *truth, "--budget", "0"), 2, "--budget"),
        ((str(demo), *truth, "-s", "TOPICCRAWL_ADAPTATION=magic"), 1, "TOPICCRAWL_ADAPTATION"),
        ((str(demo), *truth, "-s", "TOPICCRAWL_ADAPTER=no.such"), 1, "cannot be loaded"),
        ((str(demo), *truth, "--json", str(tmp_path / "no" / "a")), 1, "cannot be written"),
    ]
    for arguments, code, message in wrong:
        status, out = scrapy(capsys, monkeypatch, "simulate", *arguments)
        assert (status, message in out) == (code, True), out
