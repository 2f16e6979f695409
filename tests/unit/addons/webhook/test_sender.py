"""Tests of webhook delivery: each new story is sent once, despite failures and restarts."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from typing_extensions import override

from tests.receiver import SECRET, Listener
from tests.unit.storage.test_spooling import Distant
from tests.waiting import PATIENCE, soon
from topiccrawl.addons.webhook import sender as webhook
from topiccrawl.addons.webhook.outbox import key_of
from topiccrawl.addons.webhook.sender import Receiver, WebhookSender
from topiccrawl.errors import SettingError, StorageError
from topiccrawl.model import Article
from topiccrawl.storage.contract import Fate
from topiccrawl.storage.spool import Spool
from topiccrawl.storage.spooling import SpoolingStore
from topiccrawl.storage.sqlite import SqliteStore
from topiccrawl.text.digest import digest_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from topiccrawl.storage.contract import Saved

LETTERS = "春江花月夜潮水连海平明共生滟随波千万里何处无人照宛转绕芳甸"


def article(number: int, at: float = 1.0) -> Article:
    body = "".join(LETTERS[(number * 7 + i * (number + 3)) % len(LETTERS)] for i in range(120))
    url, body = f"http://a.test/{number}", f"{body}{number}"
    return Article(url, f"题{number}", body, digest=digest_of(body), fetched_at=at)


class FailingStore(SqliteStore):
    """Store that raises an error after it has saved, as if the process had been killed."""

    failing = False

    @override
    async def save(self, articles: Sequence[Article]) -> list[Saved]:
        saved = await super().save(articles)
        if self.failing:
            raise StorageError("killed")
        return saved


@asynccontextmanager
async def crawling(
    folder: Path,
    url: str,
    store: SqliteStore | None = None,
    close_seconds: float = PATIENCE,
    request_timeout: float = PATIENCE,
) -> AsyncIterator[SpoolingStore]:
    stored = store or SqliteStore(folder)
    receiver = Receiver(url, SECRET, timeout=request_timeout)
    sender = WebhookSender(folder, stored, receiver, close_seconds=close_seconds, first_wait=0.05)
    safe = SpoolingStore(stored, Spool(folder / "spool"), [sender])
    await safe.open()
    try:
        yield safe
    finally:
        await safe.close()


def test_new_stories_are_sent_once_and_signed(
    tmp_path: Path,
) -> None:
    async def deliver() -> None:
        async with crawling(tmp_path, listener.url) as crawl:
            await crawl.save([article(1), article(2), article(1, at=2.0)])
            await crawl.save([article(1, at=3.0), replace(same, url="http://b.test/")])

    same = article(2)
    with Listener() as listener:
        asyncio.run(deliver())
        asyncio.run(deliver())
    assert listener.taken == {article(n).url: 1 for n in (1, 2)}
    assert listener.forged == 0


def test_articles_stored_before_the_webhook_are_not_sent(tmp_path: Path) -> None:
    async def before() -> None:
        store = SqliteStore(tmp_path)
        await store.open()
        await store.save([article(1)])
        await store.close()

    async def deliver() -> None:
        async with crawling(tmp_path, listener.url) as crawl:
            await crawl.save([article(1, at=2.0), article(2)])

    asyncio.run(before())
    with Listener() as listener:
        asyncio.run(deliver())
    assert list(listener.taken) == [article(2).url]


def test_failed_messages_are_retried_until_delivered(tmp_path: Path) -> None:
    statuses = iter([503, 429, 500])

    async def deliver() -> None:
        async with crawling(tmp_path, listener.url) as crawl:
            await crawl.save([article(n) for n in range(5)])
            await soon(lambda: len(listener.taken) == 5)
            listener.stop()
            await crawl.save([article(n) for n in range(5, 10)])
            await asyncio.sleep(0.3)  # some attempts fail; nothing depends on how many
            listener.start()
            await soon(lambda: len(listener.taken) == 10)

    with Listener(lambda _: next(statuses, 204)) as listener:
        asyncio.run(deliver())
    assert set(listener.taken.values()) == {1}
    assert all(len(names) == 1 for names in listener.names.values())


def test_slow_receiver_delays_neither_saving_nor_closing(tmp_path: Path) -> None:
    async def deliver(close_seconds: float, request_timeout: float) -> None:
        async with crawling(
            tmp_path, listener.url, close_seconds=close_seconds, request_timeout=request_timeout
        ) as crawl:
            await crawl.save([article(n) for n in range(6)])

    with Listener() as listener:
        listener.gate.clear()
        asyncio.run(deliver(0.1, 1.0))
        assert not listener.taken
        listener.gate.set()
        asyncio.run(deliver(PATIENCE, PATIENCE))
    assert set(listener.taken) == {article(n).url for n in range(6)}


def test_refused_story_is_retried_and_others_are_sent(tmp_path: Path) -> None:
    bad = article(0).url
    refusals = iter([400, 404])

    async def deliver() -> None:
        async with crawling(tmp_path, listener.url) as crawl:
            await crawl.save([article(n) for n in range(4)])
            await soon(lambda: bad in listener.taken)

    with Listener(lambda url: next(refusals, 200) if url == bad else 200) as listener:
        asyncio.run(deliver())
    assert listener.asked[bad] == 3
    assert listener.taken == {article(n).url: 1 for n in range(4)}


def test_story_saved_before_a_kill_is_sent_by_the_next_run(tmp_path: Path) -> None:
    async def failing() -> None:
        store = FailingStore(tmp_path)
        async with crawling(tmp_path, listener.url, store) as crawl:
            await crawl.save([article(1)])
            store.failing = True
            with pytest.raises(StorageError):
                await crawl.save([article(2), article(1, at=2.0)])

    async def fetch_again() -> None:
        async with crawling(tmp_path, listener.url) as crawl:
            await crawl.save([article(2, at=3.0)])

    with Listener() as listener:
        asyncio.run(failing())
        asyncio.run(fetch_again())
    assert listener.taken == {article(1).url: 1, article(2).url: 1}


def test_forgotten_article_is_removed_from_the_outbox(tmp_path: Path) -> None:
    async def save() -> None:
        async with crawling(tmp_path, listener.url, close_seconds=0.1) as crawl:
            await crawl.save([article(1), article(2)])

    async def forget() -> None:
        store = SqliteStore(tmp_path)
        await store.open()
        await store.forget([article(1).url], 2.0)
        await store.close()
        async with crawling(tmp_path, listener.url):
            pass

    listener = Listener()
    listener.start()
    listener.stop()
    asyncio.run(save())
    with listener:
        asyncio.run(forget())
    assert list(listener.asked) == [article(2).url]


def test_spooled_article_is_sent_when_it_is_stored(tmp_path: Path) -> None:
    async def deliver() -> None:
        distant = Distant()
        sender = WebhookSender(
            tmp_path, distant, Receiver(listener.url, SECRET), close_seconds=PATIENCE
        )
        store = SpoolingStore(distant, Spool(tmp_path / "spool"), [sender], retry_seconds=0.0)
        await store.open()
        distant.failures = float("inf")
        assert [one.fate for one in await store.save([article(1)])] == [Fate.SPOOLED]
        await asyncio.sleep(0.6)
        assert not listener.asked
        distant.failures = 0
        async with asyncio.timeout(PATIENCE):
            await distant.back.wait()
        await store.close()

    with Listener() as listener:
        asyncio.run(deliver())
    assert listener.taken == {article(1).url: 1}


def test_story_of_several_pages_is_sent_when_complete(tmp_path: Path) -> None:
    first, url = article(1), article(1).url
    whole = replace(first, body=f"{first.body}\n{article(3).body}")

    async def begin() -> None:
        async with crawling(tmp_path, listener.url) as crawl:
            await crawl.listeners[0].article_continues(url)
            await crawl.save([first])
            await crawl.save([article(2)])
            await crawl.listeners[0].article_complete(article(2).url)
            await soon(lambda: article(2).url in listener.taken)

    async def end() -> None:
        async with crawling(tmp_path, listener.url) as crawl:
            await crawl.listeners[0].article_continues(url)
            await crawl.save([first])  # as after a kill
            await crawl.save([article(4)])
            await soon(lambda: article(4).url in listener.taken)
            assert url not in listener.asked
            await crawl.save([whole])
            await crawl.listeners[0].article_complete(url)

    with Listener() as listener:
        asyncio.run(begin())
        assert url not in listener.asked
        asyncio.run(end())
    assert listener.taken == {article(n).url: 1 for n in (1, 2, 4)}
    assert listener.bodies[url] == whole.body


def test_story_completed_by_a_later_run_is_sent_once(tmp_path: Path) -> None:
    async def begin() -> None:
        async with crawling(tmp_path, listener.url) as crawl:
            await crawl.listeners[0].article_continues(article(1).url)
            await crawl.save([article(1)])

    async def end() -> None:
        async with crawling(tmp_path, listener.url) as crawl:
            await crawl.save([article(1, at=2.0)])
            await crawl.listeners[0].article_complete(article(1).url)

    with Listener() as listener:
        asyncio.run(begin())
        assert not listener.asked
        asyncio.run(end())
    assert listener.taken == {article(1).url: 1}


def test_incomplete_story_is_sent_after_the_hold_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "HOLD_SECONDS", 0.2)

    async def deliver() -> None:
        async with crawling(tmp_path, listener.url) as crawl:
            await crawl.listeners[0].article_continues(article(1).url)
            await crawl.save([article(1)])
            await soon(lambda: article(1).url in listener.taken)

    with Listener() as listener:
        asyncio.run(deliver())
    assert listener.taken == {article(1).url: 1}


def test_two_crawls_of_one_folder_send_each_story_once(tmp_path: Path) -> None:
    async def deliver() -> None:
        async with (
            crawling(tmp_path, listener.url) as one,
            crawling(tmp_path, listener.url) as other,
        ):
            for number in range(0, 20, 2):
                await asyncio.gather(
                    one.save([article(number), article(number + 1)]),
                    other.save([article(number + 1), article(number)]),
                )

    with Listener() as listener:
        asyncio.run(deliver())
    assert listener.taken == {article(n).url: 1 for n in range(20)}


@pytest.mark.parametrize(
    ("url", "secret", "message"),
    [
        ("ftp://a.test/", SECRET, "TOPICCRAWL_WEBHOOK is"),
        ("https://a.test:x/", SECRET, "TOPICCRAWL_WEBHOOK is"),
        ("https://", SECRET, "TOPICCRAWL_WEBHOOK is"),
        ("https://a.test/", "", "openssl rand"),
        ("https://a.test/", "whsec_!", "base64"),
        ("https://a.test/", "whsec_YWJj", "16 bytes"),
    ],
)
def test_invalid_url_or_secret_is_reported(url: str, secret: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        Receiver(url, secret)


def test_base64_secret_is_decoded() -> None:
    assert key_of("whsec_AAECAwQFBgcICQoLDA0ODw==") == bytes(range(16))
