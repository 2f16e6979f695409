"""Contract tests of the article stores.

To add an implementation, add a factory: a function from an empty folder to a store. If it is called
twice with one folder, both stores share their data.
"""

from __future__ import annotations

import asyncio
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contracts.articles import article, counts_of, run, stored_in
from tests.laws import BUSY
from tests.mongo_server import database_uri
from topiccrawl.addons.mongodb.store import MongoStore
from topiccrawl.storage.contract import ArticleStore, Fate, Saved
from topiccrawl.storage.sqlite import SqliteStore
from topiccrawl.text.digest import digest_of

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.contracts.conftest import Factory
    from topiccrawl.model import Article


def test_article_is_read_back_unchanged(factory: Factory, tmp_path: Path) -> None:
    sample = article(1)
    unset = {one.name for one in fields(sample) if getattr(sample, one.name) == one.default}
    assert unset == {"reprint_of", "follows", "event"}, "set it in tests/contracts/articles.py"

    async def check(store: ArticleStore) -> None:
        (saved,) = await store.save([article(1)])
        assert saved == Saved(article(1).url, Fate.NEW, article(1).url)
        story = await store.get(article(1).url)
        assert story is not None
        assert story.article == article(1)
        assert story.article.noarchive is True  # the number 1 is equal, but not in JSON
        assert story.reprints == ()

    run(factory(tmp_path), check)


def test_saving_twice_equals_saving_once(factory: Factory, tmp_path: Path) -> None:
    async def check(store: ArticleStore) -> None:
        await store.save([article(1)])
        before = await stored_in(store), await counts_of(store)
        (saved,) = await store.save([article(1)])
        assert saved.fate is Fate.UNCHANGED
        assert (await stored_in(store), await counts_of(store)) == before

    run(factory(tmp_path), check)


def test_closing_and_opening_changes_nothing(factory: Factory, tmp_path: Path) -> None:
    kept: list[Article] = []

    async def fill(store: ArticleStore) -> None:
        await store.save([article(n) for n in range(5)])
        kept.extend(await stored_in(store))

    async def look(store: ArticleStore) -> None:
        assert await stored_in(store) == kept
        assert len(kept) == 5

    run(factory(tmp_path), fill)
    run(factory(tmp_path), look)


def test_a_second_topic_adds_its_score_to_the_same_article(
    factory: Factory, tmp_path: Path
) -> None:
    async def check(store: ArticleStore) -> None:
        await store.save([article(1, topic="足球", score=0.5)])
        (saved,) = await store.save([article(1, topic="体育", score=0.25)])
        assert saved.fate is Fate.UPDATED
        (found,) = await stored_in(store)
        assert found.topics == {"足球": 0.5, "体育": 0.25}
        assert await counts_of(store) == {
            "articles": 1, "reprints": 0, "topic/足球": 1, "topic/体育": 1
        }  # fmt: skip

    run(factory(tmp_path), check)


def test_terms_are_those_of_the_topic_asked_for(factory: Factory, tmp_path: Path) -> None:
    async def check(store: ArticleStore) -> None:
        await store.save([article(1, topic="足球")])
        await store.save([replace(article(1, topic="体育"), terms=(("中心", 1.0),))])
        (football,) = await stored_in(store, "足球")
        (sports,) = await stored_in(store, "体育")
        assert football.terms == (("比赛", 0.7), ("球迷", 0.3))
        assert sports.terms == (("中心", 1.0),)

    run(factory(tmp_path), check)


def test_changed_text_replaces_the_old_one(factory: Factory, tmp_path: Path) -> None:
    changed = replace(article(1, text=99), title="更正")

    async def check(store: ArticleStore) -> None:
        await store.save([article(1)])
        (saved,) = await store.save([changed])
        assert saved.fate is Fate.UPDATED
        assert await stored_in(store) == [changed]
        # the old text is free again, the new one is taken
        old, new = await store.save([article(2, text=1), article(3, text=99)])
        assert (old.fate, new.fate, new.story) == (Fate.NEW, Fate.REPRINT, changed.url)

    run(factory(tmp_path), check)


def test_same_text_under_another_url_is_a_reprint(factory: Factory, tmp_path: Path) -> None:
    async def check(store: ArticleStore) -> None:
        first, copy = article(1), article(2, text=1, topic="体育", score=0.25)
        saved = await store.save([first, copy])
        assert [s.fate for s in saved] == [Fate.NEW, Fate.REPRINT]
        assert (saved[1].story, saved[1].reason) == (first.url, "same-text")
        story = await store.get(copy.url)
        assert story is not None
        assert story.article.url == first.url
        assert story.article.topics == {"足球": 0.5, "体育": 0.25}
        (reprint,) = story.reprints
        assert reprint == (
            copy.url, copy.site, copy.title, copy.published, copy.fetched_at, 1.0, "same-text"
        )  # fmt: skip
        (again,) = await store.save([copy])
        assert again.fate is Fate.REPRINT
        assert (await counts_of(store))["reprints"] == 1

    run(factory(tmp_path), check)


def test_a_part_of_an_article_is_removed_once_the_whole_is_a_reprint(
    factory: Factory, tmp_path: Path
) -> None:
    first, part, whole = article(1), article(2, text=7), article(2, text=1)
    copy = article(3, text=7)

    async def check(store: ArticleStore) -> None:
        saved = await store.save([first, part, copy])
        assert [one.fate for one in saved] == [Fate.NEW, Fate.NEW, Fate.REPRINT]
        (last,) = await store.save([whole])
        assert (last.fate, last.story) == (Fate.REPRINT, first.url)
        assert [one.url for one in await stored_in(store)] == [first.url]
        story = await store.get(part.url)
        assert story is not None
        assert {one.url for one in story.reprints} == {part.url, copy.url}
        # the text of the part is free again
        (again,) = await store.save([article(4, text=7)])
        assert again.fate is Fate.NEW

    run(factory(tmp_path), check)


def test_a_reprint_never_lowers_the_score_of_its_story(factory: Factory, tmp_path: Path) -> None:
    async def check(store: ArticleStore) -> None:
        await store.save([article(1, score=0.9), article(2, text=1, score=0.1)])
        (found,) = await stored_in(store)
        assert found.topics == {"足球": 0.9}

    run(factory(tmp_path), check)


def test_a_reprint_that_gets_a_text_of_its_own_becomes_an_article(
    factory: Factory, tmp_path: Path
) -> None:
    async def check(store: ArticleStore) -> None:
        await store.save([article(1), article(2, text=1)])
        (saved,) = await store.save([article(2)])
        assert saved.fate is Fate.NEW
        first = await store.get(article(1).url)
        assert first is not None
        assert first.reprints == ()
        assert (await counts_of(store))["articles"] == 2

    run(factory(tmp_path), check)


def test_article_is_kept_if_its_page_becomes_a_reprint(factory: Factory, tmp_path: Path) -> None:
    async def check(store: ArticleStore) -> None:
        await store.save([article(1), article(2)])
        later = replace(article(2, text=1), fetched_at=1_700_000_000.0)
        (saved,) = await store.save([later])
        assert (saved.fate, saved.story) == (Fate.REPRINT, article(1).url)
        kept = await store.get(article(2).url)
        assert kept is not None
        assert kept.article.body == article(2).body
        assert (await counts_of(store))["articles"] == 2

    run(factory(tmp_path), check)


def test_texts_too_short_to_compare_are_never_reprints(factory: Factory, tmp_path: Path) -> None:
    async def check(store: ArticleStore) -> None:
        short = [replace(article(n), body="图", digest=digest_of("图")) for n in (1, 2)]
        assert [s.fate for s in await store.save(short)] == [Fate.NEW, Fate.NEW]

    run(factory(tmp_path), check)


def test_articles_are_listed_newest_first_by_topic(factory: Factory, tmp_path: Path) -> None:
    async def check(store: ArticleStore) -> None:
        await store.save([article(n, topic="甲" if n % 2 else "乙") for n in range(6)])
        urls = [a.url for a in await stored_in(store, "甲")]
        assert urls == [article(n).url for n in (5, 3, 1)]
        assert await stored_in(store, "丙") == []
        assert await store.get("http://nowhere.test/") is None

    run(factory(tmp_path), check)


def test_text_invalid_in_utf8_is_stored_with_replacements(factory: Factory, tmp_path: Path) -> None:
    async def check(store: ArticleStore) -> None:
        odd = replace(
            article(1), title="坏\ud800字\x00", author="\udfff", url="http://a.test/\ud801"
        )
        await store.save([odd])
        (found,) = await stored_in(store)
        assert (found.title, found.author) == ("坏?字\x00", "?")
        assert (await store.save([odd]))[0].fate is not Fate.NEW

    run(factory(tmp_path), check)


def test_two_stores_of_one_folder_agree(factory: Factory, tmp_path: Path) -> None:
    async def check(store: ArticleStore) -> None:
        other = factory(tmp_path)
        await other.open()
        try:
            mine, theirs = await asyncio.gather(
                store.save([article(n) for n in range(40)]),
                other.save([article(n + 100, text=n) for n in range(40)]),
            )
            fates = sorted(s.fate for s in (*mine, *theirs))
            assert fates == sorted([Fate.NEW] * 40 + [Fate.REPRINT] * 40)
            assert await counts_of(store) == await counts_of(other)
        finally:
            await other.close()

    run(factory(tmp_path), check)


def check_one_article_per_story(store: ArticleStore, steps: list[tuple[int, int]]) -> None:
    async def check(store: ArticleStore) -> None:
        for number, text in steps:
            (saved,) = await store.save([article(number, text)])
            story = await store.get(saved.url)
            assert story is not None  # a saved URL is found with any fate
        stored = await stored_in(store)
        assert len({a.digest for a in stored}) == len(stored)
        assert len({a.url for a in stored}) == len(stored)

    run(store, check)


STEPS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12)


@settings(max_examples=25, suppress_health_check=[BUSY, HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_sqlite_has_one_article_per_story(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, int]]
) -> None:
    check_one_article_per_story(SqliteStore(tmp_path_factory.mktemp("law")), steps)


@settings(max_examples=6, suppress_health_check=[BUSY, HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_mongodb_has_one_document_per_story(
    mongo_uri: str, tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, int]]
) -> None:
    uri = database_uri(mongo_uri, tmp_path_factory.mktemp("law"))
    check_one_article_per_story(MongoStore(uri), steps)


def test_a_closed_store_can_be_closed_again(factory: Factory, tmp_path: Path) -> None:
    async def check(store: ArticleStore) -> None:
        await store.close()

    run(factory(tmp_path), check)


def test_a_follow_up_is_stored_and_names_the_story_before_it(
    factory: Factory, tmp_path: Path
) -> None:
    body = (
        "9月14日晚11时许，城东区纺织路一处废弃厂房突然起火，附近居民闻到刺鼻气味后报警。"
        "消防救援支队调派6个站18辆消防车98名指战员赶赴现场，火势蔓延很快。"
        "次日凌晨1时10分，明火被扑灭。火灾没有造成人员伤亡，过火面积约1200平方米。"
    )
    news = "区检察院9月20日通报，两名拆解工因涉嫌失火罪被批准逮捕，其中一人曾在现场丢弃烟头。"
    old = replace(article(1), body=body, published="2026-09-15", digest=digest_of(body))
    later = replace(
        article(2), body=news + body, published="2026-09-20", digest=digest_of(news + body)
    )

    async def check(store: ArticleStore) -> None:
        await store.save([old])
        (saved,) = await store.save([later])
        assert (saved.fate, saved.story, saved.follows) == (Fate.NEW, later.url, old.url)
        story = await store.get(later.url)
        assert story is not None
        assert story.article == replace(later, follows=old.url)
        assert (await counts_of(store))["reprints"] == 0
        (again,) = await store.save([later])
        assert (again.fate, again.follows) == (Fate.UNCHANGED, old.url)

    run(factory(tmp_path), check)
