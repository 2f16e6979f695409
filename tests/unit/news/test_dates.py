from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.news.dates import published

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
        ("2016-01-12T10:23:45.123Z", "2016-01-12T10:23:45+00:00"),
        ("2016-01-12T10:23:45-0500", "2016-01-12T10:23:45-05:00"),
        ("2016年02月31日", ""),
        ("1890年01月02日", ""),
        ("13812016-01-12345", ""),
        ("版权所有 2009-2020", ""),
    ],
)
def test_dates_as_chinese_pages_write_them(text: str, expected: str) -> None:
    assert published((), [text], PLAIN, "zh") == expected


@pytest.mark.parametrize(
    "text", ["January 12, 2016", "Jan. 12 2016", "12 January 2016", "12th Jan, 2016"]
)
def test_dates_as_english_pages_write_them(text: str) -> None:
    assert published((), [text], PLAIN, "en") == "2016-01-12"


def test_other_languages_have_no_zone_unless_they_name_one() -> None:
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
def test_a_date_in_the_url_serves_where_the_text_has_none(url: str) -> None:
    assert published((), ["no date"], url, "zh") == "2016-01-12"


def test_the_urls_day_chooses_among_written_ones() -> None:
    texts = ["曾于2015年12月31日报道", "2016-01-12 10:23", "相关：2016-01-11 09:00"]
    assert published((), texts, "http://a.test/20160112/1.htm", "zh").startswith("2016-01-12T10:23")
    assert published((), texts, PLAIN, "zh") == "2015-12-31"


def test_a_time_of_day_is_preferred_to_the_bare_day() -> None:
    assert published((), ["2016-01-12", "2016年1月12日 10:23"], PLAIN, "zh").endswith(
        "10:23:00+08:00"
    )


def test_metadata_comes_first_and_nonsense_in_it_is_passed_over() -> None:
    stated = ["yesterday", "2016-01-13"]
    assert published(stated, ["2016-01-12"], PLAIN, "zh") == "2016-01-13"
    assert published(["yesterday"], ["2016-01-12"], PLAIN, "zh") == "2016-01-12"


def test_days_after_the_fetch_are_passed_over() -> None:
    texts = ["2030-01-01", "2016-01-12"]
    assert published((), texts, PLAIN, "zh", fetched_at=1_452_600_000.0) == "2016-01-12"


@given(st.datetimes(min_value=datetime(1996, 1, 1), max_value=datetime(2090, 1, 1)))  # noqa: DTZ001
def test_what_is_written_is_read(moment: datetime) -> None:
    moment = moment.replace(microsecond=0)
    written = f"发布时间：{moment:%Y年%m月%d日 %H:%M:%S}"
    expected = moment.replace(tzinfo=timezone(timedelta(hours=8))).isoformat()
    assert published((), [written], PLAIN, "zh") == expected


@given(st.text(), st.text())
def test_anything_gives_a_date_or_nothing(text: str, url: str) -> None:
    found = published([text], [text], url, "zh")
    assert not found or date.fromisoformat(found[:10]).year >= 1995
