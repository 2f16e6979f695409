"""Tests of article lists: newest first, by page, with reprints, the most reprinted ones."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

from topiccrawl.model import Article
from topiccrawl.storage.sqlite import SqliteStorage
from topiccrawl.text.digest import digest_of

if TYPE_CHECKING:
    from pathlib import Path

    from topiccrawl.storage.contract import Storage

LETTERS = [chr(code) for code in range(0x4E00, 0x4E00 + 3_000)]


def article(number: int, site: str = "a.test", topic: str = "足球") -> Article:
    chance = random.Random(number)  # noqa: S311 - made texts
    words = "".join(chance.choices(LETTERS, k=600))
    url = f"http://{site}/{number}"
    return Article(
        url,
        f"题{number}",
        words,
        site=site,
        topics={topic: 0.5},
        terms=(("电池", 0.4),),
        digest=digest_of(words),
    )


def test_articles_are_listed_newest_first_with_their_reprints(storage: Storage) -> None:
    async def check() -> None:
        store, listing = storage.articles(), storage.listing()
        await store.open()
        for number in range(5):
            await store.save([article(number)])
        await store.save([article(9, topic="别的")])
        for number, site in ((1, "b.test"), (1, "c.test"), (3, "b.test")):
            await store.save([article(number, site)])
        total, found = await listing.page("足球", 2, 1)
        assert total == 5
        assert await listing.page("足球", 0, 0) == (5, [])
        assert [one.title for one in found] == ["题3", "题2"]
        assert [one.reprints for one in found] == [1, 0]
        assert found[0].terms == (("电池", 0.4),)
        assert found[0].score == 0.5
        chains = await listing.chains("足球", 5)
        assert [(chain.article.title, len(chain.reprints)) for chain in chains] == [
            ("题1", 2),
            ("题3", 1),
        ]
        assert [one.site for one in chains[0].reprints] == ["b.test", "c.test"]
        assert await listing.chains("别的", 5) == []
        await listing.close()
        await listing.close()
        await store.close()

    asyncio.run(check())


def test_listing_creates_no_store(tmp_path: Path) -> None:
    async def check() -> None:
        listing = SqliteStorage(tmp_path).listing()
        assert await listing.page("足球", 10, 0) == (0, [])
        assert await listing.chains("足球", 10) == []
        await listing.close()

    asyncio.run(check())
    assert not list(tmp_path.iterdir())


def test_concurrent_lists_share_one_opening(tmp_path: Path) -> None:
    async def check() -> None:
        store = SqliteStorage(tmp_path).articles()
        await store.open()
        await store.save([article(1)])
        await store.close()
        listing = SqliteStorage(tmp_path).listing()
        pages = await asyncio.gather(*(listing.page("足球", 10, 0) for _ in range(5)))
        assert [total for total, _ in pages] == [1] * 5
        await listing.close()

    asyncio.run(check())
