"""Property tests of all parsers: any input is parsed or raises a documented error.

An example is a valid sample with errors: pieces deleted, doubled, moved or replaced by difficult
input. ``make fuzz`` draws other examples; input that broke a parser is added to ``FOUND``.
"""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.utils.test import get_crawler
from selectolax.lexbor import LexborHTMLParser

from tests.warcs import exchanges
from topiccrawl.addons.backup.archive import backup, restore
from topiccrawl.addons.queue_admin.export import entries
from topiccrawl.addons.records.templates.structured import subjects
from topiccrawl.addons.records.templates.template import read as read_template
from topiccrawl.addons.redis.messages import parse_message
from topiccrawl.addons.simulate.collection import RecordedWeb
from topiccrawl.addons.tasks.http import spec_in
from topiccrawl.addons.tasks.records import Shard, Task
from topiccrawl.addons.url_patterns.pattern import Pattern
from topiccrawl.addons.warc.warc import parts
from topiccrawl.addons.watch.feeds import find_feeds, is_sitemap_index
from topiccrawl.discovery.contract import Fetched
from topiccrawl.discovery.custom import read_engine
from topiccrawl.discovery.engines import Baidu, Bing, DuckDuckGo, SearXNG
from topiccrawl.discovery.listings import CommonCrawl, Feed, Sitemaps, read_list
from topiccrawl.errors import ConfigurationError, StateError, StorageError
from topiccrawl.extract.dates import published, relative_dates
from topiccrawl.extract.extract import Conditions
from topiccrawl.extract.metadata import read_metadata
from topiccrawl.extract.pagination import parse_page_url
from topiccrawl.extract.reading import RawPage, StandardReader, extraction_of, pack, read_page_of
from topiccrawl.frontier.contract import Politeness
from topiccrawl.frontier.hosts import HostRegistry
from topiccrawl.frontier.politeness import Robots
from topiccrawl.frontier.store import Store
from topiccrawl.links.addresses import is_private
from topiccrawl.links.feeds import read_feed
from topiccrawl.links.reading import directives
from topiccrawl.links.sitemaps import decompressed, read_sitemap
from topiccrawl.links.skeletons import group
from topiccrawl.links.urls import canonical, host_of, origin_of, site_of, words
from topiccrawl.middlewares.cookies import OfflineCookiesMiddleware
from topiccrawl.middlewares.metarefresh import HeadRefreshMiddleware
from topiccrawl.model import Mark
from topiccrawl.scheduler.downloads import retry_after
from topiccrawl.storage.ledger import parse_order, parse_speed
from topiccrawl.storage.runs import EMPTY, report_of
from topiccrawl.storage.selection import day, site_in, words_in
from topiccrawl.text.decode import decode
from topiccrawl.text.query import read_query
from topiccrawl.topics.topic import from_words
from topiccrawl.topics.topic import read as read_topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

URL = "http://a.test/2026/01/02/a_2.html?x=1&page=3"
NOW = 1_790_000_000.0
_TEXTS = (
    "",
    "\0",
    "\ufeff",
    "\ud800",
    "\u202e",
    "９",
    "²",
    "٣",
    "新能源",
    "\r\n",
    "\t",
    " " * 99,
    "%00",
    "%ff",
    "\\",
    "<",
    ">",
    "</",
    "<!--",
    "]]>",
    "<![CDATA[",
    "&#0;",
    "&#xffffffffff;",
    f"&#{'9' * 5000};",
    "&a;",
    "'",
    '"',
    "{",
    "}",
    "[",
    "]",
    "[" * 2000,
    "(" * 200,
    ":",
    ",",
    "=",
    "*",
    "$",
    "-",
    "+",
    "..",
    "//",
    "/../",
    "@",
    "#",
    "?",
    "null",
    "true",
    "NaN",
    "Infinity",
    "1e999",
    "-1",
    "0",
    "9" * 30,
    "9" * 5000,
    "0x7f.1",
    "99999-99-99",
    "0000-00-00",
    "http://",
    "javascript:",
    "file:///etc/passwd",
    "http://[::1",
    "http://127.0.0.1/",
    "charset=punycode",
    "zlib",
)
PIECES = (
    *(one.encode("utf-8", "surrogatepass") for one in _TEXTS),
    b"\xff",
    b"\xc3\x28",
    b"\x80",
    b"\xff\xfe",
    b"\x1f\x8b\x08",
    b"\xdd\xff\xff\xff\xff",
    b"\xc1",
)


@st.composite
def corrupted(draw: st.DrawFn, samples: tuple[bytes, ...]) -> bytes:
    """A sample with up to four errors."""
    data = draw(st.sampled_from(samples))
    for _ in range(draw(st.integers(0, 4))):
        begin, size = draw(st.integers(0, len(data))), draw(st.integers(0, 30))
        end, piece = min(begin + size, len(data)), draw(st.sampled_from(PIECES))
        how = draw(st.sampled_from(("put", "replace", "double", "cut", "move")))
        if how == "put":
            data = data[:begin] + piece + data[begin:]
        elif how == "replace":
            data = data[:begin] + piece + data[end:]
        elif how == "double":
            data = data[:end] + data[begin:end] * draw(st.integers(1, 50)) + data[end:]
        elif how == "cut":
            data = data[:begin]
        else:
            data = data[:begin] + data[end:] + data[begin:end]
    return data


class Parser(NamedTuple):
    """A parser, valid input, and its documented errors."""

    name: str
    parse: Callable[[bytes], object]
    samples: tuple[str | bytes, ...]
    errors: tuple[type[Exception], ...] = ()


def texts(*functions: Callable[[str], object]) -> Callable[[bytes], object]:
    """Call functions with the decoded bytes."""
    return lambda data: [each(data.decode("utf-8", "surrogateescape")) for each in functions]


def listed(function: Callable[..., Iterator[object]], *more: Any) -> Callable[[str], object]:
    return lambda text: list(function(text, *more))


def filed(function: Callable[[Path], object], name: str) -> Callable[[bytes], object]:
    """Call a function with a file that contains the bytes."""

    def parse(data: bytes) -> object:
        with TemporaryDirectory(prefix="topiccrawl-fuzz-") as folder:
            path = Path(folder, name)
            path.write_bytes(data)
            return function(path)

    return parse


def page(data: bytes) -> object:
    """Read a page, its article and the fields of templates; pack and unpack the page."""
    reader, raw = (
        StandardReader(),
        RawPage(data, URL, content_type="text/html", robots_tags=("noarchive",)),
    )
    found = reader.read(raw)
    assert found == read_page_of(pack(found)[4:])
    tree = LexborHTMLParser(decode(data).text)
    return (
        reader.extract(raw, Conditions(fetched_at=NOW)),
        read_metadata(tree),
        subjects(tree),
        subjects(LexborHTMLParser(f'<script type="application/ld+json">{decode(data).text}')),
    )


def robots(data: bytes) -> object:
    with TemporaryDirectory(prefix="topiccrawl-fuzz-") as folder:
        store = Store(folder)
        try:
            origin, rules = HostRegistry(store).origin(URL), Robots(store, Politeness())
            assert origin is not None
            rules.store(origin, data, NOW, available=True)
            return rules.allowed(origin, URL)
        finally:
            store.close()


def headers(data: bytes) -> object:
    """Read the headers of a response as the middlewares and rules do."""
    lines = dict.fromkeys(("Set-Cookie", "Retry-After", "Content-Type", "X-Robots-Tag"), data)
    request = Request(URL)
    answer = HtmlResponse(
        URL, body=b'<meta http-equiv="refresh" content="0; url=' + data, headers=lines
    )
    cookies = OfflineCookiesMiddleware.from_crawler(get_crawler())
    cookies.process_response(request, answer)
    cookies.process_request(Request(URL))
    refresh = HeadRefreshMiddleware.from_crawler(get_crawler())
    refresh.process_response(request, answer)
    return retry_after(Response(URL, headers=lines), NOW), directives([], [data.decode("latin-1")])


def search(data: bytes) -> object:
    fetched = Fetched(URL, data, content_type="text/html")
    site = "https://a.test"
    engines = (
        Baidu(),
        Bing(),
        DuckDuckGo(),
        SearXNG(site),
        Feed(site),
        Sitemaps(site),
        CommonCrawl("*.a.test"),
    )
    return [engine.read(fetched) for engine in engines]


def ordered(data: bytes) -> object:
    body = json.loads(data)
    return spec_in(body) if isinstance(body, dict) else parse_speed(body)


def archived(data: bytes) -> object:
    return list(parts(io.BytesIO(data))), filed(lambda path: [*exchanges(path)], "a.warc")(data)


def exported(data: bytes) -> object:
    file = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace")
    return list(entries("a", file))


def collected(data: bytes) -> object:
    web = filed(RecordedWeb.read, "a.web.jsonl")(data)
    return [web.page(key) for key in web.pages]  # type: ignore[attr-defined]


def restored(data: bytes) -> object:
    with TemporaryDirectory(prefix="topiccrawl-fuzz-") as folder:
        file, place = Path(folder, "a.tar"), Path(folder, "data")
        file.write_bytes(data)
        try:
            return restore(file, place)
        finally:
            assert {one.name for one in Path(folder).iterdir()} <= {"a.tar", "data"}


ROOT = Path(__file__).parents[2] / "topiccrawl"
with TemporaryDirectory(prefix="topiccrawl-fuzz-") as _folder:
    Path(_folder, "data").mkdir()
    Path(_folder, "data", "runs").write_text("x")
    backup(Path(_folder, "data"), Path(_folder, "a.tar"), "")
    BACKUP = Path(_folder, "a.tar").read_bytes()
HTML = """<!doctype html><html lang=zh><head><meta charset=utf-8>
<title>新能源汽车要闻_新闻网</title>
<meta property="article:published_time" content="2026-01-02T10:00:00+08:00">
<meta name=robots content=noarchive>
<base href="/x/"><link rel=canonical href="/a">
<script type="application/ld+json">{"@context":"https://schema.org",
"@graph":[{"@type":"NewsArticle","headline":"新能源汽车","datePublished":"2026-01-02",
"author":[{"name":"张三"}],
"publisher":{"@type":"Organization","name":"社",
"address":{"streetAddress":"路1号"},"telephone":"010-1"}}]}</script>
<body><h1>新能源汽车要闻</h1><p>2026年01月02日 10:23 来源：新华社 作者：李四
<p>动力电池今天有了新进展，充电桩建设加快。
<div itemscope itemtype="http://schema.org/Organization"><b itemprop=name>社</b></div>
<div class=vcard><i class=fn>a</i></div>
<p>电动汽车销量继续增长，记者在现场了解到更多情况。<img src=a.jpg>
<a href="b.html">动力电池</a><a href=a_3.html>下一页</a>
<table><tr><td>1</table><iframe src=x></iframe><form><select><option>1</select></form></html>"""
RSS = """<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "b">]><rss xmlns:m="x">
<channel><item><title>新&a;</title>
<link>http://a.test/1</link><pubDate>Fri, 02 Jan 2026 10:00:00 +0800</pubDate>
</item></channel></rss>"""
ATOM = """<feed xml:base="/x"><link rel="next" href="?2"/>
<entry><title>a</title><link href="1"/></entry></feed>"""
MAP = """<urlset xmlns:news="n"><url><loc>http://a.test/1</loc><lastmod>2026-01-02</lastmod>
<news:news><news:title>新</news:title><news:publication_date>2026-01-02</news:publication_date></news:news>
</url></urlset>"""
INDEX = """<sitemapindex><sitemap><loc>http://a.test/news.xml</loc>
<lastmod>2026-01-02</lastmod></sitemap></sitemapindex>"""
EXPORT = "\n".join(
    json.dumps(row)
    for row in (
        {"kind": "frontier", "strategy": "bfs", "fields": ["depth"], "owner": "新"},
        {
            "kind": "host",
            "name": "a.test",
            "units": [["http://a.test", []]],
            "groups": [["g", 1, 0.5]],
        },
        {
            "kind": "url",
            "url": "http://a.test/",
            "queue": "prior",
            "arrival": 1,
            "evidence": [0.5],
            "payload": json.dumps(
                {"url": "http://a.test/", "method": "GET", "headers": [], "body": "", "meta": {}}
            ),
        },
    )
)
WARC = (
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2026-01-02T00:00:00Z\r\n"
    b"WARC-Record-ID: <urn:uuid:1>\r\n"
    b"WARC-Target-URI: http://a.test/\r\nContent-Type: application/http; msgtype=response\r\n"
    b"Content-Length: 44\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nx\r\n\r\n\r\n"
)
MARK = Mark("http://a.test/1", "题", "文", wanted=True).to_json()
TASK = Task("topic", {"topic": "足球"}, ("a.cn",), id="1").text()
SHARD = '{"task": "1", "site": "a.cn", "seeds": ["http://a.cn/"], "hosts": ["a.cn"]}'
READ = pack(StandardReader().read(RawPage(HTML.encode(), URL)))[4:]
EXTRACTED = StandardReader().extract(RawPage(HTML.encode(), URL), Conditions())
ARTICLE = pack(tuple(EXTRACTED._replace(extracted=None)))[4:]
LETTER = msgpack.packb([0, b"k" * 12, 1, [("http://a.cn/", 0, (0.5,), "锚", "")]])
SEARXNG = json.dumps(
    {"results": [{"url": "http://a.test/1", "title": "新"}], "unresponsive_engines": [["a", "b"]]}
)
BAIDU = """<div class="result c-container" mu="http://a.test/1"><h3>
<a href="http://www.baidu.com/link?url=x">新</a></h3></div>"""
CDX = (
    '{"url": "http://a.test/1", "status": "200", "mime": "text/html"}\n{"pages": 3, "pageSize": 5}'
)
PATTERN = {"host": "a.test", "expression": "^/a", "label": "news", "articles": 3}

ROBOTS = "User-agent: *\nDisallow: /a*b$\nAllow: /\nCrawl-delay: 1\nSitemap: /x\n"
ENGINE = 'url = "https://a.test/?q={query}&p={page}"\nresults = "a"\ncontainer = "div > p"\n'
RECORDED = '{"url": "http://a.test/", "body": "新", "headers": {"a": "b"}, "categories": ["x"]}'
URLS = (
    "http://a.test/2026/1/2/a_2.html?x=1&page=3#f",
    "https://例子.test:8080/路/x;j=1?q=新",
    "http://[::1]:80/",
    "//a.test/..",
)
DATES = (
    "2026-01-02T10:00:00+08:00",
    "2026年1月2日 10:23",
    "Fri, 02 Jan 2026 10:00:00 GMT",
    "5分钟前",
    "昨天 12:30",
    "January 2, 2026",
    "۲۰۲۶/۰۱/۰۲",
    "2 janvier 2026",
    "11月21日 08:00",
    "99999天前",
)
QUERIES = ('(人工智能 | AI) +医疗 -招聘 "deep learning"^2', "新能源 汽车", "electric vehicles")

PARSERS = (
    Parser(
        "topic",
        filed(read_topic, "a.toml"),
        tuple(one.read_bytes() for one in sorted(ROOT.glob("topics/*.toml"))[:3]),
        (ConfigurationError,),
    ),
    Parser(
        "template",
        filed(read_template, "a.toml"),
        tuple(one.read_bytes() for one in ROOT.glob("addons/records/templates/*.toml")),
        (ConfigurationError,),
    ),
    Parser("query", texts(read_query, from_words, words_in), QUERIES, (ConfigurationError,)),
    Parser(
        "url", texts(canonical, lambda url: canonical(url, URL), is_private, parse_page_url), URLS
    ),
    Parser(
        "url-parts",
        lambda data: [
            (host_of(url), origin_of(url), site_of(url), words(url), group(url))
            for url in [canonical(data.decode("utf-8", "replace"))]
            if url
        ],
        URLS,
    ),
    Parser(
        "date",
        texts(
            lambda text: published([text], [text], URL, "zh", NOW),
            lambda text: published([], [text], URL, "fr"),
            listed(relative_dates, NOW),
        ),
        DATES,
    ),
    Parser("page", page, (HTML, RSS)),
    Parser(
        "encoding",
        lambda data: decode(data, data[:60].decode("latin-1")),
        (HTML, HTML.encode("gbk"), HTML.encode("utf-16")),
    ),
    Parser(
        "feed",
        lambda data: (
            read_feed(data, URL),
            find_feeds(data, URL),
            is_sitemap_index(data),
            read_sitemap(data),
        ),
        (RSS, ATOM, MAP, INDEX),
    ),
    Parser("packed", decompressed, (gzip.compress(MAP.encode()), MAP)),
    Parser("robots", robots, (ROBOTS,)),
    Parser(
        "headers",
        headers,
        (
            "a=b; Domain=a.test; Path=/; Max-Age=9; Expires=Fri, 02 Jan 2026 10:00:00 GMT",
            "120",
            "Fri, 02 Jan 2026 10:00:00 GMT",
            "text/html; charset=gbk",
            "noindex, unavailable_after: x",
        ),
    ),
    Parser("search", search, (SEARXNG, BAIDU, CDX, RSS, MAP, INDEX)),
    Parser(
        "list",
        filed(read_list, "a"),
        ("http://a.test/ 题\n# x\nhttp://b.test/",),
        (ConfigurationError,),
    ),
    Parser("engine", filed(read_engine, "a.toml"), (ENGINE,), (ConfigurationError,)),
    Parser("letter", parse_message, (LETTER,), (ValueError,)),
    Parser("read", read_page_of, (READ,), (ValueError, TypeError)),
    Parser("article", extraction_of, (ARTICLE,), (ValueError, TypeError)),
    Parser("export", exported, (EXPORT,), (StateError,)),
    Parser(
        "order",
        ordered,
        ('{"arguments": {"topic": "足球"}, "sites": ["a.cn"], "pages": 3}', "0.5", '"2"'),
        (ValueError, RecursionError, ConfigurationError),
    ),
    Parser("mark", texts(TypeAdapter(Mark).validate_json), (MARK,), (ValueError,)),
    Parser("task", texts(Task.read), (TASK,), (ValueError, TypeError, RecursionError)),
    Parser("shard", texts(Shard.read), (SHARD,), (ValueError, TypeError, RecursionError)),
    Parser(
        "control",
        texts(parse_order),
        ('{"paused": true, "speed": 2.0}',),
        (ValueError, TypeError, RecursionError),
    ),
    Parser("run", lambda data: report_of(data, "a", 1.0), (json.dumps(EMPTY),)),
    Parser(
        "pattern",
        lambda data: Pattern.from_json(json.loads(data)),
        (json.dumps(PATTERN),),
        (ValueError, TypeError, RecursionError, ConfigurationError),
    ),
    Parser("day", texts(lambda text: day(text, "a")), ("2026-01-02",), (ConfigurationError,)),
    Parser("site", texts(site_in), ("a.test", "news.a.test"), (ConfigurationError,)),
    Parser("warc", archived, (WARC, gzip.compress(WARC)), (ConfigurationError,)),
    Parser("collection", collected, (RECORDED,), (ConfigurationError,)),
    Parser("backup", restored, (BACKUP,), (ConfigurationError, StateError, StorageError)),
)
FOUND = (
    ("search", "<urlset><url><loc>http://a.test/1</loc><a:b:c/></url></urlset>"),
    ("search", "<rss><channel><a:b:c/></channel></rss>"),
    ("query", "發展".encode() + b"\xff"),
)
"""Input that once broke a parser."""
BY_NAME = {one.name: one for one in PARSERS}


def check(parser: Parser, data: bytes) -> None:
    try:
        parser.parse(data)
    except parser.errors:
        return


def as_bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


@pytest.mark.parametrize("parser", PARSERS, ids=lambda one: one.name)
@given(data=st.data())
def test_a_parser_takes_any_input(parser: Parser, data: st.DataObject) -> None:
    check(parser, data.draw(corrupted(tuple(map(as_bytes, parser.samples)))))


@pytest.mark.parametrize("parser", PARSERS, ids=lambda one: one.name)
def test_a_parser_takes_its_samples(parser: Parser) -> None:
    for sample in parser.samples:
        parser.parse(as_bytes(sample))


@pytest.mark.parametrize(("name", "data"), FOUND)
def test_parser_accepts_input_that_once_broke_it(name: str, data: str | bytes) -> None:
    check(BY_NAME[name], as_bytes(data))
