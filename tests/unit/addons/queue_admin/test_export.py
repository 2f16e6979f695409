"""Tests of importing untrusted exports: rows that no frontier writes are refused."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.unit.addons.url_patterns.test_patterns import scrapy
from topiccrawl.addons.queue_admin.export import entries
from topiccrawl.errors import StateError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., tuple[int, str]]

ABOUT: dict[str, Any] = {
    "kind": "frontier", "strategy": "bfs", "fields": ["depth"], "owner": "新能源汽车",
}  # fmt: skip
PAGE: dict[str, Any] = {"kind": "url", "url": "http://a.test/", "queue": "prior", "arrival": 1}
HOST: dict[str, Any] = {"kind": "host", "name": "a.test"}
SEEN: dict[str, Any] = {"kind": "seen", "bucket": 1, "place": 0, "filter": ""}


def payload(**more: object) -> str:
    record = {"url": "http://a.test/", "method": "GET", "headers": [], "body": "", "meta": {}}
    return json.dumps({**record, **more})


WRONG: list[dict[str, Any]] = [
    {**PAGE, "url": "file:///etc/passwd"}, {**PAGE, "url": "ftp://a.test/"},
    {**PAGE, "url": "http://a.test/" + "x" * 9000}, {**PAGE, "url": "http://a.test/ x"},
    {**PAGE, "url": "http://"}, {**PAGE, "url": 7}, {**PAGE, "url": None},
    {**PAGE, "payload": payload(url="file:///etc/passwd")},
    {**PAGE, "payload": payload(url="data:,x")}, {**PAGE, "payload": payload(url=["http://a"])},
    {**PAGE, "payload": payload(_class="subprocess.Popen")}, {**PAGE, "payload": "[1]"},
    {**PAGE, "payload": "[" * 100_000}, {**PAGE, "payload": "no JSON"},
    {**PAGE, "queue": "nowhere"}, {**PAGE, "arrival": 0}, {**PAGE, "arrival": 2**32},
    {**PAGE, "arrival": "1"}, {**PAGE, "arrival": True}, {**PAGE, "value": 1.5},
    {**PAGE, "value": float("nan")}, {**PAGE, "depth": 70_000}, {**PAGE, "attempts": 256},
    {**PAGE, "crashes": -1}, {**PAGE, "inlinks": 2**40}, {**PAGE, "lane": 9},
    {**PAGE, "evidence": [1.0, 2.0]}, {**PAGE, "evidence": [1e300]}, {**PAGE, "when": -1.0},
    {**PAGE, "when": float("inf")}, {**PAGE, "version": 2**40}, {**PAGE, "anchor": "a\0b"},
    {**PAGE, "anchor": "x" * 5000}, {**PAGE, "links": "http://a.test/"},
    {**PAGE, "parents": [["http://a.test/", 0.5]] * 4}, {**PAGE, "pinned": "yes"},
    {**HOST, "name": ""}, {**HOST, "name": "a/../b"}, {**HOST, "next_at": "soon"},
    {**HOST, "level": 300}, {**HOST, "groups": [["g", -1, 0.0]]}, {**HOST, "fetched": 2**32},
    {**HOST, "units": [["file:///", []]]}, {**HOST, "robots": [["http://a.test", 1.0, 1, ""]]},
    {**SEEN, "bucket": 256}, {**SEEN, "filter": "no base64"}, {**SEEN, "filter": "AAAA"},
    {**ABOUT, "counters": {"known": 7}}, {**ABOUT, "fields": ["a"] * 100}, {**ABOUT, "turn": -1},
    {**ABOUT, "format": "1"}, {"kind": "else"}, {"kind": []}, {},
]  # fmt: skip


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    def run(rows: list[Any], *more: str) -> tuple[int, str]:
        file = tmp_path / "out.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        where = ("-s", f"TOPICCRAWL_DATA_DIR={tmp_path / 'data'}")
        return scrapy(capsys, monkeypatch, "frontier", "import", str(file), *where, *more)

    return run


def test_invalid_rows_are_refused(run: Run, tmp_path: Path) -> None:
    for wrong in WRONG:
        rows = (
            [wrong]
            if wrong.get("kind") == "frontier"
            else [ABOUT, {**PAGE, "url": "http://b.test/", "arrival": 2}, wrong]
        )
        status, out = run(rows)
        assert (status, "Traceback" in out) == (1, False), (wrong, out)
        assert f"line {len(rows)}" in out, (wrong, out)
        assert not list((tmp_path / "data").rglob("*.mdb")), wrong
    assert run([ABOUT, PAGE, HOST])[0] == 0


@pytest.mark.parametrize("owner", ["spider-/../../../out", "spider-a\0b",
                                   "../out.toml", "/etc/out.toml", "x" * 500])  # fmt: skip
def test_owner_cannot_lead_out_of_the_folder(run: Run, tmp_path: Path, owner: str) -> None:
    status, out = run([{**ABOUT, "owner": owner}, PAGE])
    made = {*tmp_path.rglob("*.mdb")} - {*(tmp_path / "data" / "frontiers").rglob("*")}
    assert (status, made, "Traceback" in out) == (1, set(), False), out


@pytest.mark.parametrize(
    "data", [b"\x1f\x8b\x08\x00" + b"x" * 99, b"", b"\xff\xfe", b"\n", b"[" * 99]
)
def test_damaged_file_is_refused_without_a_traceback(run: Run, tmp_path: Path, data: bytes,
                                 capsys: pytest.CaptureFixture[str],
                                 monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    for name in ("out.jsonl", "out.jsonl.gz"):
        file = tmp_path / name
        file.write_bytes(data)
        where = ("-s", f"TOPICCRAWL_DATA_DIR={tmp_path / 'data'}")
        status, out = scrapy(capsys, monkeypatch, "frontier", "import", str(file), *where)
        assert (status, "Traceback" in out) == (1, False), out


def test_endless_line_is_refused() -> None:
    with pytest.raises(StateError, match="more than"):
        list(entries("x", io.StringIO(json.dumps(ABOUT) + "\n" + "{" + " " * 9_000_000)))
    packed = io.BytesIO(gzip.compress(b" " * 50_000_000))
    with gzip.open(packed, "rt") as bomb, pytest.raises(StateError, match="more than"):
        list(entries("x", bomb))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)
_FIELDS = [(row, name) for row in (ABOUT, PAGE, HOST, SEEN) for name in row]


@settings(max_examples=200)
@given(st.sampled_from(_FIELDS), _JSON)
@example((PAGE, "payload"), '{"url": "file:///etc/passwd"}')
@example((PAGE, "arrival"), 10**4000)
def test_any_value_is_stored_or_refused(field: tuple[dict[str, Any], str], value: object) -> None:
    row, name = field
    text = json.dumps({**row, name: value}) + "\n"
    with contextlib.suppress(StateError):
        assert len(list(entries("x", io.StringIO(json.dumps(ABOUT) + "\n" + text)))) == 2


@settings(max_examples=100)
@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(StateError):
        list(entries("x", io.StringIO(text)))
