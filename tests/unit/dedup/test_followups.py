"""Tests of follow-ups: stories that repeat an older one under news of a later day."""

from __future__ import annotations

from dataclasses import replace

import pytest

from topiccrawl.dedup import Match, VerifiedShingles, find_duplicates
from topiccrawl.model import Article
from topiccrawl.text.digest import digest_of

OLD = (
    "本报讯 9月14日晚11时许，城东区纺织路一处废弃厂房突然起火，附近居民闻到刺鼻气味后报警。\n"
    "消防救援支队调派6个站18辆消防车98名指战员赶赴现场。厂房内堆放着大量旧布料和塑料桶，火势蔓延很快。\n"
    "次日凌晨1时10分，明火被扑灭。火灾没有造成人员伤亡，过火面积约1200平方米。\n"
    "厂房已停产四年，产权单位曾在去年收到整改通知。起火原因正在调查之中。"
)
NEWS = "区检察院9月20日通报，两名拆解工因涉嫌失火罪被批准逮捕，其中一人曾在现场吸烟并丢弃烟头。\n"
SAME_IN_OTHER_WORDS = (
    "城东区纺织路有一处废弃的厂房，9月14日深夜11时许着火了，住在附近的居民闻到气味报了警。\n"
)
UNDATED_NEWS = (
    "失火案昨在法庭宣判，被告席上的拆解工低头认罪，法官当庭宣读有期徒刑两年，缓刑三年的判决。\n"
)
ENGLISH = (
    "A cracked bearing found during an inspection last month will close the harbour bridge to all "
    "traffic from Friday night, the county council said.\nDrivers will be sent over the old "
    "crossing at Millford, which adds twenty minutes to the trip. Buses run every half hour.\n"
    'Council engineer Dana Whitlock said the crack was no danger. "It is cheaper to do it now than '
    'to do it twice," she told reporters.'
)
ENGLISH_NEWS = (
    "The harbour bridge reopened to traffic on Sunday, May 17, two days ahead of schedule, and the "
    "contractor will receive a bonus for the early end of the repair, the mayor announced.\n"
)


def article(name: str, body: str, day: str, title: str = "") -> Article:
    url = f"http://{name}.test/1"
    return Article(
        url, title or name, body, site=f"{name}.test", published=day, digest=digest_of(body)
    )


STORY = article("a", OLD, "2026-09-15")


@pytest.mark.parametrize("lead", [NEWS, UNDATED_NEWS])
def test_old_text_below_later_news_is_a_follow_up(lead: str) -> None:
    match = VerifiedShingles().judge(article("b", lead + OLD, "2026-09-20"), [STORY])
    assert match is not None
    assert (match.url, match.follows, match.reason) == (STORY.url, True, "follow-up")


def test_english_follow_up_is_found() -> None:
    old = article("c", ENGLISH, "2026-05-06")
    later = article("d", ENGLISH_NEWS + ENGLISH, "2026-05-17T18:00:00+01:00")
    match = VerifiedShingles().judge(later, [old])
    assert match is not None
    assert match.follows
    copied = VerifiedShingles().judge(article("e", ENGLISH, "2026-05-08"), [old])
    assert copied is not None
    assert not copied.follows


def test_rewritten_lead_of_the_same_day_is_a_reprint() -> None:
    rewritten = SAME_IN_OTHER_WORDS + OLD.partition("\n")[2]
    match = VerifiedShingles().judge(article("b", rewritten, "2026-09-16"), [STORY])
    assert match is not None
    assert not match.follows


@pytest.mark.parametrize("day", ["2026-09-15", ""])
def test_article_of_the_same_or_no_day_is_no_follow_up(day: str) -> None:
    match = VerifiedShingles().judge(article("b", NEWS + OLD, day), [STORY])
    assert match is not None
    assert not match.follows


def test_story_found_after_its_follow_up_is_no_duplicate() -> None:
    later = article("b", NEWS + OLD, "2026-09-20")
    assert VerifiedShingles().judge(STORY, [later]) is None


def test_copy_of_a_follow_up_is_its_reprint() -> None:
    later = article("b", NEWS + OLD, "2026-09-20")
    copied = replace(later, url="http://c.test/1", site="c.test")
    found = list(find_duplicates([STORY, later, copied]))
    assert found == [(copied, Match(later.url, 1.0, "same-text"))]
