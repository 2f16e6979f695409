"""Tests of the reader processes: equal results, order of pages, and pages that end a reader."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections import Counter
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.unit.extract.readers_trial import DEEDS
from tests.waiting import soon
from topiccrawl.addons.frames.frame import SiteFrame
from topiccrawl.extract import reading
from topiccrawl.extract.extract import Conditions
from topiccrawl.extract.readers import (
    ENFORCED,
    PIPELINE,
    NoReaderError,
    ReaderError,
    ReaderLimits,
    Readers,
)
from topiccrawl.extract.reading import RawPage, ReadPage, StandardReader
from topiccrawl.extract.worker import resident
from topiccrawl.links.limits import parse_html
from topiccrawl.text.measure import Vocabulary

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine

    from selectolax.lexbor import LexborHTMLParser

TRIAL = "tests.unit.extract.readers_trial.TrialReader"
NAMED = "tests.unit.extract.readers_trial.NamedReader"
STANDARD = "topiccrawl.extract.reading.StandardReader"
LINE = "今天上午，新能源汽车展览会在市中心开幕，许多市民前来参观。"
REASONS = {
    "spin": "reader-timeout",
    "sleep": "reader-timeout",
    "stop": "reader-timeout",
    "grow": "reader-memory",
    "leap": "reader-memory",
}
"""Expected reasons by deed; all other deeds crash the reader."""


def raw(number: int, name: str = "n") -> RawPage:
    body = f"<title>第{number}条消息</title><h1>第{number}条消息</h1><p>2020年03月04日</p>"
    links = "".join(f"<li><a href=/{n}>更多消息{n}</a>" for n in range(5))
    text = "".join(f"<p>第{number}号第{n}段。{LINE}</p>" for n in range(5))
    return RawPage(
        f"{body}<div class=text>{text}</div><ul>{links}</ul>".encode("gbk"),
        f"http://a.test/{name}_{number}",
    )


@asynccontextmanager
async def pool(
    most: int, path: str = STANDARD, seconds: float = 10.0, counts: Counter[str] | None = None
) -> AsyncIterator[Readers]:
    count = Counter[str]() if counts is None else counts
    limits = ReaderLimits(1 << 28, seconds)
    readers = Readers(most, path, limits, lambda name: count.update([name]))
    try:
        yield readers
    finally:
        await readers.close()


def run(trial: Coroutine[None, None, None]) -> None:
    asyncio.run(trial)


def test_reader_processes_return_the_same_results() -> None:
    own = StandardReader()
    frame = SiteFrame()
    for number in range(9):
        found = own.extract(raw(number), Conditions(frame=frame.view()))
        frame.learn(found.trial, found.body)
    asked = Conditions(frame=frame.view(), fetched_at=1.6e9)
    broken = RawPage("坏\udc80页".encode(errors="surrogatepass"), "http://a.test/x")
    pages = [*map(raw, range(20)), broken, RawPage(b"", "http://a.test/y", is_text=False)]

    async def trial() -> None:
        async with pool(2) as readers:
            read = await asyncio.gather(*map(readers.read, pages))
            assert read == [own.read(page) for page in pages]
            extracted = await asyncio.gather(*(readers.extract(page, asked) for page in pages))
            assert extracted == [own.extract(page, asked) for page in pages]
            assert frame.box
            assert len(readers.pids()) == 2

    run(trial())


@pytest.mark.skipif(not ENFORCED, reason="the system does not limit address space")
def test_dictionary_of_measures_is_loaded_before_the_memory_limit() -> None:
    async def trial() -> None:
        readers = Readers(1, STANDARD, ReaderLimits(1 << 25))  # the dictionary takes twice as much
        try:
            read = await readers.read(raw(1), [Vocabulary(("展览",), (True,))])
        finally:
            await readers.close()
        assert read is not None
        assert read.measures[0].squared_length

    run(trial())


def test_readers_that_measure_nothing_load_no_dictionary() -> None:
    async def trial(*vocabularies: Vocabulary) -> int:
        async with pool(1) as readers:
            await readers.read(raw(1), vocabularies)
            return resident(readers.pids()[0])

    measuring = asyncio.run(trial(Vocabulary(("展览",), (True,))))
    assert asyncio.run(trial()) < measuring - (1 << 25)


def test_article_is_extracted_by_the_reader_of_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("topiccrawl.extract.readers._WATCH", 60.0)  # no reader counts as slow

    async def both(readers: Readers, page: RawPage) -> tuple[str, str]:
        read = await readers.read(page)
        extracted = await readers.extract(page, Conditions())
        assert read is not None
        assert extracted.body is not None
        return read.encoding, extracted.body.text

    async def trial() -> None:
        async with pool(3, NAMED) as readers:
            found = await asyncio.gather(*(both(readers, raw(number)) for number in range(40)))
            assert [read for read, _ in found] == [extracted for _, extracted in found]
            assert len(readers.pids()) == 3

    run(trial())


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Texts that were parsed."""
    texts: list[str] = []

    def parse(text: str) -> LexborHTMLParser:
        texts.append(text)
        return parse_html(text)

    monkeypatch.setattr(reading, "parse_html", parse)
    return texts


def test_pages_in_flight_are_parsed_once(parsed: list[str]) -> None:
    reader, pages = StandardReader(), [raw(number, "flight") for number in range(16)]
    for page in pages:
        reader.read(page)
    assert all(reader.extract(page, Conditions()).extracted for page in pages)
    assert len(parsed) == len(pages)


def test_cached_pages_are_limited_by_their_size(parsed: list[str]) -> None:
    comment = b"<!--" + b"x" * 240_000 + b"-->"
    reader, pages = StandardReader(), [raw(number, "large") for number in range(30)]
    pages = [page._replace(body=page.body + comment) for page in pages]
    for page in pages:
        reader.read(page)
    assert all(reader.extract(page, Conditions()).extracted for page in reversed(pages))
    assert len(parsed) == len(pages) + 14


def test_extraction_can_be_repeated() -> None:
    own = StandardReader()
    first, second = (own.extract(raw(1), Conditions()) for _ in range(2))
    assert first == second
    assert first.extracted is not None


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_starting_reader_ignores_signals_that_stop_a_crawl(stop: signal.Signals) -> None:
    async def trial() -> None:
        async with pool(1, TRIAL) as readers:
            asked = asyncio.ensure_future(readers.read(raw(1)))
            while not readers.pids():  # noqa: ASYNC110
                await asyncio.sleep(0)
            (pid,) = readers.pids()
            os.kill(pid, stop)
            assert await asked
            assert list(readers.pids()) == [pid]

    run(trial())


def test_pages_of_a_slow_site_are_read_after_others() -> None:
    slow = [RawPage(b"<p>x", f"http://w{n}.costly.test/slow_{n}") for n in range(12)]

    async def trial() -> None:
        async with pool(1, TRIAL) as readers:
            await readers.read(slow[0])
            late = [asyncio.ensure_future(readers.read(page)) for page in slow[1:]]
            await asyncio.sleep(0)
            assert await readers.read(raw(1))
            assert sum(task.done() for task in late) <= PIPELINE
            assert all(await asyncio.gather(*late))

    run(trial())


def test_site_whose_page_ended_its_reader_is_read_last() -> None:
    async def trial() -> None:
        async with pool(1, TRIAL, seconds=1.0) as readers:
            with pytest.raises(ReaderError):
                await readers.read(RawPage(b"<p>x", "http://costly.test/spin_0"))
            good = [asyncio.ensure_future(readers.read(raw(n))) for n in range(PIPELINE)]
            late = asyncio.ensure_future(readers.read(RawPage(b"<p>x", "http://costly.test/n_1")))
            good += [asyncio.ensure_future(readers.read(raw(n))) for n in range(9)]
            read: list[object] = []
            for task in (late, *good):
                task.add_done_callback(read.append)
            assert all(await asyncio.gather(late, *good))
            assert read[-1] is late

    run(trial())


@pytest.mark.parametrize("deed", sorted(DEEDS))
def test_page_that_ends_its_reader_is_the_only_failure(deed: str) -> None:
    async def trial() -> None:
        slow = REASONS.get(deed) == "reader-timeout"
        async with pool(1, TRIAL, seconds=1.0 if slow else 10.0) as readers:
            good = [asyncio.ensure_future(readers.read(raw(n))) for n in range(3)]
            bad = asyncio.ensure_future(readers.read(raw(0, deed)))
            good += [asyncio.ensure_future(readers.read(raw(n))) for n in range(3)]
            with pytest.raises(ReaderError) as refused:
                await bad
            assert refused.value.reason == REASONS.get(deed, "reader-crash")
            assert all(await asyncio.gather(*good))

    run(trial())


def test_extraction_that_ends_its_reader_is_the_only_failure() -> None:
    async def trial() -> None:
        async with pool(1, TRIAL) as readers:
            page = raw(1, "late-segfault")
            assert await readers.read(page)
            with pytest.raises(ReaderError):
                await readers.extract(page, Conditions())
            assert await readers.read(page)

    run(trial())


def test_reader_that_sends_too_much_is_replaced() -> None:
    async def trial() -> None:
        async with pool(1, TRIAL) as readers:
            await readers.read(raw(1, "chatter"))
            pages = (readers.read(raw(number)) for number in range(3))
            read = asyncio.gather(*pages, return_exceptions=True)
            first, *others = await asyncio.wait_for(read, 60)
            assert isinstance(first, ReaderError | ReadPage)
            assert all(isinstance(one, ReadPage) for one in others)

    run(trial())


def test_response_that_is_too_large_is_not_received(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("topiccrawl.extract.readers.MAX_RESPONSE", 1000)

    async def trial() -> None:
        async with pool(1) as readers:
            with pytest.raises(ReaderError) as caught:
                await readers.read(raw(1))
            assert caught.value.reason == "reader-memory"
            small = await readers.read(RawPage(b"<p>x", "http://a.test/"))
            assert small is not None

    run(trial())


def test_killed_readers_lose_no_page() -> None:
    rng = random.Random(7)  # noqa: S311
    pages = [raw(number) for number in range(200)]

    async def trial() -> None:
        async with pool(2) as readers:
            reading = asyncio.gather(*map(readers.read, pages))
            for _ in range(8):
                await readers.read(raw(1000))  # readers are busy
                os.kill(rng.choice(readers.pids()), signal.SIGKILL)
            assert all(await reading)

    run(trial())


def test_reader_that_ends_before_it_is_killed_fails_its_page() -> None:
    async def trial() -> None:
        async with pool(1, TRIAL, seconds=0.1) as readers:
            await readers.read(raw(1))
            asked = asyncio.ensure_future(readers.read(raw(1, "sleep")))
            await asyncio.sleep(0)
            (pid,) = readers.pids()
            os.kill(pid, signal.SIGKILL)
            time.sleep(1.0)  # noqa: ASYNC251 - the limit passes before the crawl notices the end
            with pytest.raises(ReaderError, match="signal 9"):
                await asyncio.wait_for(asked, 30)

    run(trial())


def test_killed_reader_without_a_page_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def trial() -> None:
        async with pool(1) as readers:
            await readers.read(raw(1))
            (pid,) = readers.pids()
            os.kill(pid, signal.SIGKILL)
            await soon(lambda: not readers.pids())
            assert await readers.read(raw(2))

    run(trial())
    assert [record.message for record in caplog.records] == [
        "A reader process was killed by signal 9; it was reading no page"
    ]


def test_closing_leaves_no_process_and_no_open_file() -> None:
    before = set(Path("/proc/self/fd").iterdir())

    async def trial() -> None:
        async with pool(2, TRIAL) as readers:
            await asyncio.gather(*(readers.read(raw(n)) for n in range(9)))
            with pytest.raises(ReaderError):
                await readers.read(raw(1, "abort"))
            left = asyncio.ensure_future(readers.read(raw(1, "sleep")))
            await asyncio.sleep(0)
        with pytest.raises(asyncio.CancelledError):
            await left

    run(trial())
    assert set(Path("/proc/self/fd").iterdir()) == before
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    commands = [Path(f"/proc/{pid}/cmdline").read_text() for pid in children]
    assert not [line for line in commands if "extract.worker" in line or not line]


def test_reader_that_cannot_start_is_an_error() -> None:
    async def trial() -> None:
        async with pool(1, "nowhere.Reader") as readers:
            with pytest.raises(NoReaderError, match="status 1"):
                await readers.read(raw(1))

    run(trial())


def test_reader_that_ends_while_sigchld_is_ignored_is_replaced() -> None:
    async def trial() -> None:
        async with pool(1, TRIAL) as readers:
            await readers.read(raw(1))
            with pytest.raises(ReaderError, match="crash"):
                await asyncio.wait_for(readers.read(raw(1, "exit")), 60)
            assert await readers.read(raw(2))
            os.kill(readers.pids()[0], signal.SIGKILL)
            time.sleep(0.2)  # noqa: ASYNC251 - closed before its end is noticed

    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        run(trial())
    finally:
        signal.signal(signal.SIGCHLD, before)
