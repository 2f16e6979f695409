"""Tests of the format of a crawl in Redis: a change must raise its number."""

from __future__ import annotations

import json

import pytest

from topiccrawl.addons.redis.membership import (
    FORMAT,
    crawl_identity,
    identity_mismatch,
    parse_identity,
)
from topiccrawl.errors import StateVersionError
from topiccrawl.frontier.hosts import CLOCK, STATS
from topiccrawl.frontier.rows import CRAWLED, PAYLOAD, Row, decode, quantum, texts
from topiccrawl.links.strategies import FirstCome

ROW = (
    "01100201030400050000000600070000000000803e0000000065cdcd4166666666666666666666666601010208000000"
    "ffffff7f09000000707070707070707070707070707070700000003f0000803e687474703a2f2f612e636e2f00e9949a"
    "00e4b88ae4b88be69687007b7d00"
)


def row() -> Row:
    row = Row(texts=texts("http://a.cn/", "锚", "上下文"), lane=1, value=quantum(0.5), seq=7)
    row.state, row.flags, row.attempts, row.crashes, row.redirects, row.depth = (
        CRAWLED,
        16,
        2,
        1,
        3,
        4,
    )
    row.host, row.unit, row.relevance, row.when, row.first = 5, 6, 0.25, 1e9, b"f" * 12
    row.inlinks, row.version, row.parents, row.evidence = 8, 9, b"p" * 16, (0.5, 0.25)
    row.set_text(PAYLOAD, "{}")
    return row


def test_rows_hosts_and_statistics_match_the_format() -> None:
    written = (row().encode().hex(), CLOCK.format, STATS.format)
    known = (ROW, "<ddBIId", "<Id")
    assert (FORMAT, *written) == ([2, 2], *known), "raise the second number of nodes.about.FORMAT"
    assert decode(bytes.fromhex(ROW)).encode().hex() == ROW


@pytest.mark.parametrize("found", [[2, 3], [1, 2], 7, None])
def test_crawl_of_another_format_is_rejected_with_a_remedy(found: object) -> None:
    text = json.dumps({**json.loads(crawl_identity(FirstCome(), "nev")), "format": found})
    for refuse in (parse_identity, lambda where, text: identity_mismatch(where, text, "")):
        with pytest.raises(
            StateVersionError, match=r"another version.*this version needs 2\.2.*export"
        ):
            refuse("redis://h/0", text)


def test_mismatch_names_the_other_crawl() -> None:
    here, there = (crawl_identity(FirstCome(), owner) for owner in ("足球", "nev"))
    error = identity_mismatch("redis://h/0", there, here)
    assert "足球" in str(error)
    assert parse_identity("", crawl_identity(FirstCome(), "nev"))["owner"] == "nev"
