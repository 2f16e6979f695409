"""Tests of reading recorded collections and their pages."""

from __future__ import annotations

import base64
import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.addons.simulate.webs import HTML, SITE, answer, page, web
from tests.unit.addons.warc.test_archive import exchange
from topiccrawl.addons.simulate.collection import RecordedPage, RecordedWeb
from topiccrawl.addons.warc import collection
from topiccrawl.addons.warc.archive import Archive
from topiccrawl.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def write_and_read(path: Path, *pages: dict[str, Any]) -> RecordedWeb:
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in pages)
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return RecordedWeb.read(path)


@pytest.mark.parametrize("name", ["a.web.jsonl", "a.web.jsonl.gz"])
def test_collection_is_read_plain_or_compressed(tmp_path: Path, name: str) -> None:
    found = write_and_read(
        tmp_path / name,
        {"url": "http://a.test/", "body": "front", "label": "news"},
        {"url": "http://a.test/2", "status": 301, "headers": {"Location": "/3"}},
        {
            "url": "http://a.test/3",
            "body64": base64.b64encode(b"\xff").decode(),
            "type": "image/png",
            "categories": ["subject.sport.football", "misc"],
        },
    )
    assert found.pages["a.test/"] == RecordedPage("http://a.test/", 200, HTML, b"front", ("news",))
    assert found.pages["a.test/2"].target == "http://a.test/3"
    assert found.pages["a.test/3"].body == b"\xff"
    assert found.pages["a.test/3"].marks == ("sport.football", "misc")


def test_byte_order_mark_and_empty_lines_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.web.jsonl"
    path.write_text('\n{"url": "http://a.test/", "status": "404"}\n\n', "utf-8-sig")
    (page,) = RecordedWeb.read(path).pages.values()
    assert page.status == 404


def test_lookup_ignores_the_scheme_but_not_the_query() -> None:
    found = web(page("/x?y=1", "text"))
    assert found.get("https://A.test/x?y=1#z") is not None
    assert found.get("http://a.test/x") is None


def test_label_includes_its_sublabels() -> None:
    found = web(
        page("/1", "t", marks=("sport.football",)), page("/2", "t", marks=("sports",)),
        page("/3", "t", marks=("news", "sport")), page("/4", "t"),
    )  # fmt: skip
    assert found.relevant(["sport"]) == {"a.test/1", "a.test/3"}


def test_pages_are_decoded_as_served_and_parsed_once() -> None:
    body = "<title>足球</title><body>足球比赛<a href=/2>新闻</a>".encode("gbk")
    gbk = RecordedPage("http://a.test/", 200, (("content-type", "text/html; charset=gbk"),), body)
    found = web(gbk)
    parsed = found.page("a.test/")
    assert parsed is not None
    assert (parsed.title, parsed.links[0].anchor) == ("足球", "新闻")
    assert found.page("a.test/") is parsed


def test_image_is_not_parsed() -> None:
    picture = RecordedPage("http://a.test/p", 200, (("Content-Type", "image/png"),), b"\x89PNG")
    assert web(picture).page("a.test/p") is None


def test_only_redirects_have_a_target() -> None:
    assert answer("/1", 302, Location="2#x").target == "http://a.test/2"
    assert answer("/1", 200, Location="2").target is None
    assert answer("/1", 302).target is None


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"no json\n", "line 1: not a recorded page"),
        (b'{"url": "http://a.test/", "body": ""}\n{"body": ""}\n', "line 2: not a recorded page"),
        (b'{"url": "http://a.test/", "body64": "?"}\n', "is not base64"),
        (b'{"url": "http://[::1"}\n', "Invalid IPv6 URL"),
        (b'{"url": 5}\n', r"\(url: Input should be a valid string"),
        (b'{"url": "http://a.test/", "headers": {"A": null}}\n', r"\(headers.A: "),
        (b'{"url": "http://a.test/", "type": "text/html; charset=x"}\n', "unknown encoding: x"),
        (b"[" * 100_000, "line 1: not a recorded page"),
        (b"[]\n", "a JSON object with url"),
        (b"\xff\n", "not a recorded page"),
        (b'{"url": "http://a.test/", "type": "text/html; charset=klingon"}', "klingon"),
    ],
)
def test_invalid_collection_is_refused_with_the_line(
    tmp_path: Path, data: bytes, says: str
) -> None:
    path = tmp_path / "a.web.jsonl"
    path.write_bytes(data)
    with pytest.raises(ConfigurationError, match=says):
        RecordedWeb.read(path)


def test_truncated_or_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    truncated = tmp_path / "torn.web.jsonl.gz"
    truncated.write_bytes(gzip.compress(b'{"url": "http://a.test/"}\n')[:-9])
    for path in (truncated, tmp_path / "none.web.jsonl", tmp_path):
        with pytest.raises(ConfigurationError, match=str(path)):
            RecordedWeb.read(path)


def lines(path: Path) -> Iterator[RecordedPage]:
    """Read a collection of another format: one URL per line."""
    for url in path.read_text().split():
        yield answer(url, body="football")


def test_file_suffix_selects_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "crawl.lines"
    path.write_text("/one\n/two\n")
    others = {".lines": f"{__name__}.lines"}
    found = RecordedWeb.read(path, others).get(f"{SITE}/two")
    assert found is not None
    assert found.body == b"football"
    with pytest.raises(ConfigurationError, match=r"crawl.lines, line 1"):
        RecordedWeb.read(path)
    with pytest.raises(ConfigurationError, match=r"^TOPICCRAWL_COLLECTIONS is 'no.such'"):
        RecordedWeb.read(path, {".lines": "no.such"})


def test_warc_file_without_its_extra_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection, "find_spec", lambda _: None)
    with pytest.raises(ConfigurationError, match=r"a.warc.gz: needs warcio: .*\[warc\]"):
        RecordedWeb.read(tmp_path / "a.warc.gz")


def test_page_of_a_revisit_record_is_in_the_web(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.open()
    for number in (1, 2):
        archive.write(exchange(number, b"<p>the same text</p>"))
    archive.close()
    (path,) = tmp_path.glob("*.warc.gz")
    found = RecordedWeb.read(path, {".warc.gz": f"{collection.__name__}.recorded"})
    assert [one.body for one in found.pages.values()] == [b"<p>the same text</p>"] * 2
    assert found.get(exchange(2).url) is not None


def test_redirect_of_a_revisit_record_has_its_own_target(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.open()
    for number in (1, 2):
        sent = exchange(number, b"<h1>301 Moved Permanently</h1>")
        archive.write(sent._replace(status=301, headers=(("Location", f"/moved/{number}"),)))
    archive.close()
    (path,) = tmp_path.glob("*.warc.gz")
    found = RecordedWeb.read(path, {".warc.gz": f"{collection.__name__}.recorded"})
    targets = [one.target for one in found.pages.values()]
    assert targets == ["http://www.a.test/moved/1", "http://www.a.test/moved/2"]
