"""Properties of rows and keys of the frontier's store."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given

from topiccrawl.frontier.rows import (
    ANCHOR,
    CONTEXT,
    PAYLOAD,
    REASON,
    TOP,
    URL,
    Row,
    decode,
    key_of,
    quantum,
    texts,
    with_evidence_texts,
    with_inlink,
    with_parent,
)

words = st.text(max_size=200)
plain = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=80)
parent = st.tuples(st.binary(min_size=12, max_size=12), st.integers(0, TOP))


@given(
    url=plain,
    anchor=plain,
    payload=plain,
    evidence=st.lists(st.floats(width=32, allow_nan=False), max_size=8),
    parents=st.lists(parent, max_size=5),
    numbers=st.tuples(*[st.integers(0, 255)] * 5, st.integers(0, 65_535), st.integers(0, TOP)),
)
def test_encoded_row_is_decoded_unchanged(
    url: str,
    anchor: str,
    payload: str,
    evidence: list[float],
    parents: list[tuple[bytes, int]],
    numbers: tuple[int, ...],
) -> None:
    row = Row(texts=texts(url, anchor, "", payload), lane=1, value=5, seq=7)
    row.evidence = tuple(evidence)
    row.flags, row.attempts, row.crashes, row.redirects, row.state, row.depth, row.inlinks = numbers
    for key, value in parents:
        row.parents, _ = with_parent(row.parents, key, value)
    decoded = decode(row.encode())
    assert all(getattr(decoded, name) == getattr(row, name) for name in Row.__slots__)
    assert [decoded.text(part) for part in (URL, ANCHOR, PAYLOAD)] == [url, anchor, payload]
    assert decode(with_inlink(row.encode())).inlinks == min(row.inlinks + 1, TOP)


@given(url=words, anchor=words, context=words, payload=words, reason=words)
def test_texts_of_a_row_are_independent(
    url: str, anchor: str, context: str, payload: str, reason: str
) -> None:
    row = Row(texts=texts(url, anchor, context, payload))
    row.set_text(REASON, reason)
    row.texts = with_evidence_texts(row.texts, context, anchor)
    assert len(row.texts.split(b"\0")) == 5
    assert row.text(ANCHOR) == context[:80].replace("\0", " ")
    assert row.text(CONTEXT) == anchor[:120].replace("\0", " ")


@given(st.lists(st.integers(0, 20), max_size=8))
def test_best_three_parents_are_kept(values: list[int]) -> None:
    row = Row(texts=b"\0\0\0\0")
    best = -1
    for n, value in enumerate(values):
        row.parents, first = with_parent(row.parents, bytes([n]) * 12, value)
        assert first == (value > best)
        best = max(best, value)
    kept = [value for _, value in row.best_parents()]
    assert kept == sorted(values, reverse=True)[:3]


@given(st.floats(), st.floats())
def test_quantum_is_monotonic(one: float, other: float) -> None:
    assert 0 <= quantum(one) <= TOP
    if one <= other:
        assert quantum(one) <= quantum(other)


def test_urls_of_a_host_share_a_key_prefix() -> None:
    assert key_of("http://a.cn/1")[:4] == key_of("https://a.cn:81/2")[:4]
    assert key_of("http://u:p@A.cn?q=/")[:4] == key_of("http://a.cn#f")[:4]
    assert key_of("http://[::1]:80/x")[:4] == key_of("http://[::1]/")[:4]
    assert key_of("http://a.cn/1") != key_of("http://a.cn/2")
