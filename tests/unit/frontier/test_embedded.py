"""Tests of the frontier's folder: locks, versions, growth, a full disk, a killed process."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from concurrent.futures import Future
from threading import Event
from typing import TYPE_CHECKING

import lmdb
import pytest

from tests.contracts.lines import recount
from tests.contracts.strategies import Best, Plain
from topiccrawl.errors import StateLockedError, StateVersionError, StorageError
from topiccrawl.frontier import store
from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
from topiccrawl.frontier.embedded import EmbeddedFrontier
from topiccrawl.frontier.entries import About, HostEntry, UrlEntry
from topiccrawl.frontier.portable import Export
from topiccrawl.frontier.rows import CRAWLED, Row, Urls
from topiccrawl.frontier.store import discard
from topiccrawl.frontier.view import View, strategy_of
from topiccrawl.model import Offer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from topiccrawl.frontier.entries import Entry

QUICK = Politeness(delay=0.0, jitter=0.0, adaptive=False, robots=False, concurrency=1000)
DONE = Outcome(Ending.CRAWLED)
MANY = [Seed(f"http://h{n % 7}.cn/{n}") for n in range(2000)]


def opened(path: Path, **limits: int) -> EmbeddedFrontier:
    return EmbeddedFrontier(path, Plain(), QUICK, Limits(**limits), sync="never")


def test_folder_is_locked_by_one_process(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    with pytest.raises(StateLockedError, match="another crawl uses it"):
        opened(tmp_path)
    with pytest.raises(StateLockedError):
        discard(tmp_path)
    frontier.close()
    opened(tmp_path).close()


class MoreFields(Plain):
    """``Plain`` with one more evidence field."""

    fields = (*Plain.fields, "more")


def test_strategy_with_an_added_field_opens_the_state(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.push(MANY[:1])
    frontier.finish(frontier.pop()[0], DONE, [Offer("http://a.cn/1", 1, (0.5, 0.0), "锚")])
    frontier.close()
    view = View.read(tmp_path, MoreFields())
    urls = [entry for entry in view.export() if isinstance(entry, UrlEntry) and entry.evidence]
    assert [len(entry.evidence) for entry in urls] == [3]
    view.close()
    EmbeddedFrontier(tmp_path, MoreFields(), QUICK, Limits()).close()
    with pytest.raises(StateVersionError, match="fresh"):
        opened(tmp_path)


def test_state_of_another_strategy_is_refused(tmp_path: Path) -> None:
    opened(tmp_path).close()
    with pytest.raises(StateVersionError, match="fresh"):
        EmbeddedFrontier(tmp_path, Best(), QUICK, Limits())
    with pytest.raises(StateVersionError):
        View.read(tmp_path, Best())
    opened(tmp_path).close()


def test_state_of_another_format_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "FORMAT", 1)
    opened(tmp_path).close()
    monkeypatch.undo()
    for open_it in (opened, strategy_of, lambda path: View.read(path, Plain())):
        with pytest.raises(StateVersionError, match=r"export FILE.*delete the folder"):
            open_it(tmp_path)
    discard(tmp_path)
    opened(tmp_path).close()


def test_discarded_frontier_is_empty(tmp_path: Path) -> None:
    discard(tmp_path / "none")
    frontier = opened(tmp_path)
    frontier.push(MANY)
    frontier.close()
    discard(tmp_path)
    frontier = opened(tmp_path)
    assert frontier.counts()["known"] == 0
    frontier.close()


def test_error_names_a_folder_that_cannot_be_created(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="file/frontier"):
        opened(tmp_path / "file" / "frontier")
    with pytest.raises(StorageError, match="cannot open"):
        View.read(tmp_path / "nothing", Plain())


def test_map_grows_before_it_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MAP_START", 8 << 20)
    monkeypatch.setattr(store, "MAP_ROOM", 7 << 20)
    frontier = opened(tmp_path)
    assert frontier.push(Seed(f"http://a.cn/{n}", payload="x" * 500) for n in range(9000)) == 9000
    lease = frontier.pop()[0]
    links = [Offer(f"http://b{n}.cn/", 1, (0.5, 0.0), context="x" * 120) for n in range(5000)]
    assert frontier.finish(lease, DONE, links)
    assert frontier.store.env.info()["map_size"] > 64 << 20
    frontier.close()


def test_reader_sees_committed_state_during_the_crawl(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.push([Seed("http://a.cn/")])
    lease = frontier.pop()[0]
    frontier.finish(lease, DONE, [Offer("http://a.cn/1", 1, (0.5, 0.0), "锚")])
    frontier.pop()
    frontier.commit()
    code = f"""
        import json
        from tests.contracts.strategies import Plain
        from topiccrawl.frontier.view import View
        view = View.read({str(tmp_path)!r}, Plain())
        entry = view.why("http://a.cn/1")
        print(json.dumps([view.counts(), entry.queue, entry.anchor, list(view.iterate("leased"))]))
        view.close()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], check=True, capture_output=True, text=True
    )
    counts, queue, anchor, leased = json.loads(done.stdout)
    assert (queue, anchor, leased[0][0]) == ("leased", "锚", "http://a.cn/1")
    assert counts == frontier.counts()
    frontier.close()


def test_explanation_of_a_page_reads_none_of_its_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frontier = opened(tmp_path)
    frontier.push([Seed("http://a.cn/")])
    links = [Offer(f"http://a.cn/{n}", 1, (0.5, 0.0)) for n in range(9)]
    frontier.finish(frontier.pop()[0], DONE, links)
    exported = {entry.url: entry.links for entry in frontier.export() if type(entry) is UrlEntry}
    read: list[bytes] = []
    row = Urls.row

    def counted(urls: Urls, key: bytes) -> Row | None:
        read.append(key)
        return row(urls, key)

    monkeypatch.setattr(Urls, "row", counted)
    assert frontier.why("http://a.cn/") is not None
    assert len(read) <= 3, "its row, and that of the page that linked to it"
    assert len(exported["http://a.cn/"]) == 9
    frontier.close()


def test_failed_flush_is_reported_though_nothing_changes(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    frontier.push([Seed("http://a.cn/")])
    frontier.commit()
    failed: Future[None] = Future()
    failed.set_exception(lmdb.DiskError("no space left on device"))
    frontier.store._pending = failed
    with pytest.raises(StorageError, match="no space left"):
        frontier.commit(wait=False)
    frontier.abandon()


def test_import_commits_by_time(tmp_path: Path) -> None:
    frontier, other = opened(tmp_path / "one"), opened(tmp_path / "two")
    frontier.push([Seed(f"http://h{n}.cn/") for n in range(50)])
    commits = []

    def slowly() -> Iterator[Entry]:
        for entry in frontier.export():
            time.sleep(0.01)
            commits.append(other.store.env.info()["last_txnid"])
            yield entry

    other.load(slowly())
    assert len(set(commits)) > 2
    frontier.close()
    other.close()


def test_crawl_continues_during_a_slow_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed = Event()
    frontier = opened(tmp_path)
    writer = frontier.store._writer
    submit = writer.submit

    def delayed_submit(task: Callable[[], object]) -> Future[object]:
        is_flush = task.__name__ == "commit"
        return submit(lambda: task() if not is_flush or flushed.wait(60) else None)

    monkeypatch.setattr(writer, "submit", delayed_submit)
    frontier.push([Seed("http://a.cn/"), Seed("http://a.cn/not")])
    frontier.commit(wait=False)
    (lease,) = frontier.pop()
    assert frontier.finish(lease, DONE, [Offer("http://a.cn/1", 1, (0.5, 0.0), "锚")])
    assert frontier.forget("http://a.cn/not")
    frontier.commit(wait=False)
    assert [url for url, _, _ in frontier.iterate("crawled")] == ["http://a.cn/"]
    assert [url for url, _, _ in frontier.iterate("normal")] == ["http://a.cn/1"]
    assert frontier.why("http://a.cn/not") is None
    assert [lease.anchor for lease in frontier.pop()] == ["锚"]
    assert not frontier.store.commit_done()
    flushed.set()
    frontier.commit()
    assert frontier.store.commit_done()
    counts = frontier.counts()
    frontier.abandon()
    frontier = opened(tmp_path)
    assert frontier.counts() == counts | {"normal": 1, "leased": 0}
    frontier.close()


EVICTING_CRAWL = """
    import random, sys
    from tests.contracts.strategies import Plain
    from topiccrawl.frontier.contract import Ending, Limits, Outcome, Politeness, Seed
    from topiccrawl.frontier.embedded import EmbeddedFrontier
    from topiccrawl.model import Offer
    quick = Politeness(delay=0.0, jitter=0.0, adaptive=False, robots=False, concurrency=1000)
    limits = Limits(max_known=int(sys.argv[2]))
    frontier = EmbeddedFrontier(sys.argv[1], Plain(), quick, limits, sync="never")
    rng = random.Random(3)
    for turn in range(300):
        frontier.push([Seed(f"http://a.cn/{turn}")])
        lane = 2 if limits.max_known else 1
        links = [Offer(f"http://h.cn/{rng.randrange(500)}", lane, (0.5, 0.0)) for _ in range(40)]
        frontier.finish(frontier.pop()[0], Outcome(Ending.CRAWLED), links)
        frontier.forget(f"http://h.cn/{rng.randrange(500)}")
        frontier.commit()
        if turn == 1:
            print("begun", flush=True)
    frontier.close()
"""


@pytest.mark.parametrize("max_known", [0, 120])
def test_view_is_consistent_while_records_are_evicted(tmp_path: Path, max_known: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(EVICTING_CRAWL), str(tmp_path), str(max_known)],
        stdout=subprocess.PIPE, text=True,
    ) as crawl:  # fmt: skip
        assert crawl.stdout is not None
        assert crawl.stdout.readline() == "begun\n"
        view = View.read(tmp_path, Plain())
        ended = False
        while not ended:
            ended = crawl.poll() is not None
            with view._store.reading():
                found = Counter(data[0] for _, _, data in view._urls.in_order())
                progress = view._store.load("progress")
                assert isinstance(progress, dict)
                tally = progress["tally"]
                assert view._store.size("urls") == found.total() == tally["known"]
                assert found[CRAWLED] == tally["crawled"]
                pages = [view.why(url) for url, _, _ in view.iterate("crawled")]
                crawled = sum(page.queue == "crawled" for page in pages if page)
                assert crawled == tally["crawled"]
                about, *entries = Export(view._store, Plain()).export()
                hosts = [entry for entry in entries if isinstance(entry, HostEntry)]
                assert isinstance(about, About)
                assert sum(host.pages for host in hosts) == about.pages
                assert all(host.fetched == host.pages for host in hosts)
    assert crawl.returncode == 0
    view.close()


def test_counters_agree_with_a_recount(tmp_path: Path) -> None:
    frontier = opened(tmp_path)
    rng = random.Random(5)  # noqa: S311
    frontier.push(MANY[:50])
    for _ in range(60):
        links = [Offer(rng.choice(MANY).url, rng.randrange(3), (0.5, 0.0)) for _ in range(20)]
        ending = rng.choice(list(Ending))
        outcome = Outcome(ending, "x", target=rng.choice(MANY).url, not_before=rng.choice([0, 4e9]))
        frontier.finish(frontier.pop()[0], outcome, links)
    frontier.pop(5)
    frontier.commit()
    counts = frontier.counts()
    assert recount(frontier.view) == {
        name: counts[name] for name in ("prior", "normal", "leased", "crawled", "error", "known")
    }
    frontier.close()


FULL_DISK = """
    import resource, signal, sys
    from tests.contracts.strategies import Plain
    from topiccrawl.errors import StorageError
    from topiccrawl.frontier.contract import Limits, Politeness, Seed
    from topiccrawl.frontier.embedded import EmbeddedFrontier
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    frontier = EmbeddedFrontier(sys.argv[1], Plain(), Politeness(), Limits())
    frontier.push([Seed("http://a.cn/%d" % n) for n in range(1000)])
    frontier.commit()
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
    errors = 0
    for n in range(1000, 9000):
        try:
            frontier.push([Seed("http://a.cn/%d" % n)])
        except StorageError as error:
            errors += 1
            print(error)
            if errors == 2:
                break
    frontier.close()
"""


def test_full_disk_is_an_error_and_keeps_committed_urls(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FULL_DISK), str(tmp_path)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    first, second = done.stdout.splitlines()
    assert first == second
    assert str(tmp_path) in first
    assert "free disk space" in first
    frontier = opened(tmp_path)
    sizes = recount(frontier.view)
    assert 1000 <= sizes["known"] == sizes["prior"] < 9000
    frontier.close()


CRAWL = """
    import sys, time
    from tests.contracts.strategies import Best
    from topiccrawl.frontier.contract import Download, Ending, Limits, Outcome, Politeness, Seed
    from topiccrawl.frontier.embedded import EmbeddedFrontier
    from topiccrawl.model import Offer
    politeness = Politeness(delay=0.0, jitter=0.0, adaptive=False, robots=False, concurrency=9)
    frontier = EmbeddedFrontier(sys.argv[1], Best(), politeness, Limits(max_crashes=1000))
    frontier.push([Seed("http://h0.cn/0/0")])
    print("open", flush=True)
    for url, _, _ in frontier.iterate("crawled"):  # killed before it was printed
        if int(url.rsplit("/", 1)[1]) % 50 == 0:
            print(url, flush=True)
    while leases := frontier.pop(4):
        for lease in leases:
            frontier.begin(lease)
            n = int(lease.url.rsplit("/", 1)[1])
            links = [Offer(f"http://h{m % 5}.cn/{m % 3}/{m}", 1, (m % 8 / 8, 0.0))
                     for m in range(2 * n + 1, 2 * n + 9) if m < 1500]
            frontier.downloaded(lease, Download(200, 0.1))
            frontier.finish(lease, Outcome(Ending.CRAWLED, relevance=0.5), links)
            if n % 50 == 0:
                frontier.commit()
                print(lease.url, flush=True)
            time.sleep(0.0002)
    frontier.close()
    print("end", flush=True)
"""


def test_kill_loses_no_committed_page(tmp_path: Path) -> None:
    """A crawl that is killed at random moments and restarted fetches every page."""
    rng = random.Random(11)  # noqa: S311
    committed: set[str] = set()
    crawled: set[str] = set()
    for turn in range(12):
        with subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(CRAWL), str(tmp_path)],
            stdout=subprocess.PIPE, text=True,
        ) as crawl:  # fmt: skip
            assert crawl.stdout is not None
            crawl.stdout.readline()
            if turn < 8:
                time.sleep(rng.uniform(0.0, 0.15))
                os.kill(crawl.pid, signal.SIGKILL)
            lines = crawl.stdout.read().split()
        committed.update(line for line in lines if line.startswith("http"))
        frontier = EmbeddedFrontier(tmp_path, Best(), QUICK, Limits(max_crashes=1000))
        crawled = {url for url, _, _ in frontier.iterate("crawled")}
        assert committed <= crawled
        sizes = recount(frontier.view)
        assert sizes == {name: frontier.counts()[name] for name in sizes}
        frontier.close()
        if "end" in lines:
            break
    assert len(crawled) == 1500
    assert len(committed) == 30


def test_page_that_crashes_the_process_ends_as_error(tmp_path: Path) -> None:
    for _ in range(3):
        frontier = opened(tmp_path, max_crashes=3)
        frontier.push([Seed("http://a.cn/poison"), Seed("http://a.cn/good")])
        poison, _ = frontier.pop(2)
        frontier.begin(poison)
        frontier.abandon()
    frontier = opened(tmp_path, max_crashes=3)
    assert list(frontier.iterate("error")) == [("http://a.cn/poison", 1.0, "crash")]
    assert frontier.counts()["crashes"] == 3
    urls = [entry for entry in frontier.export() if isinstance(entry, UrlEntry)]
    assert [entry.when > 0 for entry in urls if entry.reason == "crash"] == [True]
    assert [lease.url for lease in frontier.pop(2)] == ["http://a.cn/good"]
    frontier.close()


def test_crash_after_passed_is_not_counted(tmp_path: Path) -> None:
    for _ in range(3):
        frontier = opened(tmp_path, max_crashes=2)
        frontier.push([Seed("http://a.cn/")])
        (lease,) = frontier.pop()
        frontier.begin(lease)
        frontier.passed(lease)
        frontier.passed(lease)
        frontier.abandon()
    frontier = opened(tmp_path, max_crashes=2)
    assert frontier.counts()["prior"] == 1
    assert "crashes" not in frontier.counts()
    frontier.close()


def test_delay_of_a_slot_without_lease_survives_a_kill(tmp_path: Path) -> None:
    polite, now = Politeness(delay=10.0, jitter=0.0, adaptive=False, robots=False), [1000.0]
    for pops in (0, 1):
        frontier = EmbeddedFrontier(
            tmp_path, Plain(), polite, Limits(), clock=lambda: now[0], sync="never"
        )
        frontier.push([Seed("http://a.cn/")])
        frontier.commit()
        if not pops:
            assert frontier.acquire("a.cn")
            frontier.left("a.cn")
            frontier.release("a.cn")
            frontier.commit()
            now[0] += 1.0
        assert frontier.pop() == []
        frontier.abandon()
