"""Tests of the detection of a page's encoding and of decoding."""

from __future__ import annotations

import base64
import gzip
import html
import json
from pathlib import Path
from typing import Any

import pytest

from topiccrawl.text.decode import HEAD_LINES, decode

DATA = Path(__file__).parents[4] / "shared" / "data"
CHINESE = "<p>新能源汽车的销量今年继续增长，充电桩也越来越多。</p>"


WIDE = f"<title>一家新能源汽车企业的一款新车上市，充电一次续航一千公里</title>{CHINESE * 3}"


def page(charset: str, text: str = CHINESE) -> str:
    return f'<html><head><meta charset="{charset}"></head><body>{text}</body></html>'


@pytest.mark.parametrize(
    ("body", "header", "encoding", "how"),
    [
        (CHINESE.encode("utf-8"), None, "utf-8", "bytes"),
        (CHINESE.encode("utf-8"), "text/html; charset=UTF-8", "utf-8", "header"),
        (CHINESE.encode("utf-8"), "text/html; charset=gbk", "utf-8", "bytes"),
        (CHINESE.encode("gbk"), "text/html; charset=utf-8", "gb18030", "detected"),
        (CHINESE.encode("gbk"), None, "gb18030", "detected"),
        (CHINESE.encode("gbk"), "text/html;charset='GB2312'", "gb18030", "header"),
        (page("gb2312").encode("gbk"), "text/html", "gb18030", "meta"),
        (page("gb2312").encode("gbk"), "text/html; charset=ISO-8859-1", "gb18030", "meta"),
        (page("big5").encode("gbk"), "text/html; charset=big5", "gb18030", "detected"),
        (page("gb18030").encode("gbk"), "text/html; charset=gbk", "gb18030", "header"),
        (page("hz-gb-2312").encode("hz"), None, "hz", "meta"),
        (page("utf-16").encode("utf-8"), None, "utf-8", "bytes"),
        (WIDE.encode("utf-16-le"), None, "utf-16-le", "bytes"),
        (WIDE.encode("utf-16-be"), "text/html; charset=gbk", "utf-16-be", "bytes"),
        (b"<?xml version='1.0' encoding='gbk'?>" + CHINESE.encode("gbk"), None, "gb18030", "meta"),
    ],
)
def test_encoding_declarations_by_priority(
    body: bytes, header: str | None, encoding: str, how: str
) -> None:
    found = decode(body, header)
    assert (found.encoding, found.how) == (encoding, how)
    assert "新能源汽车" in found.text


@pytest.mark.parametrize(
    ("text", "encoding", "label", "expected"),
    [
        ("Le café de l'été était fermé à Noël", "cp1252", "iso-8859-1", "cp1252"),
        ("It’s a “naïve” idea — really", "cp1252", "latin1", "cp1252"),
        ("Сегодня в городе открылась новая выставка", "cp1251", "windows-1251", "cp1251"),
        ("東京の電気自動車の販売が増えている", "shift_jis", "Shift_JIS", "cp932"),
        ("전기 자동차 판매가 늘었다", "euc-kr", "euc-kr", "cp949"),
    ],
)
def test_declared_encodings_of_other_languages(
    text: str, encoding: str, label: str, expected: str
) -> None:
    found = decode(text.encode(encoding), f"text/html; charset={label}")
    assert found == (text, expected, "header")


def test_undeclared_latin_text_is_not_decoded_as_chinese() -> None:
    text = "Un été à la montagne: café, crème brûlée et forêt. " * 5
    assert decode(text.encode("latin-1")).text == text


def test_utf_8_with_a_bad_byte_and_a_wrong_header_stays_utf_8() -> None:
    body = CHINESE.encode() + b"\xe6\x96" + b"<p>" + CHINESE.encode()
    found = decode(body, "text/html; charset=gbk")
    assert found.encoding == "utf-8"
    assert found.text.count(CHINESE) == 2


@pytest.mark.parametrize("header", [None, "text/html; charset=utf-8"])
def test_latin_utf_8_with_a_cut_letter_stays_utf_8(header: str | None) -> None:
    text = "Straż graniczna zatrzymała przemyt papierosów na polskiej granicy. " * 5
    found = decode(text.encode() + "ó".encode()[:1] + b"...</p>" + text.encode(), header)
    assert found.encoding == "utf-8"
    assert found.text.count(text) == 2


def test_late_meta_is_ignored() -> None:
    late = "\n" * (HEAD_LINES + 1) + page("big5", "x")
    assert decode(late.encode(), None).how == "bytes"


@pytest.mark.parametrize("label", ["idna", "utf-7", "zip", "hex", "undefined", "\x00", "no-such"])
def test_labels_of_non_web_encodings_are_ignored(label: str) -> None:
    assert decode(CHINESE.encode("gbk"), f"text/html; charset={label}").text == CHINESE


def test_undecodable_bytes_use_the_default_encoding() -> None:
    found = decode(bytes(range(0x81, 0xFF)) * 3)
    assert found.text
    assert found.encoding


def lines(name: str) -> list[dict[str, Any]]:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not there: the shared collections are not part of the project")
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        return [json.loads(row) for row in rows]


@pytest.mark.parametrize("header", [None, "gbk", "utf-8", "iso-8859-1", "big5"])
def test_titles_of_real_pages_are_decoded(header: str | None) -> None:
    titles = {row["url"]: row["title"] for row in lines("zhnews.truth.jsonl.gz")}
    content_type = header and f"text/html; charset={header}"
    pages = [row for row in lines("zhnews.web.jsonl.gz") if row["url"] in titles][::4]
    for row in pages:
        text = html.unescape(decode(base64.b64decode(row["body64"]), content_type).text)
        start = "".join(titles[row["url"]].split())[:12]
        assert start in "".join(text.split()), row["url"]
