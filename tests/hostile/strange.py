"""Further hostile cases, by an author who knew the first ones."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import TYPE_CHECKING

from tests.crawl.web import article
from tests.hostile.acts import (
    ANY,
    CHUNKED,
    CRAWLED,
    FEED,
    GONE,
    HEAD,
    LATER,
    OK,
    SITEMAP,
    STORY,
    TEXT,
    bomb,
    endless,
    linked,
    moved,
    page,
    raw,
    ruled,
    zeros,
)
from tests.hostile.web import HTML, Case

if TYPE_CHECKING:
    from tests.hostile.web import Client

CLAIMED = "冒名顶替"
"""Text of a page that claims to be that of another site."""
GOOD_STORY = "http://good.test/1"


def hinted(client: Client) -> None:
    """Interim responses, then a valid page."""
    client.send(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 3)
    client.answer(STORY)


def twice(client: Client) -> None:
    """A page, and a response without a request."""
    client.answer(STORY)
    client.answer(article("假冒", "假冒的第二个回答" * 20))


def grows(client: Client) -> None:
    """A page that moves by meta refresh to itself with a longer query, without end."""
    client.answer(f'<meta http-equiv="refresh" content="0; url={client.path}?a">{STORY}')


def ld(value: object, *, text: str = "") -> str:
    return f'<script type="application/ld+json">{text or json.dumps(value)}</script>'


def entity(digits: int) -> str:
    return "&#" + "9" * digits + ";"


def cut_tls(client: Client) -> None:
    client.send(b"HTTP/1.1 200 Connection established\r\n\r\n\x16\x03\x03\x00\x7a\x02\x00")


def silent_tls(client: Client) -> None:
    client.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
    client.silence()


def session(client: Client) -> None:
    """A new session in each path, so that no link repeats."""
    links = [f"http://{client.host}/S{client.total}x{n}/list" for n in range(5)]
    client.answer(article("新能源汽车频道", TEXT, *links))


def not_found(client: Client) -> None:
    """Every URL exists, and its page reports that it does not."""
    links = [f"http://{client.host}{client.path.rstrip('/')}/{n}" for n in range(3)]
    client.answer(article("新能源汽车", "您访问的新能源汽车页面不存在或已删除。", *links))


def sitemaps(client: Client) -> None:
    """An index of new news sitemaps, each of which is such an index again."""
    urls = (f"http://{client.host}/news-{client.total}-{n}.xml" for n in range(50))
    listed = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    client.answer(f"<sitemapindex>{listed}</sitemapindex>", SITEMAP)


def jar(client: Client) -> None:
    """Each page sets 200 more cookies of 1 kB."""
    values = [f"Set-Cookie: c{client.total}-{n}={'x' * 1000}; Path=/" for n in range(200)]
    links = [f"http://{client.host}/{client.total}{n}" for n in range(3)]
    client.answer(article("新能源汽车", TEXT + client.path, *links), *values)


WRONG = {
    "@context": "https://schema.org",
    "@type": "NewsArticle",
    "headline": {"a": [1]},
    "author": [[[{}]]],
    "datePublished": {"@value": 1e308},
    "articleBody": 7,
    "image": {"url": [None]},
    "publisher": [None, 1, {"name": {}}],
    "inLanguage": [1],
    "keywords": {"a": 1},
    "mainEntityOfPage": {"@id": [GOOD_STORY]},
    "isPartOf": 3,
    "wordCount": "1e400",
}
CYCLE = {
    "@graph": [
        {"@id": "#a", "@type": "NewsArticle", "author": {"@id": "#b"}},
        {"@id": "#b", "author": {"@id": "#a"}},
    ]
}
CLAIMS = (
    f'<link rel="canonical" href="{GOOD_STORY}"><meta property="og:url" content="{GOOD_STORY}">'
    + ld({"@type": "NewsArticle", "url": GOOD_STORY, "mainEntityOfPage": GOOD_STORY})
    + article("假冒的新能源汽车要闻", TEXT.replace("今天", CLAIMED), GOOD_STORY)
)
QUADRATIC = (
    '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "' + "新" * 30_000 + '">]><rss><channel><item>'
    "<title>"
    + "&a;" * 9000
    + "</title><link>http://feed-quadratic.test/1</link></item></channel></rss>"
)
ENTRY = b"<url><loc>http://sitemap-bomb.test/%d</loc><news><title>x</title></news></url>"
PDF = (
    b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[2 0 R 3 0 R]"
    b"/Count 999999999>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R>>endobj 4 0 obj<<"
    b"/Filter/FlateDecode/Length %d>>stream\n%s\nendstream endobj trailer<</Root 1 0 R>>"
)


def large_map() -> bytes:
    return b"<urlset>" + b"".join(ENTRY % n for n in range(1_200_000))


def endless_pdf() -> bytes:
    body = zlib.compress(zeros())
    return PDF % (len(body), body)


STRANGE = (
    Case(
        "trailers",
        "chunk trailers without end",
        endless(CHUNKED + b"1\r\nx\r\n0\r\n", b"X-A: a\r\n" * 999),
        ANY,
    ),
    Case("hints", "three interim answers, then a page", hinted, CRAWLED),
    Case(
        "switches",
        "101 and another protocol",
        raw(b"HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\njunk"),
        GONE,
    ),
    Case(
        "lines",
        "a head without carriage returns",
        raw(b"HTTP/1.1 200 OK\nContent-Type: text/html\n\n" + STORY.encode()),
        ANY,
    ),
    Case("headers", "20,000 small headers", page(STORY, *(f"X{n}: a" for n in range(20_000))), ANY),
    Case("length-list", "a list of lengths", raw(OK + b"Content-Length: 5, 5\r\n\r\nhello"), ANY),
    Case("length-plus", "a length with a sign", raw(OK + b"Content-Length: +5\r\n\r\nhello"), ANY),
    Case(
        "length-odd",
        "a length in other digits",
        raw(OK + "Content-Length: ٥\r\n\r\nhello".encode()),
        ANY,
    ),
    Case("answers", "an answer that was not asked for", twice, CRAWLED),
    Case("tls-cut", "TLS that ends in the handshake", cut_tls, GONE, scheme="https"),
    Case(
        "tls-none",
        "no TLS",
        raw(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 400 No\r\n\r\n"),
        GONE,
        scheme="https",
    ),
    Case(
        "tls-silent",
        "TLS that never answers",
        silent_tls,
        GONE,
        scheme="https",
    ),
    Case(
        "gzip-chain",
        "gzip in deflate in gzip",
        bomb(
            lambda: gzip.compress(zlib.compress(gzip.compress(zeros()))),
            "Content-Encoding: gzip, deflate, gzip",
            HTML,
        ),
        GONE,
    ),
    Case("refreshes-on", "a page that refreshes with a growing query", grows, ANY, 25),
    Case(
        "refreshes-inside",
        "a page that refreshes to a private address",
        page('<meta http-equiv="refresh" content="0; url=http://10.0.0.1/">' + STORY),
        ANY,
    ),
    Case(
        "refreshes-script",
        "a page that refreshes to a script",
        page('<meta http-equiv="refresh" content="0; url=javascript:alert(1)">' + STORY),
        CRAWLED,
    ),
    Case(
        "moves-user",
        "a redirect with a password",
        moved("http://a:b@10.0.0.1/"),
        ("error private-address",),
    ),
    Case(
        "moves-fragment",
        "a redirect to itself by fragments",
        lambda c: moved(f"/#{c.number}")(c),
        GONE,
    ),
    Case(
        "moves-query",
        "a redirect to itself with a growing query",
        lambda c: moved(f"{c.path}?a")(c),
        ("crawled redirected", "error"),
        25,
    ),
    Case(
        "moves-many",
        "a redirect with 1,000 places",
        page("", *[f"Location: /{n}" for n in range(999)], status="302 Found"),
        ("crawled redirected", "error"),
        25,
    ),
    Case(
        "retry-negative",
        "429 with Retry-After below 0",
        page("", "Retry-After: -5", status="429 Slow"),
        LATER,
    ),
    Case(
        "retry-date",
        "503 with Retry-After in the year 9999",
        page("", "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT", status="503 Busy"),
        LATER,
    ),
    Case(
        "retry-overflow",
        "503 with Retry-After in the year 0",
        page("", "Retry-After: Mon, 00 Jan 0000 00:00:00 -9999", status="503 Busy"),
        LATER,
    ),
    Case(
        "charset-codec",
        "a charset that is a codec of Python",
        page(STORY, "Content-Type: text/html; charset=zlib"),
        CRAWLED,
    ),
    Case(
        "charset-slow",
        "1 MB of a charset of quadratic cost",
        page(
            b"x" * 200_000 + b"-" + b"ab9a" * 200_000, "Content-Type: text/html; charset=punycode"
        ),
        CRAWLED,
    ),
    Case(
        "charset-idna",
        "a charset of names",
        page(b"xn--" + b"a" * 500_000, "Content-Type: text/html; charset=idna"),
        CRAWLED,
    ),
    Case(
        "bom",
        "a mark of UTF-16 before UTF-8 that says it is GBK",
        page(b"\xff\xfe" + STORY.encode(), "Content-Type: text/html; charset=gbk"),
        ANY,
    ),
    Case(
        "entity-long",
        "a character's number of 100,000 digits",
        page(
            f"<title>{entity(100_000)}</title><meta name=author content='{entity(9000)}'>"
            f"<meta property='og:title' content='&amp;{entity(9000)[1:]}'>"
            + ld({"@type": "NewsArticle", "headline": entity(9000)})
            + STORY
        ),
        CRAWLED,
    ),
    Case("frames", "50,000 frames in each other", page("<iframe srcdoc='" * 50_000 + STORY), ANY),
    Case("templates", "50,000 templates in each other", page("<template>" * 50_000 + STORY), ANY),
    Case("tables", "20,000 tables in each other", page("<table><tr><td>" * 20_000 + STORY), ANY),
    Case(
        "svg",
        "50,000 foreign elements",
        page("<svg><foreignObject><math><mi>" * 12_000 + STORY),
        ANY,
    ),
    Case("json-wrong", "JSON-LD with all types wrong", page(ld(WRONG) + STORY), CRAWLED),
    Case("json-cycle", "JSON-LD that refers to itself", page(ld(CYCLE) + STORY), CRAWLED),
    Case(
        "json-endless",
        "JSON-LD with numbers of no end",
        page(
            ld(
                0,
                text='{"@type":"NewsArticle","datePublished":1e999,"wordCount":-Infinity,"a":NaN}',
            )
            + STORY
        ),
        CRAWLED,
    ),
    Case(
        "json-many",
        "5,000 JSON-LD",
        page(ld({"@type": "NewsArticle", "headline": "a"}) * 5000 + STORY),
        ANY,
    ),
    Case(
        "date-99999",
        "dates of no calendar",
        page(
            "".join(
                f'<meta property="article:published_time" content="{one}">'
                f'<time datetime="{one}">{one}</time>'
                for one in (
                    "99999-12-31",
                    "-271821-04-20",
                    "0000-00-00",
                    "２０２６年１３月４５日",
                    "²⁰²⁶-¹-¹",
                    "2026-02-30T25:61:61+99:99",
                    "1e9",
                    "9" * 5000,
                    "٢٠٢٦-٠١-٠١",
                )
            )
            + STORY
        ),
        CRAWLED,
    ),
    Case(
        "feed-dates",
        "a feed with dates below 0",
        page(
            "<rss><channel>"
            + "".join(
                f"<item><title>新能源汽车</title><link>http://feed-dates.test/{n}</link><pubDate>{date}</pubDate></item>"
                for n, date in enumerate(
                    (
                        "Mon, 01 Jan -001 00:00:00 GMT",
                        "Mon, 01 Jan 99999 00:00:00 +9999",
                        "Mon, 99 Foo 2026 99:99:99 -2400",
                        "1" * 5000,
                        "2026-13-45T99:99:99Z",
                    )
                )
            )
            + "</channel></rss>",
            FEED,
        ),
        ANY,
        6,
    ),
    Case("feed-quadratic", "a feed whose entities are 270 MB", page(QUADRATIC, FEED), ANY, 3),
    Case(
        "feed-base",
        "a feed with a base inside",
        page(
            '<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://10.0.0.1/">'
            '<entry xml:base="//127.0.0.1/">'
            '<title>新能源汽车</title><link href="x"/></entry></feed>',
            "Content-Type: application/atom+xml",
        ),
        ANY,
        3,
    ),
    Case("claims", "a page that says it is another site's", page(CLAIMS), ANY),
    Case(
        "rel-next",
        "a next part at another site",
        page(f'<link rel="next" href="{GOOD_STORY}"><a href="{GOOD_STORY}">下一页</a>{STORY}'),
        ANY,
    ),
    Case(
        "parts",
        "an article of parts without end",
        lambda c: c.answer(
            article("新能源汽车", TEXT + c.path) + f'<a href="/n_{c.total + 1}.html">下一页</a>'
        ),
        ANY,
        70,
    ),
    Case(
        "ports",
        "links to all ports",
        linked(*(f"http://ports.test:{n}/" for n in range(1, 3000))),
        ANY,
        300,
    ),
    Case(
        "dots",
        "a name with and without its dot, in all cases",
        linked(
            "http://dots.test./",
            "http://DOTS.test/",
            "http://dots.test:80/",
            "http://a:b@dots.test/",
            "http://ⓓots.test/",
            "http://do\u00adts.test/",
        ),
        ANY,
    ),
    Case(
        "names-odd",
        "names that are none",
        linked(
            "http://a\xff.test/",
            "http://xn--a-.test/",
            f"http://{'a' * 64}.test/",
            "http://a..test/",
            "http://*.test/",
            "http://a%00.test/",
            f"http://{'a.' * 130}test/",
            "http://xn--/",
        ),
        ANY,
    ),
    Case(
        "inside-odd",
        "links to private addresses in odd spellings",
        linked(
            "http://①②⑦.⓪.⓪.①/",
            "http://127。0。0。1/",
            "http://localhost./",
            "http:\\\\10.0.0.1\\",
            "http:10.0.0.1",
            "http://good.test@10.0.0.1/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::]/",
            "http://0/",
            "http://017700000001/",
            "//%31%30.0.0.1/",
        ),
        ANY,
        2,
    ),
    Case("sessions", "a new session in each path", session, ANY, 600),
    Case("not-found", "pages that are not found, with status 200", not_found, ANY, 600),
    Case("jar", "200 cookies of 1 kB on each page", jar, ANY, 250),
    Case(
        "pdf-bomb",
        "a PDF whose pages have no end, with 100 MB of zeros",
        bomb(endless_pdf, "Content-Type: application/pdf"),
        ANY,
    ),
    Case(
        "type-lies", "a page that says it is a picture", page(STORY, "Content-Type: image/png"), ANY
    ),
    Case(
        "directives",
        "a robots meta of 1 MB",
        page(f'<meta name="robots" content="{"noindex, , " * 90_000}">{STORY}'),
        ANY,
    ),
    Case(
        "etag",
        "an ETag of 100 kB",
        page(STORY, f'ETag: "{"x" * 100_000}"', f"Last-Modified: {'9' * 9999}"),
        ANY,
    ),
    Case(
        "langs",
        "a language of 100 kB",
        page(f'<html lang="{"zh-" * 30_000}">{STORY}', f"Content-Language: {'zh,' * 9999}"),
        ANY,
    ),
    ruled("robots-slow", "a robots.txt of a byte a second", endless(HEAD, b"x", 0.5), *LATER, *ANY),
    ruled("robots-silent", "a robots.txt that never answers", lambda c: c.silence(), *LATER, *ANY),
    ruled(
        "robots-rules",
        "20,000 patterns in a robots.txt",
        page(
            "User-agent: *\n" + "".join(f"Disallow: /a*{n:x}*b$\n" for n in range(23_000)),
            "Content-Type: text/plain",
        ),
        *CRAWLED,
    ),
    ruled(
        "robots-agents",
        "10,000 user agents with 20,000 rules in a robots.txt",
        page(
            "".join(f"User-agent: {n}\n" for n in range(10_000)) + "Disallow: /a\n" * 20_000,
            "Content-Type: text/plain",
        ),
        *CRAWLED,
    ),
    ruled(
        "robots-bomb",
        "a robots.txt of 100 MB in gzip",
        bomb(lambda: gzip.compress(zeros()), "Content-Encoding: gzip"),
        *LATER,
        *ANY,
    ),
    ruled(
        "robots-on",
        "a robots.txt that redirects without end",
        lambda c: moved(f"{c.path}?a")(c),
        *LATER,
        *ANY,
    ),
    Case("sitemaps", "sitemaps of sitemaps without end", sitemaps, ANY, 600),
    Case(
        "sitemap-bomb",
        "a sitemap of 100 MB in gzip",
        bomb(lambda: gzip.compress(large_map()), "Content-Type: application/gzip"),
        ANY,
        20_001,
    ),
)
