"""Contract tests of the duplicate detectors: those of the package, and an example."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.dedup import DuplicateDetector, Match, find_duplicates, load_detector
from topiccrawl.dedup.factory import NAMES
from topiccrawl.errors import SettingError
from topiccrawl.model import Article
from topiccrawl.storage.contract import Fate
from topiccrawl.storage.sqlite import SqliteStore
from topiccrawl.text import digest_of

if TYPE_CHECKING:
    from pathlib import Path

DETECTORS = (*NAMES, "examples.duplicate_detector.SameHeadline")
TITLES = ("新能源汽车一月销量增长，厂商扩大产能", "老城区三座旧桥年内大修，行人绕行浮桥")
TEXTS = (
    "".join(f"第{n}家车企一月交付{n * 700}辆，比去年同期多{n}成。" for n in range(20)),
    "".join(f"第{n}座旧桥的石料风化，{n}月起更换，工期{n}周，由同一家公司施工。" for n in range(9)),
)


def article(url: str, title: str, body: str, published: str = "2020-03-02") -> Article:
    site = url.split("/")[2]
    return Article(url, title, body, site=site, published=published, digest=digest_of(body))


STORY = article("http://a.test/1", TITLES[0], TEXTS[0])
REPRINT = replace(STORY, url="http://b.test/1", site="b.test")
OTHER = article("http://c.test/1", TITLES[1], TEXTS[1])
EMPTY = Article("http://d.test/1", "", "")
articles = st.builds(
    article, st.just("http://x.test/"), st.text(max_size=20), st.text(max_size=200),
    st.sampled_from(["", "2020-03-02", "2020-03-02T08:00:00+08:00", "yesterday"]),
)  # fmt: skip


@pytest.fixture(params=DETECTORS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def detector(name: str) -> DuplicateDetector:
    return load_detector(name)


def test_each_detector_has_its_own_stable_scheme() -> None:
    schemes = [load_detector(name).scheme for name in DETECTORS]
    assert all(schemes)
    assert len(set(schemes)) == len(schemes)
    assert schemes == [load_detector(name).scheme for name in DETECTORS]


def test_a_reprint_shares_a_key_and_is_matched(detector: DuplicateDetector) -> None:
    assert set(detector.keys(STORY)) & set(detector.keys(REPRINT))
    match = detector.judge(REPRINT, iter([OTHER, STORY]))
    assert isinstance(match, Match)
    assert match.url == STORY.url
    assert 0.0 < match.similarity <= 1.0
    assert match.reason


def test_another_story_is_no_match(detector: DuplicateDetector) -> None:
    assert detector.judge(STORY, []) is None
    assert detector.judge(STORY, [OTHER]) is None


def test_articles_without_text_are_no_duplicates(detector: DuplicateDetector) -> None:
    assert len(detector.keys(EMPTY)) == 0
    assert detector.judge(EMPTY, [replace(EMPTY, url="http://e.test/")]) is None


@pytest.mark.parametrize("name", DETECTORS)
@given(one=articles, other=articles)
def test_instances_agree_on_keys_and_matches(name: str, one: Article, other: Article) -> None:
    detector, again = load_detector(name), load_detector(name)
    keys = list(detector.keys(one))
    assert all(0 <= key < 1 << 32 for key in keys)
    assert keys == list(again.keys(one)) == list(detector.keys(one))
    match = detector.judge(one, [other])
    assert match == again.judge(one, [other])
    assert match is None or match.url == other.url


def test_learned_data_gives_another_instance_the_same_keys(name: str) -> None:
    learning, other = load_detector(name), load_detector(name)
    foot = "本报地址：某市某路一号，邮编一零零零零零，广告热线随时恭候来电。"
    for n in range(6):
        page = article(f"http://a.test/{n}", f"第{n}篇", f"第{n}天下雨，河水上涨。\n{foot}")
        other.know(learning.learn(page))
    last = article("http://a.test/9", "第九篇", f"第九天放晴，河水回落。\n{foot}")
    assert list(learning.keys(last)) == list(other.keys(last))


def test_find_duplicates_keeps_the_first_article(detector: DuplicateDetector) -> None:
    found = list(find_duplicates([STORY, OTHER, EMPTY, REPRINT], detector))
    assert [(copy.url, match.url) for copy, match in found] == [(REPRINT.url, STORY.url)]


def test_a_store_stores_the_story_once(detector: DuplicateDetector, tmp_path: Path) -> None:
    async def fates() -> list[Fate]:
        store = SqliteStore(tmp_path, method=detector)
        await store.open()
        try:
            saved = [await store.save([one]) for one in (STORY, OTHER, REPRINT)]
        finally:
            await store.close()
        return [one.fate for (one,) in saved]

    assert asyncio.run(fates()) == [Fate.NEW, Fate.NEW, Fate.REPRINT]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("md5", "choose one of"),
        ("no.where.Detector", "cannot be loaded"),
        ("topiccrawl.dedup.Nothing", "cannot be loaded"),
        ("topiccrawl.dedup.Match", "cannot be loaded"),
        ("topiccrawl.text.Tokenizer", "cannot be loaded"),
        ("collections.Counter", "must have scheme"),
    ],
)
def test_a_wrong_setting_is_refused_with_the_remedy(setting: str, said: str) -> None:
    with pytest.raises(SettingError, match=said) as caught:
        load_detector(setting)
    assert "shingles" in str(caught.value)
