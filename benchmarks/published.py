"""Recorded web of a published static site, with its own tags and categories as topics.

    python -m benchmarks.published FOLDER ADDRESS -o NAME.web.jsonl.gz [--topics 8]
    scrapy simulate NAME.web.jsonl.gz --strategy best-first --strategy shark-plus

Many sites publish their HTML files in a public repository, for example blogs made by Hexo, Hugo or
Jekyll. They have what crawls meet on news sites: menus, tag and category lists with further pages,
archives by date. ``FOLDER`` is a copy of such a repository, ``ADDRESS`` the site's address.

A page is labelled by the tags and categories that it links to (``/tags/NAME/``,
``/categories/NAME/``) more often than most pages of the site do, since menus link to them
everywhere. Lists and pages with more than ``MAX_LABELS`` of them are not labelled. A topic is a
label of 20 to 250 pages that links lead to from the home page, and no number; its only term is the
label, its seed the home page. Topics are chosen evenly by number of pages, not by hand.
As by most servers, ``/tags`` is redirected to ``/tags/``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from pathlib import Path
from statistics import mode
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote, urljoin, urlsplit

from lxml import html
from lxml.etree import LxmlError

from topiccrawl import canonicalize_url
from topiccrawl.addons.simulate.collection import RecordedWeb
from topiccrawl.addons.simulate.harvest import reachable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_BYTES = 400_000
MAX_LABELS = 12
PAGES = range(20, 251)
"""Numbers of pages of a label that is a topic."""
LABEL = re.compile(r"/(?:tags?|categor(?:y|ies))/(?:.*/)?([^/]+)/?$")
LIST = re.compile(r"/(?:(?:tags?|categor(?:y|ies)|archives?)(?:/|$)|page/\d)")
SUFFIX = ".web.jsonl.gz"


class PublishedPage(NamedTuple):
    """A page of the site, and how often it links to each label."""

    url: str
    body: str
    labels: Counter[str]


def read_site(folder: Path, address: str) -> Iterator[PublishedPage]:
    """Yield the HTML pages below a folder, without pages of more than ``MAX_BYTES``."""
    for file in sorted(filter(Path.is_file, folder.rglob("*.html"))):
        path = file.relative_to(folder).as_posix()
        url = urljoin(address, quote(path.removesuffix("index.html")))
        body = file.read_bytes()
        if len(body) <= MAX_BYTES:
            text = body.decode("utf-8", "replace")
            yield PublishedPage(url, text, linked_labels(text, url))


def linked_labels(body: str, url: str) -> Counter[str]:
    """Return the tags and categories of a page's links, in lower case, with numbers of links.

    >>> linked_labels('<a href="/tags/AI/">1</a><a href="/tags/AI/page/2/">2</a>', "http://a.test")
    Counter({'ai': 1})
    """
    try:
        links = html.fromstring(body).iterfind(".//a[@href]")
    except (LxmlError, ValueError):
        return Counter()
    targets = (canonicalize_url(link.get("href", ""), url) for link in links)
    paths = (unquote(urlsplit(target).path) for target in targets if target)
    found = (LABEL.search(path) for path in paths if "/page/" not in path)
    return Counter(match[1].lower() for match in found if match)


def labelled(pages: Sequence[PublishedPage]) -> Iterator[dict[str, Any]]:
    """Yield pages as lines of a collection, with their own labels as categories."""
    linking = Counter(label for page in pages for label in page.labels)
    in_menus = {
        label: mode(page.labels[label] for page in pages)
        for label, number in linking.items()
        if number > len(pages) // 2
    }
    for page in pages:
        own = [name for name, times in page.labels.items() if times > in_menus.get(name, 0)]
        path = urlsplit(page.url).path
        is_list = LIST.search(path) or path == "/"
        categories = [] if is_list or len(own) > MAX_LABELS else sorted(own)
        yield {"url": page.url, "body": page.body, "categories": categories}
        if path.endswith("/") and path != "/":
            headers = {"Location": page.url}
            yield {"url": page.url[:-1], "status": 301, "headers": headers, "body": ""}


def chosen_topics(web: RecordedWeb, most: int, seed: str) -> list[dict[str, Any]]:
    """Return topics from labels of reachable pages, evenly by number of pages."""
    pages = Counter(label for name in reachable(web, [seed]) for label in web.pages[name].marks)
    named = (label for label in pages if pages[label] in PAGES and not label.isdigit())
    fitting = sorted(named, key=lambda label: (pages[label], label))
    step = max(1.0, len(fitting) / most)
    labels = [fitting[int(place * step)] for place in range(min(most, len(fitting)))]
    return [
        {"name": label, "terms": [label.replace("-", " ")], "relevant": [label], "seeds": [seed]}
        for label in labels
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the collection and the topics beside it.

    Raises:
        SystemExit: There are no pages, or no label has enough of them.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("address")
    parser.add_argument("-o", dest="output", type=Path, required=True, metavar=f"NAME{SUFFIX}")
    parser.add_argument("--topics", type=int, default=8, metavar="N", help="8")
    chosen = parser.parse_args(arguments)
    lines = list(labelled(list(read_site(chosen.folder, chosen.address))))
    with gzip.open(chosen.output, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    web = RecordedWeb.read(chosen.output)
    topics = chosen_topics(web, chosen.topics, chosen.address)
    if not topics:
        raise SystemExit(f"{chosen.folder}: no tag or category has {PAGES.start} reachable pages")
    truth = chosen.output.with_name(chosen.output.name.removesuffix(SUFFIX) + ".topics.json")
    truth.write_text(json.dumps(topics, ensure_ascii=False, indent=1), encoding="utf-8")
    names = ", ".join(topic["name"] for topic in topics)
    number = sum("categories" in line for line in lines)
    print(f"{number} pages, {len(topics)} topics: {names}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
