"""Links per second: text, links, anchors and contexts of a page, compared with Scrapy and lxml.

    python -m benchmarks.links [--pages FILE] [--limit N] [--json FILE]

FILE is a collection, one JSON object a line (``url``, ``body`` or ``body64``), may be gzipped;
without it, pages are generated: 30 kB, 50 links. All read decoded pages. The others do less:
Scrapy's LinkExtractor gives URLs and anchors, lxml here URLs, anchors and the page's text; neither
gives contexts, blocks, canonical URLs or directives. A link is an ``<a href>`` in the page.
Times are processor time, the best of five runs.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from lxml import html as lxml_html
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor
from selectolax.lexbor import LexborHTMLParser

from topiccrawl.links import urls
from topiccrawl.links.page import read_page
from topiccrawl.links.traps import TrapRules, trap
from topiccrawl.links.urls import canonical
from topiccrawl.text.decode import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

RUNS = 5
Pages = list[tuple[str, str]]
"""URL and decoded HTML of each page."""


def made_up(count: int, links: int = 50, size: int = 30_000) -> Pages:
    """Return pages of about ``size`` bytes in Chinese, half of their links in a list."""
    draw = random.Random(20090101)  # noqa: S311 - a fixed text, no secret
    return [(f"http://s{n}.test/news/{n}.html", _page(draw, links, size)) for n in range(count)]


def _page(draw: random.Random, links: int, size: int) -> str:
    def words(length: int) -> str:
        return "".join(chr(draw.randrange(0x4E00, 0x6E00)) for _ in range(length))

    def link() -> str:
        return f'<a href="/news/{draw.randrange(10**6)}.html" title="">{words(12)}</a>'

    listed = "".join(f"<li>{link()}</li>\n" for _ in range(links // 2))
    paragraph = (size // 3 - links * 25) // (links - links // 2)
    text = "".join(
        f"<p>{words(paragraph // 2)}{link()}{words(paragraph // 2)}</p>\n"
        for _ in range(links - links // 2)
    )
    return (
        f"<html><head><title>{words(20)}</title></head><body><ul>{listed}</ul>{text}</body></html>"
    )


def pages_of(path: Path, limit: int) -> Pages:
    """Return the first pages of a collection, decoded."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        return [page for _, page in zip(range(limit), map(_decoded, lines), strict=False)]


def _decoded(line: str) -> tuple[str, str]:
    record = json.loads(line)
    if "body64" in record:
        return record["url"], decode(base64.b64decode(record["body64"])).text
    return record["url"], record["body"]


def by_scrapy(pages: Pages) -> None:
    """Links as Scrapy's own extractor gives them."""
    extractor = LinkExtractor()
    for url, html in pages:
        extractor.extract_links(HtmlResponse(url, body=html.encode(), encoding="utf-8"))


def by_lxml(pages: Pages) -> None:
    """Text, URLs and anchors with lxml."""
    for url, html in pages:
        root = lxml_html.document_fromstring(html.encode(), parser=_LXML)
        "".join(map(str, root.itertext()))
        for anchor in root.iter("a"):
            _resolved(url, anchor.get("href") or "")
            "".join(map(str, anchor.itertext()))


_LXML = lxml_html.HTMLParser(encoding="utf-8")


def _resolved(url: str, href: str) -> str:
    try:
        return urljoin(url, href)
    except ValueError:
        return ""


def seconds(work: Callable[[], object]) -> float:
    """Return the least processor time of several runs, in seconds."""
    return min(_timed(work) for _ in range(RUNS))


def _timed(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def figures(pages: Pages) -> dict[str, float]:
    """Return all figures as one flat object."""
    parsed = [(url, LexborHTMLParser(html)) for url, html in pages]
    hrefs = [(a.attributes["href"] or "", url) for url, tree in parsed for a in tree.css("a[href]")]
    urls = [link.url for url, html in pages for link in read_page(html, url).links]
    rules = TrapRules()
    ours = seconds(lambda: [read_page(html, url) for url, html in pages])
    return {
        "pages": len(pages),
        "page_kb": sum(len(html.encode("utf-8", "replace")) for _, html in pages)
        / len(pages) / 1000,
        "links_per_page": len(hrefs) / len(pages),
        "page_ms": 1000 * ours / len(pages),
        "parser_ms": 1000 * seconds(lambda: [LexborHTMLParser(h) for _, h in pages]) / len(pages),
        "links_per_s": len(hrefs) / ours,
        "lxml_links_per_s": len(hrefs) / seconds(lambda: by_lxml(pages)),
        "scrapy_links_per_s": len(hrefs) / seconds(lambda: by_scrapy(pages)),
        "canonical_us": 1e6 * seconds(lambda: [canonical(h, u) for h, u in hrefs]) / len(hrefs),
        "canonical_cold_us": 1e6 * seconds(lambda: _cold(hrefs)) / len(hrefs),
        "trap_us": 1e6 * seconds(lambda: [trap(url, rules) for url in urls]) / max(1, len(urls)),
    }  # fmt: skip


def _cold(hrefs: Sequence[tuple[str, str]]) -> None:
    """Make all URLs canonical without a cache."""
    for one in vars(urls).values():
        if hasattr(one, "cache_clear"):
            one.cache_clear()
    for href, url in hrefs:
        canonical(href, url)


def lines(found: dict[str, float]) -> Iterator[str]:
    """Yield a table."""
    for name, figure in found.items():
        yield f"{name:20} {figure:12,.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=Path, help="collection; default: generated pages")
    parser.add_argument("--limit", type=int, default=150, help="pages read of it")
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args(arguments)
    pages = pages_of(options.pages, options.limit) if options.pages else made_up(options.limit)
    found = figures(pages)
    sys.stdout.write("\n".join(lines(found)) + "\n")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
