"""Tests of invalid messages in Redis: they are refused and counted; the crawl continues."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import msgpack
from hypothesis import given, settings
from hypothesis import strategies as st

from topiccrawl.addons.redis.buckets import BUCKETS
from topiccrawl.addons.redis.messages import LINKS, REDIRECT, SEED, parse_message
from topiccrawl.frontier.contract import Seed

if TYPE_CHECKING:
    import pytest

    from tests.contracts.conftest import Crew

KEY = b"k" * 12
LINK = ("http://a.cn/", 0, (0.5,), "锚", "")
WRONG: tuple[Any, ...] = (
    b"no msgpack", b"", b"\xc1", b"\x91", b"\xd9\xff", b"\x80", 7, "text", [], [None], [9, 1],
    [SEED], [SEED, 7, 0.5, "", 0], [SEED, "http://a.cn/", "much", "", 0], [SEED, "a", 0.5, "", -1],
    [SEED, "file:///etc/passwd", 0.5, "", 0], [SEED, "http://a.cn/", float("nan"), "", 0],
    [SEED, "http://a.cn/", 0.5, "", 10**9], [LINKS, "k", 1, [LINK]], [LINKS, KEY, "1", [LINK]],
    [LINKS, KEY, 1, [("http://a.cn/",)]], [LINKS, KEY, 1, [(7, 0, (), "", "")]],
    [LINKS, KEY, 1, 7], [LINKS, KEY, 1, [("http://a.cn/", 9, (), "", "")]],
    [LINKS, KEY, 1, [("http://a.cn/", 0, (1e300,), "", "")]],
    [LINKS, KEY, 1, [("http://a.cn/", 0, ("x",), "", "")]],
    [REDIRECT, KEY, b"short", "http://a.cn/", 1, ""], [REDIRECT, KEY, b"\xff" * 99, "x", 1, ""],
    [REDIRECT, KEY, b"", "http://a.cn/", 999, ""],
)  # fmt: skip


def packed(message: object) -> bytes:
    return message if isinstance(message, bytes) else msgpack.packb(message)


def test_invalid_message_is_refused_and_the_crawl_continues(
    crew: Crew, caplog: pytest.LogCaptureFixture
) -> None:
    node = crew.join()
    node.push([Seed("http://a.cn/1")])
    node.settle()
    for bucket in (0, BUCKETS - 1):
        crew.client.rpush(f"{node.base}mail:{bucket}", *map(packed, WRONG))
        crew.client.sadd(f"{node.base}post", bucket)
    with caplog.at_level(logging.WARNING):
        crew.settle()
    assert node.counts()["letters-refused"] == 2 * len(WRONG)
    assert len(caplog.records) == 2 * len(WRONG)
    assert not crew.client.keys(f"{node.base}mail:*"), "they are read, not read again and again"
    (lease,) = node.pop(9)
    assert lease.url == "http://a.cn/1"
    restarted = crew.join()
    crew.settle()
    assert restarted.counts().get("letters-refused", 0) in {0, 2 * len(WRONG)}


@settings(max_examples=200)
@given(st.binary() | st.recursive(
    st.integers(-9, 2**40) | st.floats() | st.text() | st.binary() | st.none(),
    lambda inner: st.lists(inner) | st.tuples(st.integers(0, 2), inner, inner, inner),
).map(msgpack.packb))  # fmt: skip
def test_any_bytes_are_a_message_or_refused(data: bytes) -> None:
    try:
        parse_message(data)
    except ValueError:
        return
