"""Tests of WARC archives: writing, indexes, repair after kills, and removal."""

from __future__ import annotations

import gzip
import io
import json
import random
import resource
import subprocess
import sys
import zipfile
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import brotli
import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from tests.waiting import PATIENCE
from tests.warcs import exchanges
from topiccrawl.addons.warc import warc
from topiccrawl.addons.warc.archive import Archive, Exchange, LatestPages
from topiccrawl.addons.warc.collection import recorded
from topiccrawl.addons.warc.warc import forget, surt
from topiccrawl.errors import ConfigurationError, StorageError
from topiccrawl.messages import translate

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEADERS = (("Content-Type", "text/html; charset=gbk"), ("X-Made-By", "test"))


def exchange(number: int, body: bytes = b"") -> Exchange:
    text = body or f"<p>第{number}页</p>".encode("gbk")
    url = f"http://www.a.test/{number}?b=1&a=2"
    return Exchange(url, 1.6e9 + number, "GET", (("User-Agent", "t"),), 200, HEADERS, text)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.warc.gz"))


def valid(folder: Path) -> bool:
    command = [sys.executable, "-m", "warcio.cli", "check", *map(str, files(folder))]
    return subprocess.run(command, timeout=PATIENCE, check=False).returncode == 0


def file_of_three(folder: Path) -> Path:
    """Return the file of an archive with three exchanges."""
    archive = Archive(folder)
    archive.open()
    for number in range(3):
        archive.write(exchange(number))
    archive.close()
    (file,) = files(folder)
    return file


def test_written_exchanges_are_valid_and_read_back(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.open()
    written = [exchange(n) for n in range(5)]
    for one in written:
        archive.write(one)
    archive.close()
    archive.close()
    (file,) = files(tmp_path)
    assert valid(tmp_path)
    found = list(exchanges(file))
    assert [(one.url, one.at, one.status, one.body, one.headers) for one in found] == [
        (one.url, one.at, one.status, one.body, one.headers) for one in written
    ]
    with file.open("rb") as opened:
        kinds = [record.rec_type for record in ArchiveIterator(opened)]
    assert kinds == ["warcinfo", *["response", "request"] * 5]


def test_truncated_file_is_reported(tmp_path: Path) -> None:
    data, cut = file_of_three(tmp_path).read_bytes(), tmp_path / "cut.warc.gz"
    unnoticed = []
    for end in range(1, len(data), 7):
        cut.write_bytes(data[:end])
        with suppress(ConfigurationError):
            found = [one.url for one in exchanges(cut)]
            assert found == [exchange(i).url for i in range(len(found))]
            unnoticed.append(end)
    assert len(unnoticed) <= 7  # between two records


def test_truncated_body_of_an_uncompressed_file_is_reported(tmp_path: Path) -> None:
    data, cut = gzip.decompress(file_of_three(tmp_path).read_bytes()), tmp_path / "cut.warc"
    cut.write_bytes(data[: data.index(exchange(1).body) + 3])
    with pytest.raises(ConfigurationError, match=r"cut\.warc: .*truncated or damaged"):
        list(exchanges(cut))


def test_intact_compressed_record_with_a_wrong_length_is_read(tmp_path: Path) -> None:
    file = file_of_three(tmp_path)
    with file.open("rb") as stream:
        spans = [(begin, end) for _, begin, end in warc.parts(stream)]
    data = file.read_bytes()
    records = [gzip.decompress(data[begin:end]) for begin, end in spans]
    wrong = [one.replace(b"\nContent-Length: ", b"\nContent-Length: 1", 1) for one in records]
    file.write_bytes(b"".join(map(gzip.compress, wrong)))
    urls = [exchange(number).url for number in range(3)]
    assert [one.url for one in exchanges(file)] == urls
    assert list(LatestPages([file]).of(file)) == urls


def test_web_archive_collection_is_to_be_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "crawl.wacz"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("archive/data.warc.gz", b"")
    with pytest.raises(ConfigurationError, match=r"WACZ.* unpack it") as raised:
        list(recorded(path))
    assert "解压" in translate(raised.value.message, "zh")


def test_flipped_bit_is_reported(tmp_path: Path) -> None:
    file = file_of_three(tmp_path)
    data, urls = file.read_bytes(), [one.url for one in exchanges(file)]
    unnoticed = 0
    for place in range(0, len(data), 11):
        file.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with suppress(ConfigurationError):
            assert [one.url for one in exchanges(file)] == urls
            unnoticed += 1  # in an unused field of gzip
    assert unnoticed < len(data) / 11 / 2


def test_unmodified_page_is_a_revisit_without_index_entry(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.open()
    archive.write(exchange(1))
    archive.write(exchange(1)._replace(at=1.7e9, status=304, body=b""))
    archive.close()
    (file,) = files(tmp_path)
    assert valid(tmp_path)
    with file.open("rb") as opened:
        revisits = [r.rec_headers for r in ArchiveIterator(opened) if r.rec_type == "revisit"]
    assert revisits[0].get_header("WARC-Profile").endswith("revisit/server-not-modified")
    assert len(next(tmp_path.glob("*.cdxj")).read_text().splitlines()) == 1
    assert [one.status for one in exchanges(file)] == [200]


def test_index_has_the_offset_of_each_record(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.open()
    for number in (3, 1, 2):
        archive.write(exchange(number))
    archive.close()
    (file,) = files(tmp_path)
    lines = file.with_name(file.name.replace(".warc.gz", ".cdxj")).read_text("utf-8").splitlines()
    assert [line.split(" ")[0] for line in lines] == [f"test,a)/{n}?a=2&b=1" for n in (1, 2, 3)]
    for number, line in enumerate(lines, 1):
        entry = json.loads(line.split(" ", 2)[2])
        with file.open("rb") as opened:
            opened.seek(int(entry["offset"]))
            part = opened.read(int(entry["length"]))
        (tmp_path / "one").write_bytes(part)
        (alone,) = exchanges(tmp_path / "one")
        assert alone.body == exchange(number).body
        assert entry["filename"] == file.name


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://a.com/News/1/", "com,a)/news/1"),
        ("http://a.com/x//y/", "com,a)/x/y"),
        ("http://a.com/%E4%B8%AD/%7Ea%20b", "com,a)/%e4%b8%ad/~a%20b"),
        ("http://a.com/%2541", "com,a)/a"),
        ("http://a.com/x?a-b=2&a=%D6%D0&a", "com,a)/x?a&a=%d6%d0&a-b=2"),
        ("http://www2.a.com:443/?", "com,a:443)/"),
    ],
)
def test_key_of_the_index_is_that_of_other_tools(url: str, key: str) -> None:
    assert surt(url) == key  # as of cdxj-indexer 1.5


def test_repeated_body_is_written_as_a_revisit(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.open()
    body = b"<p>the same</p>" * 1000
    archive.write(exchange(1, body))
    archive.write(exchange(2, body))
    archive.close()
    (file,) = files(tmp_path)
    with file.open("rb") as opened:
        kinds = [record.rec_type for record in ArchiveIterator(opened)]
    assert kinds == ["warcinfo", "response", "request", "revisit", "request"]
    assert valid(tmp_path)


def test_files_are_closed_by_size(tmp_path: Path) -> None:
    archive = Archive(tmp_path, size=1500)
    archive.open()
    for number in range(6):
        archive.write(exchange(number))
    archive.close()
    assert len(files(tmp_path)) > 1
    assert sum(1 for file in files(tmp_path) for _ in exchanges(file)) == 6
    assert not list(tmp_path.glob("*.open"))


KILLED = """
import os, signal, sys
from tests.unit.addons.warc.test_archive import exchange
from topiccrawl.addons.warc.archive import Archive
archive = Archive(sys.argv[1])
archive.open()
archive.write(exchange(1))
archive.write(exchange(2))
size = archive._size
archive.write(exchange(3))
archive._file.truncate(size + 100)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_file_of_a_killed_process_is_repaired(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", KILLED, str(tmp_path)]
    subprocess.run(command, timeout=PATIENCE, check=False)
    assert not files(tmp_path)
    archive = Archive(tmp_path)
    archive.open()
    archive.close()
    (file,) = files(tmp_path)
    assert [one.url for one in exchanges(file)] == [exchange(1).url, exchange(2).url]
    assert valid(tmp_path)


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """Limit the size of this process's files, as if the disk became full during a write."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def large_exchange(number: int) -> Exchange:
    return exchange(number, random.Random(number).randbytes(300_000))  # noqa: S311


def test_full_disk_loses_only_the_failed_exchange(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.open()
    assert archive.write(large_exchange(1))
    with file_size_limit(400_000), pytest.raises(StorageError, match="cannot be written"):
        archive.write(large_exchange(2))
    (file,) = tmp_path.glob("*.open")
    assert file.stat().st_size < 310_000
    assert archive.write(large_exchange(2))  # no revisit: its body was not written
    assert archive.write(large_exchange(3))
    archive.close()
    assert valid(tmp_path)
    assert [one.body for one in exchanges(files(tmp_path)[0])] == [
        large_exchange(n).body for n in (1, 2, 3)
    ]


def test_file_is_valid_after_a_disk_full_from_the_start(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.open()
    with file_size_limit(100), pytest.raises(StorageError):
        archive.write(exchange(1))
    archive.write(exchange(1))
    archive.close()
    assert valid(tmp_path)
    assert [one.url for one in exchanges(files(tmp_path)[0])] == [exchange(1).url]


def test_file_that_cannot_be_completed_is_named_and_stops_no_crawl(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    unreadable = tmp_path / "0.warc.gz.open"
    unreadable.mkdir()  # tests that run as root can read all files
    (tmp_path / "1.warc.gz.open").write_bytes(b"")
    archive = Archive(tmp_path)
    archive.open()
    archive.close()
    assert f"{unreadable} is not completed: " in caplog.text
    assert "allow reading and writing it" in caplog.text
    assert (tmp_path / "1.warc.gz").is_file(), "others are completed"


def test_file_without_index_is_completed_by_the_next_archive(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.open()
    for number in range(30):
        archive.write(exchange(number))
    with file_size_limit(1_000), pytest.raises(StorageError):
        archive.close()
    assert not files(tmp_path)
    Archive(tmp_path).open()
    assert len(list(exchanges(files(tmp_path)[0]))) == 30


def indexed(folder: Path) -> dict[str, bytes]:
    """Return the bodies that the indexes refer to, by URL."""
    found = {}
    for index in folder.glob("*.cdxj"):
        lines = index.read_text("utf-8").splitlines()
        assert lines == sorted(lines)
        for line in lines:
            entry = json.loads(line.split(" ", 2)[2])
            with (folder / entry["filename"]).open("rb") as file:
                file.seek(int(entry["offset"]))
                record = next(iter(ArchiveIterator(file)))
                assert record.rec_headers.get_header("WARC-Target-URI") == entry["url"]
                found[entry["url"]] = record.content_stream().read()
    return found


def test_forgotten_pages_are_removed_and_not_archived_again(tmp_path: Path) -> None:
    archive = Archive(tmp_path, size=3000)
    archive.open()
    for number in range(12):
        archive.write(exchange(number))
    other = exchange(3)._replace(url="http://news.b.test/", body=b"<p>b</p>")
    archive.write(other)
    archive.write(exchange(20, exchange(3).body))  # the same body: a revisit of a forgotten page
    archive.close()
    remaining = {exchange(n).url for n in range(12)} - {exchange(3).url}
    assert len(files(tmp_path)) > 2
    done = forget(tmp_path, [exchange(3).url + "&utm_source=x#top", "site:b.test"])
    assert (done.records, done.open) == (6, 0)
    assert {one.url for file in files(tmp_path) for one in exchanges(file)} == remaining
    assert set(indexed(tmp_path)) == remaining
    assert valid(tmp_path)
    assert forget(tmp_path, [exchange(3).url]).records == 0
    again = Archive(tmp_path)
    again.open()
    assert not again.write(exchange(3))
    assert again.write(exchange(30, exchange(3).body))
    again.close()
    assert indexed(tmp_path)[exchange(30).url] == exchange(3).body


def test_forgotten_page_is_removed_from_an_open_file_at_close(
    tmp_path: Path,
) -> None:
    archive = Archive(tmp_path)
    archive.open()
    archive.write(exchange(1))
    archive.write(exchange(2))
    assert forget(tmp_path, [exchange(1).url]).open == 1
    assert not archive.write(exchange(1))
    archive.close()
    assert set(indexed(tmp_path)) == {exchange(2).url}
    forget(tmp_path, ["site:a.test"])
    assert not files(tmp_path)
    assert not list(tmp_path.glob("*.cdxj"))


def test_forgotten_record_without_identifier_takes_no_other_with_it(tmp_path: Path) -> None:
    with (tmp_path / "other.warc.gz").open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for number in range(3):
            record = writer.create_warc_record(
                exchange(number).url, "metadata", io.BytesIO(b"a"), 1
            )
            record.rec_headers.remove_header("WARC-Record-ID")
            writer.write_record(record)
    assert forget(tmp_path, [exchange(0).url]).records == 1


def test_missing_index_is_written_by_the_next_archive(tmp_path: Path) -> None:
    archive = Archive(tmp_path)
    archive.open()
    archive.write(exchange(1))
    archive.close()
    (index,) = tmp_path.glob("*.cdxj")
    text = index.read_bytes()
    index.unlink()
    Archive(tmp_path).open()
    assert index.read_bytes() == text


def test_record_with_an_invalid_url_is_not_indexed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    urls = ["http://a.test:99999/", "http://[::1/", "http://b.test/1", "http://c.test/1"]
    with (tmp_path / "other.warc.gz").open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for url in urls:
            http = StatusAndHeaders("200 OK", [], protocol="HTTP/1.1")
            writer.write_record(
                writer.create_warc_record(url, "response", io.BytesIO(b"a"), 1, http_headers=http)
            )
    Archive(tmp_path).open()
    lines = (tmp_path / "other.cdxj").read_text().splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["test,b)/1", "test,c)/1"]
    assert caplog.text.count("is not indexed") == 2
    assert forget(tmp_path, ["site:b.test"]).records == 1


def test_former_keys_of_an_index_are_renewed(tmp_path: Path) -> None:
    urls = ["http://a.test/1/", "http://a.test/1", "http://a.test/x//y", "http://b.test/?a=1"]
    archive = Archive(tmp_path)
    archive.open()
    for url in urls:
        archive.write(exchange(0)._replace(url=url))
    archive.close()
    (index,) = tmp_path.glob("*.cdxj")
    text, former = index.read_text(), []
    for line in text.splitlines():
        _, at, entry = line.split(" ", 2)
        path = json.loads(entry)["url"].removeprefix("http://")[len("a.test") :]
        former.append(f"test,a){path} {at} {json.dumps(json.loads(entry))}\n")
    for damage in ("", "\n", "test,a)/1 2026", "test,a)/1 2026 {}\n"):
        index.write_text("".join(sorted(former)) + damage)
        Archive(tmp_path).open()
        assert index.read_text() == text
    before = index.stat().st_mtime_ns
    Archive(tmp_path).open()
    assert index.stat().st_mtime_ns == before


@pytest.mark.parametrize("tail", [b"", b"\0" * 200, bytes(range(256))])
def test_complete_records_of_a_torn_file_are_kept(tmp_path: Path, tail: bytes) -> None:
    file = file_of_three(tmp_path)
    data = file.read_bytes()
    with file.open("rb") as opened:
        ends = [0, *(end for _, _, end in warc.parts(opened))]
    assert ends[-1] == len(data)
    torn = tmp_path / "torn"
    for cut in range(0, len(data), 7):
        left = data[:cut] + tail
        torn.write_bytes(left)
        with torn.open("rb") as opened:  # zeros may equal the original bytes
            assert warc.intact_end(opened) == max(end for end in ends if left[:end] == data[:end])


def test_latest_page_of_each_url_is_read_in_file_order(tmp_path: Path) -> None:
    paths = []
    for name, numbers in (("a", (0, 1, 2)), ("b", (1, 3))):
        archive = Archive(tmp_path / name)
        archive.open()
        for number in numbers:
            later = exchange(number, f"{name}{number}".encode())
            archive.write(later._replace(at=later.at + 100 * (name == "b")))
        archive.close()
        paths += files(tmp_path / name)
    for given in (paths, paths[::-1]):
        pages = LatestPages(given)
        assert [page.body for page in map(pages.get, pages.of(paths[0])) if page] == [b"a0", b"a2"]
        assert [page.body for page in map(pages.get, pages.of(paths[1])) if page] == [b"b1", b"b3"]
        assert pages.by_file == {paths[0]: 2, paths[1]: 2}
        assert pages.get(exchange(9).url) is None
    pages = LatestPages(paths)
    paths[0].write_bytes(b"")
    with pytest.raises(ConfigurationError, match="cannot be read as WARC"):
        pages.get(exchange(0).url)


def file_of_another_program(path: Path) -> None:
    """Write records as browsers and other crawlers archive them: br, zstd, odd dates and states."""
    text = b"<p>text</p>" * 9
    rows = [
        ("br", brotli.compress(text), "200 OK", {}),
        ("zstd", zstd.compress(text), "200 OK", {}),
        ("decoded", text, "200 OK", {}),
        ("date", text, "200 OK", {"WARC-Date": "2026-01"}),
        ("status", text, "none", {}),
        ("http://[::1/", text, "200 OK", {}),
        ("last", text, "200 OK", {}),
    ]
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True, warc_version="1.1")
        for name, body, status, headers in rows:
            encoding = {"zstd": "zstd", "last": "gzip"}.get(name, "br")
            head = StatusAndHeaders(status, [("Content-Encoding", encoding)], protocol="HTTP/1.1")
            record = writer.create_warc_record(
                f"http://a.test/{name}" if name.isalpha() else name,
                "response", io.BytesIO(body), len(body),
                http_headers=head, warc_headers_dict=headers,
            )  # fmt: skip
            writer.write_record(record)


def test_records_of_other_programs_are_decoded_or_skipped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "other.warc.gz"
    file_of_another_program(path)
    urls = [f"http://a.test/{name}" for name in ("br", "zstd", "decoded", "last")]
    assert [(one.url, one.body) for one in exchanges(path)] == [
        (url, b"<p>text</p>" * 9) for url in urls
    ]
    assert list(LatestPages([path]).of(path)) == urls
    assert "http://a.test/date: record skipped: date '2026-01', status '200'" in caplog.text
    assert "http://a.test/status: record skipped" in caplog.text
    assert "http://[::1/: record skipped" in caplog.text


def test_pages_after_a_record_of_another_encoding_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "other.warc.gz"
    file_of_another_program(path)
    assert forget(tmp_path, ["http://a.test/last"]).records == 1
    with path.open("rb") as file:
        found = [one.rec_headers.get_header("WARC-Target-URI") for one in ArchiveIterator(file)]
    assert (len(found), "http://a.test/last" in found) == (6, False)
