"""Links per second: text, links, anchors and contexts of a page, compared with Scrapy and lxml.

    python -m benchmarks.links [--pages FILE] [--limit N] [--json FILE]

FILE is a collection, one JSON object a line (``url``, ``body`` or ``body64``), may be gzipped;
without it, pages are generated: 30 kB, 50 links. All read decoded pages. The others do less:
Scrapy's LinkExtractor gives URLs and anchors, lxml here URLs, anchors and the page's text; neither
gives contexts, blocks, canonical URLs or directives. A link is an ``<a href>`` in the page.
Times are processor time, the best of five runs.
"""

from __future__ import annotations

import random
import sys
import time
from itertools import islice
from pathlib import Path
from timeit import repeat
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from lxml import html as lxml_html
from scrapy.http import HtmlResponse
from scrapy.linkextractors import LinkExtractor
from selectolax.lexbor import LexborHTMLParser

from benchmarks.output import command_line, show
from benchmarks.score import made_up
from topiccrawl.addons.simulate.collection import RecordedWeb
from topiccrawl.links import urls
from topiccrawl.links.page import read_page
from topiccrawl.links.traps import TrapRules, trap
from topiccrawl.links.urls import canonical
from topiccrawl.text.decode import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RUNS = 5
Pages = list[tuple[str, str]]
"""URL and decoded HTML of each page."""


def pages_of(path: Path | None, limit: int) -> Pages:
    """Return the first pages of a collection, decoded; without one, generated pages."""
    if path is None:
        made = made_up(random.Random(20090101), limit)  # noqa: S311 - a fixed text, no secret
        return [(source.url, source.body.decode()) for source in made]
    recorded = islice(RecordedWeb.read(path).pages.values(), limit)
    return [(page.url, decode(page.body).text) for page in recorded]


def by_scrapy(pages: Pages) -> None:
    """Extract links with Scrapy's extractor."""
    extractor = LinkExtractor()
    for url, html in pages:
        extractor.extract_links(HtmlResponse(url, body=html.encode(), encoding="utf-8"))


def by_lxml(pages: Pages) -> None:
    """Extract text, URLs and anchors with lxml."""
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
    return min(repeat(work, "import gc; gc.enable()", time.process_time, RUNS, number=1))


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = command_line(__doc__, limit=150)
    parser.add_argument("--pages", type=Path, help="collection; default: generated pages")
    options = parser.parse_args(arguments)
    show(figures(pages_of(options.pages, options.limit)), options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
