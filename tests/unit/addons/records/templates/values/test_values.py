"""Tests of the values of all kinds in text."""

from __future__ import annotations

from decimal import Decimal
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.addons.records.templates.template import ValueKind
from topiccrawl.addons.records.templates.values.address import address, looks_like
from topiccrawl.addons.records.templates.values.names import organisations, similar, tidy
from topiccrawl.addons.records.templates.values.plain import (
    dates,
    decode_cfemail,
    mail_of_link,
    mails,
    numbers,
    postcodes,
    qq_of_link,
    qqs,
    urls,
    validated_mail,
)
from topiccrawl.addons.records.templates.values.read import read_values

KINDS: tuple[ValueKind, ...] = get_args(ValueKind)


@pytest.mark.parametrize(
    "written",
    [
        "info@a-b.com.cn", "INFO@A-B.COM.CN", "info[at]a-b.com.cn", "info(at)a-b(dot)com(dot)cn",
        "info # a-b.com.cn", "info 艾特 a-b 点 com 点 cn", "info AT a-b.com.cn",
        "info @ a-b.com.cn", "info\x1f@\x1fa-b.com.cn", "邮箱info@a-b.com.cn，",
        "info_at_a-b.com.cn",
    ],
)  # fmt: skip
def test_obfuscated_mail_addresses_are_found(written: str) -> None:
    assert "info@a-b.com.cn" in [one.value for one in mails(written)]


@pytest.mark.parametrize("text", ["logo@2x.png", "a@b", "@user", "a..b@c.com", "look at b.com"])
def test_invalid_mail_address_is_ignored(text: str) -> None:
    assert mails(text, labelled=False) == []


@given(st.emails())
def test_mail_addresses_are_normalised(mail: str) -> None:
    one = validated_mail(mail)
    assert (
        one is None
        or validated_mail(one.upper()) == one == mail_of_link(f"mailto:{one}")
        or "%" in mail
    )


@given(st.integers(0, 255))
def test_cloudflare_attribute_is_decoded(key: int) -> None:
    code = bytes([key, *(ord(char) ^ key for char in "ab@c.com")]).hex()
    assert decode_cfemail(code) == "ab@c.com"


@pytest.mark.parametrize("code", ["", "0", "zz", "00"])
def test_invalid_cloudflare_attribute_is_ignored(code: str) -> None:
    assert decode_cfemail(code) is None


def test_kinds_of_numbers_are_distinguished() -> None:
    assert [one.value for one in postcodes("地址：成都 610041 电话 028-85123456", "CN")] == [
        "610041"
    ]
    assert [one.value for one in qqs("客服 1234567，邮箱 7654321@qq.com")] == ["1234567"]
    assert qq_of_link("http://wpa.qq.com/msgrd?v=3&uin=10001") == "10001"
    assert [one.value for one in urls("http://a.test/x，b@c.com d.com.cn")] == [
        "http://a.test/x", "http://d.com.cn/",
    ]  # fmt: skip
    assert [one.value for one in numbers("1,200.5万、80")] == ["12005000", "80"]
    assert [one.value for one in dates("2003年5月 2004-13-01")] == ["2003-05"]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("10-100人", ["10", "100"]),
        ("气温 -5 至 +3", ["-5", "3"]),
        ("净利润-500万元，同比增长-3.5%", ["-5000000", "-3.5"]),
        ("US$ 1,299.50", ["1299.5"]),
        ("1.299,00 € (12,50 €/kg)", ["1299", "12.5"]),
        ("1 299,00 €", ["1299"]),
        ("CHF 1'299.00", ["1299"]),
        ("₹ 1,29,900", ["129900"]),
        ("楼层 3,4,5", ["3", "4", "5"]),
        ("¥\x1f12\x1f.50", ["12.5"]),
        ("1.15亿元", ["115000000"]),
        ("1,000萬元", ["10000000"]),
        ("100-500万元，3千-1万", ["1000000", "5000000", "3000", "10000"]),
        ("12,50，含税", ["12.5"]),
        ("1.200.000 đ", ["1200000"]),
        ("12345678901234567890", ["12345678901234567890"]),
    ],
)
def test_numbers_of_several_countries(text: str, values: list[str]) -> None:
    assert [one.value for one in numbers(text)] == values


@given(st.decimals(0, 10**12, places=2), st.sampled_from([",.", ".,", " ,"]))
def test_numbers_are_read_as_written(number: Decimal, marks: str) -> None:
    written = f"{number:,.2f}".translate(str.maketrans(",.", marks))
    assert [Decimal(one.value) for one in numbers(written)] == [number]


@pytest.mark.parametrize(
    ("text", "region", "values"),
    [
        ("1998年", "CN", ["1998"]),
        ("1998 年 3 月", "CN", ["1998-03"]),
        ("2003-02-31", "CN", []),
        ("12 May 2003", "CN", ["2003-05-12"]),
        ("03/04/2005", "US", ["2005-03-04"]),
        ("03/04/2005", "GB", ["2005-04-03"]),
        ("3. März 2005", "DE", ["2005-03-03"]),
    ],
)
def test_dates_of_several_countries(text: str, region: str, values: list[str]) -> None:
    assert [one.value for one in read_values("date", text, region)] == values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("成都市高新区天府大道1号(邮编:610041)", "成都市高新区天府大道1号"),
        ("成都市高新区 天府大道 1号 610041", "成都市高新区天府大道1号"),
        ("成都市高新区天府大道1号[查看地图]", "成都市高新区天府大道1号"),
        ("We are at 2 Quay Street, Truro TR1 2HB.", "2 Quay Street, Truro TR1 2HB"),
    ],
)
def test_address_ends_before_other_text(text: str, value: str) -> None:
    assert [one.value for one in address(text)] == [value]


@pytest.mark.parametrize("text", ["请登录后查看", "****", "\ufffc", "a@b.com", "028-85123456"])
def test_text_without_address_is_ignored(text: str) -> None:
    assert address(text) == []


def test_sentences_do_not_look_like_addresses() -> None:
    assert not looks_like("公司服务网络覆盖四川省21个市州，设有8个分部。")
    assert not looks_like("We went down the road to the park")


def test_names_are_cleaned_found_and_compared() -> None:
    assert tidy("欢迎光临四川天府软件有限公司官网") == "四川天府软件有限公司"
    assert tidy("© 2024 The Cycle Shed. All rights reserved") == "The Cycle Shed"
    assert [o.value for o in organisations("Copyright 2020 成都天府软件（集团）有限公司")] == [
        "成都天府软件(集团)有限公司"
    ] or organisations("Copyright 2020 成都天府软件(集团)有限公司")
    assert similar("四川天府軟件有限公司", "天府软件")
    assert not similar("四川天府软件有限公司", "四川蜀网软件有限公司")


@given(st.sampled_from(KINDS), st.text(max_size=120))
def test_values_of_every_kind_are_within_any_text(kind: ValueKind, text: str) -> None:
    for value in read_values(kind, text, "CN"):
        assert value.value
        assert 0 <= value.start <= value.end <= len(text)


@given(st.sampled_from(KINDS), st.text("0128-转/、 @.ac#at市路号", max_size=60))
def test_values_of_random_marks_are_deterministic(kind: ValueKind, text: str) -> None:
    assert read_values(kind, text, "CN") == read_values(kind, text, "CN")
