"""Hostile cases with their allowed outcomes; docs/threats.md lists them."""

from __future__ import annotations

import gzip
import zlib

from tests.crawl.web import article
from tests.hostile.acts import (
    ANY,
    CHUNKED,
    FEED,
    GONE,
    HEAD,
    LATER,
    OK,
    STORY,
    TEXT,
    bomb,
    counting,
    endless,
    linked,
    moved,
    page,
    raw,
    ruled,
    zeros,
)
from tests.hostile.web import HTML, Case

LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a0 "新能源汽车">'
    + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    + "]><rss><channel><title>&a9;</title><item><link>http://a.test/&a9;</link></item></channel></rss>"
)
EXTERNAL = (
    '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    "<rss><channel><item><title>&x;</title><link>http://xml-external.test/&x;</link></item>"
    "</channel></rss>"
)

CONNECTION = (
    Case("silent", "accepts and never answers", lambda c: c.silence(), ("error download-timeout",)),
    Case("closes", "closes without an answer", raw(b""), GONE),
    Case("resets", "breaks the connection", lambda c: c.reset(), GONE),
    Case("slow-head", "a byte of the head a second", endless(b"", b"H", 0.5), GONE),
    Case("slow-body", "a byte of the body a second", endless(HEAD, b"x", 0.5), ANY),
    Case(
        "endless-headers",
        "headers without end",
        endless(OK, b"X-A: %s\r\n" % (b"a" * 900) * 64),
        ("error headers-too-large",),
    ),
    Case(
        "endless-header", "a header line without end", endless(OK + b"X-A: ", b"a" * 65_536), GONE
    ),
    Case(
        "endless-folds",
        "folded header lines without end",
        endless(OK + b"X-A: a\r\n", b" folded\r\n" * 999),
        ("error headers-too-large",),
    ),
    Case(
        "endless-hints",
        "103 answers without end",
        endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 999),
        ("error headers-too-large",),
    ),
    Case("endless-body", "a body without end or length", endless(HEAD, b"<p>x" * 9999), GONE),
    Case(
        "endless-chunks",
        "chunks without end",
        endless(CHUNKED, b"4\r\n<p>x\r\n" * 999),
        ("error chunks-too-small",),
    ),
    Case(
        "endless-chunk",
        "a chunk of 16 EB",
        endless(CHUNKED + b"F" * 16 + b"\r\n", b"x" * 9999),
        GONE,
    ),
    Case(
        "chunk-junk", "a chunk size that is no number", raw(CHUNKED + b"zz\r\nx\r\n0\r\n\r\n"), ANY
    ),
    Case(
        "chunk-extension",
        "a chunk extension without end",
        endless(CHUNKED + b"4;a=", b"x" * 9999),
        GONE,
    ),
    Case("chunk-cut", "chunks that end in the middle", raw(CHUNKED + b"ff\r\n<p>x"), ANY),
    Case(
        "length-long",
        "a length that is too long",
        raw(OK + b"Content-Length: 99999\r\n\r\n" + STORY.encode()),
        ANY,
    ),
    Case(
        "length-short",
        "a length that is too short",
        raw(OK + b"Content-Length: 9\r\n\r\n" + STORY.encode()),
        ANY,
    ),
    Case("length-negative", "a length below 0", raw(OK + b"Content-Length: -5\r\n\r\nx"), ANY),
    Case(
        "length-huge",
        "a length of 10^30",
        raw(OK + b"Content-Length: 1" + b"0" * 30 + b"\r\n\r\nx"),
        ANY,
    ),
    Case(
        "lengths",
        "two lengths that differ",
        raw(OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx"),
        ANY,
    ),
    Case(
        "length-chunked",
        "a length beside chunks",
        raw(OK + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"),
        ANY,
    ),
    Case("not-http", "another protocol", raw(b"SSH-2.0-OpenSSH_9.6\r\n"), GONE),
    Case("no-head", "a page without a head", raw(STORY.encode()), GONE),
    Case("continue-only", "100 Continue and no more", raw(b"HTTP/1.1 100 Continue\r\n\r\n"), GONE),
    Case("status-999", "an unknown status", page(STORY, status="999 Odd"), GONE),
    Case("status-text", "a status that is no number", page(STORY, status="abc OK"), GONE),
    Case("status-204", "a body where there is none", page(STORY, status="204 No Content"), ANY),
    Case(
        "status-304",
        "not modified, though nothing is known",
        page("", status="304 Not Modified"),
        ANY,
    ),
    Case(
        "status-206",
        "a part that was not requested",
        page(STORY, status="206 Partial Content"),
        ANY,
    ),
    Case(
        "header-binary",
        "header bytes that are no text",
        raw(OK + b"X-\xff\x00: \x00\xfe\r\nContent-Length: 1\r\n\r\nx"),
        ANY,
    ),
)
PACKED = (
    Case(
        "gzip-bomb",
        "100 MB of zeros in 100 kB of gzip",
        bomb(lambda: gzip.compress(zeros()), "Content-Encoding: gzip", HTML),
        GONE,
    ),
    Case(
        "gzip-twice",
        "gzip in gzip",
        bomb(lambda: gzip.compress(gzip.compress(zeros())), "Content-Encoding: gzip, gzip", HTML),
        GONE,
    ),
    Case(
        "deflate-bomb",
        "100 MB of zeros in deflate",
        bomb(lambda: zlib.compress(zeros()), "Content-Encoding: deflate", HTML),
        GONE,
    ),
    Case(
        "gzip-cut",
        "gzip that ends in the middle",
        page(gzip.compress(STORY.encode())[:-40], "Content-Encoding: gzip", HTML),
        ANY,
    ),
    Case(
        "gzip-junk",
        "bytes that are no gzip",
        page(b"\x1f\x8bjunk", "Content-Encoding: gzip", HTML),
        ANY,
    ),
    Case(
        "gzip-not",
        "a page that is not packed as it says",
        page(STORY, "Content-Encoding: gzip", HTML),
        ANY,
    ),
    Case(
        "encoding-unknown", "an unknown packing", page(STORY, "Content-Encoding: x-zap", HTML), ANY
    ),
    Case(
        "encodings",
        "a thousand packings",
        page(b"x", "Content-Encoding: " + "gzip, " * 999, HTML),
        ANY,
    ),
)
MOVES = (
    Case(
        "moves-to-self",
        "a redirect to itself",
        lambda c: moved(f"http://{c.host}{c.path}")(c),
        GONE,
        1,
    ),
    Case(
        "moves-in-ring",
        "two pages that redirect to each other",
        lambda c: moved("/b" if c.path == "/" else "/")(c),
        ("crawled redirected", "error"),
        2,
    ),
    Case(
        "moves-for-ever",
        "redirects without end",
        lambda c: moved(f"{c.path}a")(c),
        ("crawled redirected", "error"),
        25,
    ),
    Case("moves-to-file", "a redirect to a file", moved("file:///etc/passwd"), GONE),
    Case("moves-to-script", "a redirect to javascript:", moved("javascript:alert(1)"), GONE),
    Case("moves-to-data", "a redirect to data:", moved("data:text/html,<p>新能源汽车"), GONE),
    Case(
        "moves-inside",
        "a redirect to a private address",
        moved("http://169.254.169.254/latest/meta-data/"),
        ("error private-address",),
    ),
    Case(
        "moves-inside-odd",
        "a redirect to loopback as a number",
        moved("http://2130706433/"),
        ("error private-address",),
    ),
    Case("moves-far", "a redirect to a URL of 100 kB", moved("/" + "a" * 100_000), GONE),
    Case("moves-nowhere", "a redirect without a target", page("", status="302 Found"), GONE),
    Case("moves-to-junk", "a redirect to no URL", moved("http://[::1"), GONE),
    Case(
        "refreshes",
        "a page that refreshes to itself",
        page(f'<meta http-equiv="refresh" content="0; url=/">{STORY}'),
        ANY,
    ),
    Case(
        "retry-after",
        "503 with Retry-After of three years",
        page("", "Retry-After: 99999999", status="503 Busy"),
        LATER,
    ),
    Case(
        "retry-junk",
        "429 with a Retry-After that is no time",
        page("", "Retry-After: \u2603", status="429 Slow"),
        LATER,
    ),
)
CONTENT = (
    Case(
        "charset-unknown",
        "an unknown charset",
        page(STORY, "Content-Type: text/html; charset=zap"),
        ANY,
    ),
    Case(
        "charset-lies",
        "UTF-8 that says it is UTF-16",
        page(STORY, "Content-Type: text/html; charset=utf-16"),
        ANY,
    ),
    Case(
        "charset-utf7",
        "UTF-7",
        page("+ADw-script+AD4-", "Content-Type: text/html; charset=utf-7"),
        ANY,
    ),
    Case(
        "charset-many",
        "a thousand charsets in meta",
        page("".join(f'<meta charset="x{n}">' for n in range(1000)) + STORY),
        ANY,
    ),
    Case("zeros", "a megabyte of zero bytes", page(b"\0" * 1_000_000, HTML), ANY),
    Case("binary", "random bytes as a page", page(bytes(range(256)) * 2000, HTML), ANY),
    Case("type-none", "a type that is none", page(STORY, "Content-Type: ;;;=\x7f"), ANY),
    Case("deep", "200,000 open tags", page("<div>" * 200_000 + STORY), ANY),
    Case("deep-inline", "100,000 open formats", page("<b><i>" * 50_000 + STORY), ANY),
    Case(
        "attributes",
        "a tag of 100,000 attributes",
        page("<p " + " ".join(f"a{n}=1" for n in range(100_000)) + ">" + STORY),
        ANY,
    ),
    Case("attribute", "an attribute of 2 MB", page(f'<p title="{"x" * 2_000_000}">{STORY}'), ANY),
    Case("comment", "a comment of 2 MB without end", page(STORY + "<!--" + "x" * 2_000_000), ANY),
    Case("script", "a script of 2 MB without end", page(STORY + "<script>" + "<" * 2_000_000), ANY),
    Case(
        "entities",
        "300,000 entities, of no characters too",
        page("&#xD800;&#x110000;&#0;&bogus;" * 75_000 + STORY),
        ANY,
    ),
    Case("title", "a title of 1 MB", page(f"<title>{'新能源汽车' * 70_000}</title>{STORY}"), ANY),
    Case("one-word", "1 MB without a blank", page(f"<p>{'x' * 1_000_000}{STORY}"), ANY),
    Case(
        "one-sentence", "a sentence of 300,000 characters", page(f"<p>{'新能源汽车' * 60_000}"), ANY
    ),
    Case("blanks", "1 MB of blanks", page(f"<p>{' ' * 1_000_000}{STORY}"), ANY),
    Case("dates", "100,000 dates", page("<p>" + "2026年1月1日 " * 100_000 + STORY), ANY),
    Case(
        "date-absurd",
        "a date of the year 999999",
        page(f'<meta property="article:published_time" content="999999-99-99T99:99:99Z">{STORY}'),
        ANY,
    ),
    Case(
        "json-deep",
        "JSON-LD of 100,000 levels",
        page(f'<script type="application/ld+json">{"[" * 100_000}</script>{STORY}'),
        ANY,
    ),
    Case(
        "json-digits",
        "JSON-LD with a number of 1 MB",
        page(f'<script type="application/ld+json">{{"a":{"9" * 1_000_000}}}</script>{STORY}'),
        ANY,
    ),
    Case(
        "terminal",
        "escape sequences and bidi marks in a title",
        page(article("\x1b]0;hacked\x07\x1b[2J\u202e新能源汽车", TEXT)),
        ANY,
    ),
    Case(
        "formula",
        "a title that a spreadsheet would run",
        page(article("=HYPERLINK(1) 新能源汽车", TEXT)),
        ANY,
    ),
    Case("xml-bomb", "a feed with a billion laughs", page(LAUGHS, FEED), ANY, 3),
    Case("xml-external", "a feed that includes a file", page(EXTERNAL, FEED), ANY, 3),
    Case(
        "feed-deep",
        "a feed of 100,000 levels",
        page("<rss><channel>" + "<item>" * 100_000, FEED),
        ANY,
        3,
    ),
    Case(
        "feed-wide",
        "a feed of 20,000 entries",
        page(
            "<rss><channel>"
            + "".join(
                f"<item><title>新能源汽车</title><link>http://feed-wide.test/{n}</link></item>"
                for n in range(20_000)
            ),
            FEED,
        ),
        ANY,
        20_001,
    ),
)
LINKS = (
    Case(
        "links",
        "30,000 links",
        page("".join(f'<a href="/{n}">新能源汽车</a>' for n in range(30_000))),
        ANY,
        30_001,
    ),
    Case(
        "hosts",
        "names without end, each page five more",
        counting(
            lambda host, size: [f"http://a{size}-{n}.{host[-60:]}/{'x' * size}" for n in range(5)]
        ),
        ANY,
        600,
    ),
    Case(
        "depth",
        "paths without end",
        counting(lambda host, _: [f"http://{host}/next/" * 1]),
        ANY,
        60,
    ),
    Case(
        "calendar",
        "days without end",
        lambda c: c.answer(
            article(
                "新能源汽车",
                TEXT + c.path,
                f"http://{c.host}/day/{c.number}{len(c.path)}",
                f"{c.path.rstrip('/')}/next",
            )
        ),
        ANY,
        600,
    ),
    Case("urls-long", "links of 1 MB", linked("http://urls-long.test/" + "a" * 1_000_000), ANY),
    Case(
        "urls-odd",
        "links that are none",
        linked(
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "http://[::1",
            "http://a:99999/",
            "http://%00/",
            "//",
            "http:///x",
            "http://\u202e.test/",
            "ftp://a.test/",
        ),
        ANY,
        3,
    ),
    Case(
        "links-inside",
        "links to private addresses",
        linked(
            "http://127.0.0.1/",
            "http://localhost/",
            "http://0x7f.1/",
            "http://[::ffff:10.0.0.1]/",
            "http://169.254.169.254/",
            "http://10.0.0.1/",
            "http://2130706433/",
        ),
        ANY,
    ),
    Case(
        "base-inside",
        "a base that leads inside",
        page(f'<base href="http://127.0.0.1/"><a href="x">新能源汽车</a>{STORY}'),
        ANY,
    ),
    Case(
        "cookies", "2,000 cookies", page(STORY, *(f"Set-Cookie: c{n}=x" for n in range(2000))), ANY
    ),
    Case("cookie-large", "a cookie of 100 kB", page(STORY, f"Set-Cookie: a={'x' * 100_000}"), ANY),
    Case(
        "cookie-foreign",
        "a cookie for all of .test",
        page(STORY, "Set-Cookie: a=1; Domain=.test"),
        ANY,
    ),
)


ROBOTS = (
    ruled("robots-huge", "a robots.txt of 20 MB", page(b"Disallow: /x\n" * 1_600_000), *ANY),
    ruled(
        "robots-endless",
        "a robots.txt without end",
        endless(HEAD, b"Disallow: /x\n" * 999),
        *LATER,
        *ANY,
    ),
    ruled("robots-binary", "a robots.txt of bytes", page(bytes(range(256)) * 999), *ANY),
    ruled(
        "robots-ring", "a robots.txt that redirects to itself", moved("/robots.txt"), *LATER, *ANY
    ),
    ruled(
        "robots-inside",
        "a robots.txt at a private address",
        moved("http://10.0.0.1/"),
        *LATER,
        *ANY,
    ),
    ruled("robots-500", "a robots.txt that fails", page("", status="500 No"), *LATER),
    ruled(
        "robots-stars",
        "patterns of a thousand stars",
        page("User-agent: *\n" + f"Disallow: /{'*a' * 1000}\n" * 20),
        *ANY,
    ),
    ruled(
        "robots-delay",
        "a crawl-delay of 10^12 s",
        page("User-agent: *\nCrawl-delay: 1000000000000\n"),
        *ANY,
    ),
)
CASES = (*CONNECTION, *PACKED, *MOVES, *CONTENT, *LINKS, *ROBOTS)
