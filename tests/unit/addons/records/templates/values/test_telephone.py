"""Tests of telephone numbers in text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.addons.records.templates.values.telephone import telephones, with_area


def found(text: str, region: str = "CN") -> list[str]:
    return [one.value for one in telephones(text, region)]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("028-84118076/86/96", ["28 8411 8076", "28 8411 8086", "28 8411 8096"]),
        ("028-84118086/84118096-888", ["28 8411 8086", "28 8411 8096 ext. 888"]),
        ("028-85253121     0755-86066647", ["28 8525 3121", "755 8606 6647"]),
        ("0086-28-85123456", ["28 8512 3456"]),
        ("86-028-85123456", ["28 8512 3456"]),
        ("+86 (0)28 8512 3456", ["28 8512 3456"]),
        ("(028)85123456 转 801", ["28 8512 3456 ext. 801"]),
        ("028－85123456－8001（总机）", ["28 8512 3456 ext. 8001"]),
        ("028-85123456转801/802", ["28 8512 3456 ext. 801", "28 8512 3456 ext. 802"]),
        ("4006-598-788", ["400 659 8788"]),
        ("138-0013-8000（王经理）", ["138 0013 8000"]),
        ("028-85123456、85123457", ["28 8512 3456", "28 8512 3457"]),
        ("蜀ICP备12345678号-1", []),
        ("川公网安备 51010702000123号", []),
        ("510107198001011234", []),
    ],
)
def test_formats_of_chinese_pages(text: str, numbers: list[str]) -> None:
    assert found(text) == [f"+86 {number}" for number in numbers]


def test_number_without_area_code_is_completed_on_request() -> None:
    assert found("85123456") == ["85123456"]
    assert found("热线 95588") == ["95588"]
    assert [one.value for one in telephones("85123456", "CN", labelled=False)] == []
    assert with_area("85123456", "28", "CN") == "+86 28 8512 3456"


def test_numbers_of_other_countries() -> None:
    assert found("01872 270270 / 07811 123456", "GB") == ["+44 1872 270270", "+44 7811 123456"]
    assert found("01872 270270", "CN") != ["+44 1872 270270"]


digits = st.text("0123456789", min_size=8, max_size=8).map(lambda d: "8" + d[1:])
formats = st.sampled_from(
    ("028-{}", "（028）{}", "86-28-{}", "+86-28-{}", "028 {}", "0086-28-{}", "028—{}")
)


@given(digits, formats)
def test_every_format_gives_the_same_number(number: str, written: str) -> None:
    assert found(written.format(number)) == found(f"028-{number}")


@given(st.text(max_size=200))
def test_values_are_within_any_text(text: str) -> None:
    for value in telephones(text, "CN"):
        assert 0 <= value.start < value.end <= len(text)
