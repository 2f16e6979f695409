"""Quality of URL patterns: ``python -m benchmarks.urls TRUTH [--rules FILE] [--json [FILE]]``.

TRUTH: JSON lines (gzipped or not) with ``url`` and ``is_article``. Of each site the first 50 to 200
URLs, at most half of them, train its patterns, as a crawl would have; the rest is judged
(``precision``, ``recall``). ``prior_*``: all URLs judged by their format only, like those of
unknown hosts. ``left_out_*``: each host's URLs judged by what the other hosts of its site taught:
the share of its articles that are fetched, over all of them, as the mean over hosts, and of the
worst host. TRUTH may be a text file of articles' URLs, one a line: then only recall is meaningful.
``--rules``: JSON lines with ``url`` and ``kind``; the share of equal answers is reported.

Then two crawls of the demo web, with and without the filter, unless ``--no-crawl``:
``downloads_saved`` of pages that are neither article nor hub (``downloads_saved_no_blogs`` leaves
blogs out of account), ``articles_lost`` of the on-topic articles that the crawl without it fetched.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.output import command_line, show
from lab.demo.crawl import crawl, options
from lab.demo.judge import order_of, read_log
from lab.demo.plan import Kind
from lab.demo.web import Web, generate
from topiccrawl.addons.url_patterns.pattern import Label
from topiccrawl.addons.url_patterns.site import SiteLearner
from topiccrawl.addons.url_patterns.tally import NEWS_SHARE, Outcome
from topiccrawl.links.newsurls import is_non_news, news_likelihood
from topiccrawl.links.skeletons import address
from topiccrawl.links.urls import canonical, site_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

FEWEST, MOST = 50, 200
"""URLs of a site that train its patterns."""

NEWS = frozenset((Kind.ARTICLE, Kind.HUB, Kind.COPY, Kind.REDIRECT))
"""Kinds of demo pages that are worth a download."""

_QUICK = {"DOWNLOAD_DELAY": 0.01, "TOPICCRAWL_RETRY_DELAY": 0.1, "LOG_LEVEL": "ERROR"}


def rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    lines = [line for line in text.split("\n") if line]
    if not text.startswith("{"):
        return [{"url": canonical(line) or line, "is_article": True} for line in lines]
    return [json.loads(line) for line in lines]


def figures(answers: Iterable[tuple[bool, bool]], prefix: str = "") -> dict[str, float]:
    """Precision, recall and number of (true, said) pairs.

    >>> figures([(True, True), (False, True), (True, False), (False, False)])
    {'precision': 0.5, 'recall': 0.5, 'judged': 4}
    """
    counts = Counter(answers)
    hits, wrong, lost = counts[True, True], counts[False, True], counts[True, False]
    return {
        f"{prefix}precision": round(hits / max(1, hits + wrong), 4),
        f"{prefix}recall": round(hits / max(1, hits + lost), 4),
        f"{prefix}judged": counts.total(),
    }


def by_site(truth: Sequence[dict[str, Any]], most: int = MOST) -> dict[str, float]:
    """Figures of sites' own patterns; sites of fewer than ``FEWEST`` + 1 URLs are left out."""
    sites = defaultdict(list)
    for row in truth:
        sites[site_of(row["url"])].append((row["url"], bool(row["is_article"])))
    answers: list[tuple[bool, bool]] = []
    for known in sites.values():
        number = min(most, max(FEWEST, len(known) // 2))
        learner = trained(known[:number])
        answers.extend((true, learner.is_news(url)) for url, true in known[number:])
    return figures(answers)


def left_out(truth: Sequence[dict[str, Any]], most: int = MOST) -> dict[str, float]:
    """Return the share of articles that are fetched of hosts from which nothing was learnt."""
    hosts = defaultdict(list)
    for row in truth:
        hosts[address(row["url"]).host].append((row["url"], bool(row["is_article"])))
    shares, kept, articles = [], 0, 0
    for host, known in hosts.items():
        site = site_of(known[0][0])
        others = [
            pair
            for other, pairs in hosts.items()
            if other != host and site_of(pairs[0][0]) == site
            for pair in pairs
        ]
        learner = trained(others[:most])
        fetched_ = [learner.judge(url).label is not Label.OTHER for url, true in known if true]
        kept, articles = kept + sum(fetched_), articles + len(fetched_)
        if fetched_:
            shares.append(sum(fetched_) / len(fetched_))
    return {
        "left_out_hosts": len(shares),
        "left_out_recall": round(kept / max(1, articles), 4),
        "left_out_recall_mean": round(sum(shares) / max(1, len(shares)), 4),
        "left_out_recall_worst": round(min(shares, default=0.0), 4),
    }


def trained(known: Sequence[tuple[str, bool]]) -> SiteLearner:
    """A learner that fetched these pages."""
    learner = SiteLearner()
    for url, article in known:
        learner.count_link(url)
        learner.observe(url, Outcome.ARTICLE if article else Outcome.OTHER)
    learner.learn()
    return learner


def by_look(url: str) -> bool:
    """Return whether a URL of an unknown host is taken for an article."""
    return not is_non_news(url) and news_likelihood(url) >= NEWS_SHARE


def crawled(web: Web, folder: Path, **settings: int) -> list[int]:
    """Crawl a web with settings; return the entries that were fetched, once each."""
    with contextlib.redirect_stdout(io.StringIO()):
        status = crawl(web, folder, options({**_QUICK, **settings}))
    if status:
        sys.exit(f"the crawl of the demo web ended with status {status}")
    return order_of(read_log(folder / "access.tsv"), web)


def savings(web: Web, without: Sequence[int], with_it: Sequence[int]) -> dict[str, float]:
    """Return the savings and losses of the filter."""

    def wasted(numbers: Iterable[int], *but: Kind) -> int:
        kinds = [web.plan.entries[number].kind for number in numbers]
        return sum(kind not in NEWS and kind not in but for kind in kinds)

    def articles(numbers: Iterable[int]) -> set[int]:
        return {
            n for n in numbers if n in web.relevant and web.plan.entries[n].kind == Kind.ARTICLE
        }

    before, after = articles(without), articles(with_it)
    blogs = (Kind.BLOG,)
    return {
        "downloads_saved": round(1 - wasted(with_it) / max(1, wasted(without)), 4),
        "downloads_saved_no_blogs": round(
            1 - wasted(with_it, *blogs) / max(1, wasted(without, *blogs)), 4
        ),
        "articles_lost": round(len(before - after) / max(1, len(before)), 4),
        "pages_without": len(without),
        "pages_with": len(with_it),
        "on_topic_without": len(web.relevant & set(without)),
        "on_topic_with": len(web.relevant & set(with_it)),
    }


def whole_crawl(seed: int, pages: int) -> dict[str, float]:
    """Run two crawls of a demo web and return their difference."""
    web = generate(seed, pages, faults=False)
    with tempfile.TemporaryDirectory() as folder:
        without, with_it = (
            crawled(web, Path(folder, str(on)), TOPICCRAWL_NEWS_FILTER=on) for on in (0, 1)
        )
    return savings(web, without, with_it)


def measure(given: argparse.Namespace) -> dict[str, float]:
    """All figures by name."""
    truth = rows(given.truth)
    found = by_site(truth)
    for most in (FEWEST, 2 * FEWEST):
        few = by_site(truth, most)
        found |= {f"{name}_{most}": few[name] for name in ("precision", "recall")}
    found |= left_out(truth)
    found |= figures(((bool(r["is_article"]), by_look(r["url"])) for r in truth), "prior_")
    if given.rules is not None:
        same = [(row["kind"] == "article") == by_look(row["url"]) for row in rows(given.rules)]
        found["rules_agreement"] = round(sum(same) / max(1, len(same)), 4)
    if not given.no_crawl:
        found |= whole_crawl(given.seed, given.pages)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = command_line(__doc__, seed=1, pages=3000)
    parser.add_argument("truth", type=Path, help="URLs with is_article")
    parser.add_argument("--rules", type=Path, help="URLs with kind, for agreement")
    parser.add_argument("--no-crawl", action="store_true", help="leave the demo web out")
    given = parser.parse_args(arguments)
    show(measure(given), given.json)


if __name__ == "__main__":
    main()
