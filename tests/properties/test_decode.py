"""Property tests of decoding: text is decoded under any declaration of header and page."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from topiccrawl.text.decode import Decoded, decode

GB_1 = bytes(b for high in range(0xB0, 0xD7) for low in range(0xA1, 0xFF) for b in (high, low))
BIG_1 = bytes(b for high in range(0xA5, 0xC5) for low in range(0xA1, 0xFF) for b in (high, low))
SIMPLIFIED = GB_1.decode("gb2312")
TRADITIONAL = BIG_1.decode("big5")
LABELS = ("utf-8", "UTF8", "gb2312", "GBK", "gb18030", "big5", "iso-8859-1", "us-ascii", "nonsense")
no_deadline = settings(deadline=None)  # a machine may be busy


def paragraphs(characters: str) -> st.SearchStrategy[str]:
    """Pages of a few lines of everyday characters, with punctuation, Latin words and numbers."""
    return st.integers(0, 2**32).map(lambda seed: lines(random.Random(seed), characters))  # noqa: S311


def lines(dice: random.Random, characters: str) -> str:
    def sentence() -> str:
        words = ["".join(dice.choices(characters, k=dice.randint(4, 20))) for _ in range(5)]
        words[dice.randrange(5)] += dice.choice(("NBA", "2026", "5G", ""))
        return "，".join(words) + "。"

    return "</p>\n<p>".join(sentence() for _ in range(dice.randint(2, 6)))


headers = st.none() | st.sampled_from(LABELS).map("text/html; charset={}".format)
metas = st.just("") | st.sampled_from(LABELS).map('<meta charset="{}">'.format)


def page(meta: str, text: str) -> str:
    return f"<html><head>{meta}<title>t</title></head><body><p>{text}</p></body></html>"


@no_deadline
@given(paragraphs(SIMPLIFIED), headers, metas, st.sampled_from(("utf-8", "gb2312", "gb18030")))
def test_simplified_pages_survive_every_declaration(
    text: str, header: str | None, meta: str, encoding: str
) -> None:
    html = page(meta, text)
    assert decode(html.encode(encoding), header).text == html


@no_deadline
@given(paragraphs(TRADITIONAL), headers, metas, st.sampled_from(("utf-8", "big5", "gb18030")))
def test_traditional_pages_survive_every_declaration(
    text: str, header: str | None, meta: str, encoding: str
) -> None:
    html = page(meta, text)
    assert decode(html.encode(encoding), header).text == html


@no_deadline
@given(st.text(), st.sampled_from(("utf-8-sig", "utf-16")), headers)
def test_a_byte_order_mark_outranks_everything(
    text: str, encoding: str, header: str | None
) -> None:
    body = text.encode(encoding, "ignore")
    assert decode(body, header) == (
        body.decode(encoding),
        "utf-8" if encoding == "utf-8-sig" else "utf-16-le",
        "bom",
    )


@no_deadline
@given(paragraphs(SIMPLIFIED), st.sampled_from(("utf-16-le", "utf-16-be")), headers)
def test_utf_16_without_a_mark_is_detected_by_its_markup(
    text: str, encoding: str, header: str | None
) -> None:
    html = "<!DOCTYPE html>\n" * 10 + page("", text)
    assert decode(html.encode(encoding), header).text == html


@no_deadline
@given(st.text(st.characters(codec="ascii", exclude_characters="\0")), headers)
def test_ascii_text_is_decoded_unchanged(text: str, header: str | None) -> None:
    assert decode(text.encode(), header).text == text


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300), st.none() | st.text(max_size=40) | headers)
@example(b"<meta charset=idna>\xff", None)
@example(b"<meta charset=unicode_escape>\\x\xff", "text/html; charset=zip")
@example(b"<meta charset=utf-7>+AGE-\xff", "text/html; charset=")
@example(b"\xff\xfea", None)
@example(b"\xff", "text/html; charset=undefined")
def test_any_bytes_are_decoded(body: bytes, header: str | None) -> None:
    result = decode(body, header)
    assert isinstance(result, Decoded)
    result.text.encode("utf-8")  # no lone surrogates: it can be stored


@no_deadline
@given(
    paragraphs(SIMPLIFIED),
    headers,
    st.sampled_from(("utf-8", "gb18030")),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0x80, 0xFF)), min_size=1, max_size=2),
)
def test_stray_bytes_damage_only_their_lines(
    text: str, header: str | None, encoding: str, strays: list[tuple[float, int]]
) -> None:
    html = page("", "\n".join([text] * 6))
    body = bytearray(html.encode(encoding))
    for place, byte in strays:
        body.insert(int(place * len(body)), byte)
    found = set(re.split(r"[\n<>]+", decode(bytes(body), header).text))
    lines = re.split(r"[\n<>]+", html)
    assert sum(line in found for line in lines) >= len(lines) - 2 * len(strays)


@pytest.mark.parametrize("cut", range(1, 9))
@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "big5"])
def test_truncated_page_keeps_all_but_its_end(encoding: str, cut: int) -> None:
    html = page("", "中文新聞網報導今天的消息" * 4)
    whole = decode(html.encode(encoding), None).text
    cut_off = decode(html[: -len("</p></body></html>")].encode(encoding)[:-cut], None).text
    assert whole == html
    assert whole.startswith(cut_off.rstrip("\ufffd")[:-1])
    assert len(cut_off) >= len(html) - len("</p></body></html>") - cut - 1
