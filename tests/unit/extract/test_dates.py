"""Tests of reading the time of publication from texts, URLs, metadata and scripts."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl import extract_article
from topiccrawl.extract.dates import published, scripted_day

PLAIN = "http://a.test/x"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2016年01月12日 10:23", "2016-01-12T10:23:00+08:00"),
        ("2016年1月2日9时05分", "2016-01-02T09:05:00+08:00"),
        ("2016-01-12 10:23:45", "2016-01-12T10:23:45+08:00"),
        ("2016/1/12", "2016-01-12"),
        ("2016.01.12　星期二", "2016-01-12"),
        ("2016年01月12日（星期二）08:00", "2016-01-12T08:00:00+08:00"),
        ("2016年1月12日 - 10:23", "2016-01-12T10:23:00+08:00"),
        ("2016/01/12（二）10:23", "2016-01-12T10:23:00+08:00"),
        ("中華民國105年1月12日", "2016-01-12"),
        ("2016-01-12T10:23:45.123Z", "2016-01-12T10:23:45+00:00"),
        ("2016-01-12T10:23:45-0500", "2016-01-12T10:23:45-05:00"),
        ("2016年02月31日", ""),
        ("1890年01月02日", ""),
        ("13812016-01-12345", ""),
        ("版权所有 2009-2020", ""),
        ("二〇二六年十一月二十八日 10:23", "2026-11-28T10:23:00+08:00"),
        ("二○一六年一月三十一日", "2016-01-31"),
        ("二零一六年元月廿日", "2016-01-20"),
        ("二〇一六年十月廿十一日", ""),
        ("农历二〇一六年十月二日", ""),
        ("一九四九年十月一日", ""),
    ],
)
def test_chinese_dates_are_read(text: str, expected: str) -> None:
    assert published((), [text], PLAIN, "zh") == expected


@pytest.mark.parametrize(
    ("text", "url", "expected"),
    [
        ("二〇〇八年八月八日\n2026-01-20 10:00 来源", PLAIN, "2026-01-20T10:00:00+08:00"),
        ("二〇〇八年八月八日\nJan 20, 2026", PLAIN, "2026-01-20"),
        ("二〇〇八年八月八日", "http://a.test/2026/01/20/x.html", "2026-01-20"),
        ("2小时前\n二〇〇八年八月八日", PLAIN, "2026-01-31T10:00:00+08:00"),
        ("二〇〇八年八月八日，北京奥运会开幕。", PLAIN, ""),
        (f"二〇〇八年八月八日在北京开幕的{'奥运会' * 9}", PLAIN, ""),
    ],
)
def test_dates_in_chinese_numerals_are_read_last(text: str, url: str, expected: str) -> None:
    now = datetime(2026, 1, 31, 4, tzinfo=UTC).timestamp()
    assert published((), [text], url, "zh", now) == expected


@pytest.mark.parametrize(
    ("text", "tag", "expected"),
    [
        ("発表日：令和８年1月12日", "ja", "2026-01-12"),
        ("平成元年から平成31年4月30日まで", "ja", "2019-04-30"),
        ("2026年1月12日（月） 10時23分", "ja", "2026-01-12T10:23:00"),
        ("發布日期：115-01-12", "zh-Hant-TW", "2026-01-12"),
        ("发布时间：18-03-08", "zh", "2018-03-08"),
        ("发布时间：\n18-03-08", "zh", "2018-03-08"),
        ("比分：18-03-08", "zh", ""),
        ("張貼日：115/01/12 10:23", "zh-TW", "2026-01-12T10:23:00+08:00"),
        ("115/01/12", "zh-CN", ""),
        ("114.1.12.5", "zh-TW", ""),
    ],
)
def test_years_of_japan_and_taiwan_are_read(text: str, tag: str, expected: str) -> None:
    assert published((), [text], PLAIN, tag) == expected


@pytest.mark.parametrize(
    "text", ["January 12, 2016", "Jan. 12 2016", "12 January 2016", "12th Jan, 2016"]
)
def test_english_dates_are_read(text: str) -> None:
    assert published((), [text], PLAIN, "en") == "2016-01-12"


def test_other_languages_have_no_default_time_zone() -> None:
    assert published((), ["2016-01-12 10:23"], PLAIN, "en") == "2016-01-12T10:23:00"


@pytest.mark.parametrize(
    "url",
    [
        "http://a.test/20160112/1.htm",
        "http://a.test/2016/01/12/c_1.htm",
        "http://a.test/2016-01/12/content_1.htm",
        "http://a.test/t20160112_99.html",
    ],
)
def test_date_of_the_url_is_used_if_the_text_has_none(url: str) -> None:
    assert published((), ["no date"], url, "zh") == "2016-01-12"


def test_day_of_the_url_selects_among_dates_of_the_text() -> None:
    texts = ["曾于2015年12月31日报道", "2016-01-12 10:23", "相关：2016-01-11 09:00"]
    assert published((), texts, "http://a.test/20160112/1.htm", "zh").startswith("2016-01-12T10:23")
    assert published((), texts, PLAIN, "zh") == "2015-12-31"


def test_day_of_the_url_selects_a_line_that_is_longer_than_another_date() -> None:
    texts = ["@Jane · Jan 12, 2016 · 3 minutes to read\n发行日期：2015年12月31日"]
    assert published((), texts, "http://a.test/2016/01/12/songs/", "zh") == "2016-01-12"
    assert published((), texts, "http://a.test/2016/01/11/songs/", "zh") == "2015-12-31"


def test_date_with_time_is_preferred_to_the_date_alone() -> None:
    assert published((), ["2016-01-12", "2016年1月12日 10:23"], PLAIN, "zh").endswith(
        "10:23:00+08:00"
    )


def test_metadata_is_preferred_and_invalid_metadata_ignored() -> None:
    stated = ["yesterday", "2016-01-13"]
    assert published(stated, ["2016-01-12"], PLAIN, "zh") == "2016-01-13"
    assert published(["yesterday"], ["2016-01-12"], PLAIN, "zh") == "2016-01-12"


def test_day_of_metadata_gets_its_time_from_a_line_at_the_headline() -> None:
    near = ["2016年01月12日10:23 来源", "2016-01-11 08:00"]
    assert published(["2016-01-12"], near, PLAIN, "zh") == "2016-01-12T10:23:00+08:00"
    assert published(["2016-01-10"], near, PLAIN, "zh") == "2016-01-10"


def test_dates_after_the_fetch_are_ignored() -> None:
    texts = ["2030-01-01", "2016-01-12"]
    assert published((), texts, PLAIN, "zh", fetched_at=1_452_600_000.0) == "2016-01-12"


@given(st.datetimes(min_value=datetime(1996, 1, 1), max_value=datetime(2090, 1, 1)))  # noqa: DTZ001
def test_any_formatted_date_is_read(moment: datetime) -> None:
    moment = moment.replace(microsecond=0)
    written = f"发布时间：{moment:%Y年%m月%d日 %H:%M:%S}"
    expected = moment.replace(tzinfo=timezone(timedelta(hours=8))).isoformat()
    assert published((), [written], PLAIN, "zh") == expected


@given(st.text(), st.text())
def test_any_text_gives_a_date_or_none(text: str, url: str) -> None:
    found = published([text], [text], url, "zh")
    assert not found or date.fromisoformat(found[:10]).year >= 1995


FETCHED = datetime(2026, 1, 5, 9, 0, tzinfo=timezone(timedelta(hours=8))).timestamp()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5分钟前", "2026-01-05T08:55:00+08:00"),
        ("发布时间：3小时前", "2026-01-05T06:00:00+08:00"),
        ("半小时前", "2026-01-05T08:30:00+08:00"),
        ("10小时前", "2026-01-04T23:00:00+08:00"),
        ("2天前", "2026-01-03"),
        ("刚刚", "2026-01-05T09:00:00+08:00"),
        ("今天 08:15", "2026-01-05T08:15:00+08:00"),
        ("新城晚报\n昨天\n12:30", "2026-01-04T12:30:00+08:00"),
        ("前天 23:59", "2026-01-03T23:59:00+08:00"),
        ("昨天\n新城晚报", "2026-01-04"),
        ("01月05日 08:00", "2026-01-05T08:00:00+08:00"),
        ("11月21日 10:30 来源", "2025-11-21T10:30:00+08:00"),
        ("11-21 10:30", "2025-11-21T10:30:00+08:00"),
        ("02月30日 10:30", ""),
        ("11月21日，大会开幕", ""),
        ("他昨天说", ""),
        ("1月3日8时30分许，新城发生地震", ""),  # the time of an event
        ("昨天下午3点20分，大桥通车", ""),
        ("比分 11-21", ""),
        ("三年前", ""),
        ("5分钟前往车站", ""),
    ],
)
def test_relative_times_are_read(text: str, expected: str) -> None:
    assert published((), [text], PLAIN, "zh", FETCHED) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026年1月12日 下午3:30", "2026-01-12T15:30:00+08:00"),
        ("2026年1月12日晚上8点05分", "2026-01-12T20:05:00+08:00"),
        ("2026年1月12日 凌晨12:20", "2026-01-12T00:20:00+08:00"),
        ("2026-01-12 8:30 pm", "2026-01-12T20:30:00+08:00"),
        ("2026-01-12 10:12 UTC", "2026-01-12T10:12:00+00:00"),
        ("今天是2026年1月12日 星期一", ""),
        ("今天是2026年1月12日\n发布时间：2025-12-30 10:00", "2025-12-30T10:00:00+08:00"),
    ],
)
def test_times_with_part_of_day_zone_or_current_date(text: str, expected: str) -> None:
    assert published((), [text], PLAIN, "zh") == expected


@pytest.mark.parametrize("text", ["3小时前发布", "发布于 3小时前", "3小時前更新", "3小时前阅读 99"])
def test_relative_times_with_a_verb_are_read(text: str) -> None:
    assert published((), [text], PLAIN, "zh", FETCHED) == published(
        (), ["3小时前"], PLAIN, "zh", FETCHED
    )


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("3 hours ago", 10_800),
        ("Updated 2 mins ago", 120),
        ("Posted: an hour ago | 5 comments", 3_600),
        ("3h ago\nBy Jane Miller", 10_800),
    ],
)
def test_english_relative_times_are_read(text: str, seconds: int) -> None:
    found = published((), [f"Headline\n{text}"], PLAIN, "en", FETCHED)
    assert datetime.fromisoformat(found).timestamp() == int(FETCHED) - seconds


@pytest.mark.parametrize("text", ["He left 3 hours ago", "2 days ago he left", "3 hours later"])
def test_sentences_with_relative_times_are_ignored(text: str) -> None:
    assert published((), [text], PLAIN, "en", FETCHED) == ""


def test_relative_times_need_the_time_of_the_fetch() -> None:
    assert published((), ["5分钟前", "11月21日 10:30"], PLAIN, "zh") == ""


def test_url_gives_the_year_and_confirms_the_day() -> None:
    url = "http://a.test/20151121/1.htm"
    assert published((), ["11月21日 10:30"], url, "zh").startswith("2015-11-21T10:30")
    assert published((), ["11月21日"], url, "zh") == "2015-11-21"
    assert published((), ["3小时前"], url, "zh", FETCHED) == "2015-11-21"


def test_relative_times_far_from_the_headline_are_ignored() -> None:
    assert published((), ["", "", "5分钟前"], PLAIN, "zh", FETCHED) == ""


def test_full_date_is_preferred_to_a_relative_one() -> None:
    assert published((), ["3小时前", "2025-12-31 10:00"], PLAIN, "zh", FETCHED)[:10] == "2025-12-31"


def test_epoch_seconds_in_metadata_are_read() -> None:
    assert published(["1452567780"], (), PLAIN, "zh") == "2016-01-12T11:03:00+08:00"
    assert published(["1452567780000"], (), PLAIN, "en") == "2016-01-12T03:03:00+00:00"


@pytest.mark.parametrize(
    ("tag", "text", "expected"),
    [
        ("de", "Stand: 3. März 2024, 14:05 Uhr", "2024-03-03T14:05:00"),
        ("de", "03.12.2024", "2024-12-03"),
        ("en-GB", "03/12/2024", "2024-12-03"),
        ("en-US", "03/12/2024", "2024-03-12"),
        ("en", "13/12/2024", "2024-12-13"),
        ("fr", "1er août 2024 à 10:30", "2024-08-01T10:30:00"),
        ("fr", "Le 1er août 2024 à 10:30 est né un enfant", "2024-08-01T10:30:00"),
        ("es", "12 de agosto de 2024", "2024-08-12"),
        ("pl", "12 sierpnia 2024", "2024-08-12"),
        ("ru", "12 августа 2024", "2024-08-12"),
        ("el", "12 Αυγούστου 2024", "2024-08-12"),
        ("ar", "12 أغسطس 2024", "2024-08-12"),
        ("hu", "2024. augusztus 12.", "2024-08-12"),
        ("hi", "12 अगस्त 2024", "2024-08-12"),
        ("xx", "August 12, 2024", "2024-08-12"),
        ("en", "12 Agosto 2024", "2024-08-12"),
        ("en", "12 augustus 2024 3:51 pm", "2024-08-12T15:51:00"),
        ("ar", "الجمعة 24 نيسان / أبريل 2020", "2020-04-24"),
        ("bn", "১২ আগস্ট ২০২৪", "2024-08-12"),
        ("ja", "２０２４年８月１２日", "2024-08-12"),
        ("en-US", "Aug. 12, 2024, 8:22 p.m. EST", "2024-08-12T20:22:00-05:00"),
        ("en-GB", "Mon 12 Aug 2024 19.01 GMT", "2024-08-12T19:01:00+00:00"),
        ("en", "10:12 AM EDT, Mon August 12, 2024", "2024-08-12T10:12:00-04:00"),
        ("en", "Mon, 12 Aug 2024 10:12:00 +0530", "2024-08-12T10:12:00+05:30"),
        ("en", "Page 3:15 of the paper. 12 August 2024", "2024-08-12"),
        ("en", "12 died since May 2024", ""),
        ("en", "(May 3, 2024)", "2024-05-03"),
        ("en", "_May 3 2024", "2024-05-03"),
        ("en", "room 5May 3 2024", "2024-05-03"),
    ],
)
def test_dates_in_the_language_of_the_page_are_read(tag: str, text: str, expected: str) -> None:
    assert published((), [text], PLAIN, tag) == expected


def test_text_without_a_date_takes_linear_time() -> None:
    began = time.process_time()
    assert published((), ["a-" * 100_000], PLAIN, "en") == ""
    assert time.process_time() - began < 5.0, "quadratic: minutes"


@pytest.mark.parametrize("tail", ["", "x", "周"])
def test_blanks_after_a_day_take_linear_time(tail: str) -> None:
    began = time.process_time()
    assert published((), ["2024年5月3日" + " " * 32_000 + tail], PLAIN, "zh") == "2024-05-03"
    assert time.process_time() - began < 5.0, "quadratic: a minute"


TEXT = "The river rose by two metres in one night. Three villages were left without power.\n" * 9


LINKS = "".join(f"<li><a href='/{n}'>Another page of this site</a></li>" for n in range(60))


def published_below_the_body(day: str, language: str = "en", head: str = "") -> str:
    """Return the date of publication of a page that has a date below its body only."""
    body = "".join(f"<p>{line}</p>" for line in (head + TEXT).splitlines())
    page = f"<html lang='{language}'><h1>The river</h1>{body}{LINKS}{day}</html>"
    article = extract_article(page, PLAIN)
    assert article is not None
    return article.published


@pytest.mark.parametrize(
    ("name", "language", "expected"),
    [
        ("post-date", "en-GB", "2024-12-03"),
        ("post-date", "en-US", "2024-03-12"),
        ("pubDate", "en-GB", "2024-12-03"),
        ("lifetime-offer", "en-GB", ""),
        ("multimedia", "en-GB", ""),
        ("sentiment", "en-GB", ""),
    ],
)
def test_date_below_the_body_needs_a_date_element(name: str, language: str, expected: str) -> None:
    assert published_below_the_body(f"<div class='{name}'>03/12/2024</div>", language) == expected


def test_date_in_the_body_is_read_from_a_dateline_only() -> None:
    flood = "All of the people here remember the flood of 12 May 1999.\n"
    assert published_below_the_body("", head=flood) == ""
    assert published_below_the_body("", head=f"LONDON, 12 May 2019 - {flood}") == "2019-05-12"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("var createTime = '2016-01-12 11:03';", "2016-01-12T11:03:00+08:00"),
        ('{"publish_time":"1452567780","id":1}', "2016-01-12T11:03:00+08:00"),
        ('{"pubDate":"2016/1/12"}', "2016-01-12"),
        (
            '{"pubtime":"2016-01-12 11:03","createTime":"2016-01-12 09:00"}',
            "2016-01-12T11:03:00+08:00",
        ),
        ('{"pubtime":"2016-01-12"},{"pubtime":"2016-01-13"}', ""),
        ('{"expireTime":"2016-01-12","republish":"2016-01-12"}', ""),
        ('{"createTime":"2055-01-12"}', ""),
        ('</script><time pubdate="1452567780">January 12', ""),  # time of a comment
    ],
)
def test_times_in_scripts_are_read(script: str, expected: str) -> None:
    assert scripted_day(f"<script>{script}</script>", "zh", FETCHED) == expected
