"""How soon is what is on topic found? Real crawls of recorded collections, judged from outside.

    python -m benchmarks.focus --pages FILE --topics FILE [--topic NAME]… [--strategy NAME]…
                               [--concurrency 8] [-s SETTING=VALUE]… [--json FILE]

The collection is served as if it were the web (a proxy for all hosts); `scrapy crawl topic` runs
through the real scheduler without delay. `area` is the area under the harvest curve up to the
topic's budget, as the server's log saw it, divided by that of an oracle that knows all labels and
links. FILE is one JSON object a line (`url`, `type`, `body` or `body64`, `label` or `categories`),
gzipped or not; topics hold `name`, `terms`, `seeds`, `relevant`, `budget`, `oracle_area` and
`reference`.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from topiccrawl.demo import DemoServer
from topiccrawl.demo.answers import Answer
from topiccrawl.links.strategies import DEFAULT, NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

BASELINE = "best-first"
SETTINGS = {
    "DOWNLOAD_DELAY": "0",
    "AUTOTHROTTLE_ENABLED": "0",
    "TOPICCRAWL_RETRY_DELAY": "0.2",
    "TOPICCRAWL_EXTRACT": "0",
    "LOG_LEVEL": "WARNING",
}


def key(url: str) -> str:
    """Identity of a page: host, path and query."""
    parts = urlsplit(url)
    return f"{parts.netloc.lower()}{parts.path or '/'}" + (f"?{parts.query}" if parts.query else "")


class Collection:
    """Recorded pages, served by URL.

    Args:
        path: The collection.
    """

    def __init__(self, path: Path) -> None:
        self.pages: dict[str, Answer] = {}
        self.marks: dict[str, list[str]] = {}
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                self._add(json.loads(line))
        self.hosts = {name.partition("/")[0] for name in self.pages}

    def _add(self, page: dict[str, Any]) -> None:
        kind = page.get("type", "text/html; charset=utf-8")
        charset = kind.partition("charset=")[2] or "utf-8"
        if "body64" in page:
            body = base64.b64decode(page["body64"])
        else:
            body = page.get("body", "").encode(charset, "xmlcharrefreplace")
        headers = (("Content-Type", kind), *page.get("headers", {}).items())
        name = key(page["url"])
        self.pages[name] = Answer(page.get("status", 200), headers, body)
        categories = [mark.removeprefix("subject.") for mark in page.get("categories", [])]
        self.marks[name] = [page.get("label") or "", *categories]

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:  # noqa: ARG002
        """The page; 404 for an unknown one, 502 for an unknown host."""
        name = key(url)
        missing = 404 if name.partition("/")[0] in self.hosts else 502
        return self.pages.get(name) or Answer(missing)

    def relevant(self, subjects: list[str]) -> set[str]:
        """Pages that bear one of the subjects or a subject below it."""
        return {
            name
            for name, marks in self.marks.items()
            if any(m == s or m.startswith(f"{s}.") for m in marks for s in subjects)
        }


class Result(NamedTuple):
    """One crawl, judged.

    Attributes:
        pages: Pages of the collection that were fetched, up to the budget.
        found: Relevant ones among them.
        area: Area under the harvest curve over the oracle's, in [0, 1].
    """

    pages: int
    found: int
    area: float


def judge(log: Path, collection: Collection, topic: dict[str, Any]) -> Result:
    """Judge a crawl by what the server saw; one that stops early keeps its count to the end."""
    order: dict[str, None] = {}
    for line in log.read_text(encoding="utf-8").splitlines():
        _, _, status, _, url = line.split("\t")
        if status == "200" and key(url) in collection.pages:
            order.setdefault(key(url))
    relevant = collection.relevant(topic["relevant"])
    found = total = 0
    fetched = list(order)[: topic["budget"]]
    for name in fetched:
        found += name in relevant
        total += found
    total += found * (topic["budget"] - len(fetched))
    return Result(len(fetched), found, total / topic["oracle_area"])


def crawl(
    collection: Collection,
    topic: dict[str, Any],
    strategy: str,
    concurrency: int,
    extra: Sequence[str] = (),
) -> Result:
    """Crawl for a topic and judge; ``extra`` are further settings, ``NAME=VALUE``.

    Raises:
        SystemExit: If the crawl fails; with the end of its log.
    """
    with tempfile.TemporaryDirectory(prefix="topiccrawl-focus-") as name:
        folder = Path(name)
        path = folder / "topic.toml"
        path.write_text(_topic_file(topic), encoding="utf-8")
        settings = {
            **SETTINGS,
            "TOPICCRAWL_DATA_DIR": str(folder / "data"),
            "TOPICCRAWL_STRATEGY": strategy,
            "TOPICCRAWL_PAGES": str(topic["budget"]),
            "CONCURRENT_REQUESTS": str(concurrency),
            "CONCURRENT_REQUESTS_PER_DOMAIN": str(concurrency),
        }
        line = [sys.executable, "-m", "scrapy", "crawl", "topic", "-a", f"topic={path}"]
        pairs = [*("=".join(pair) for pair in settings.items()), *extra]
        line += [part for pair in pairs for part in ("-s", pair)]
        log = folder / "access.tsv"
        with DemoServer(collection, log=log) as server:
            environment = {
                **os.environ,
                "http_proxy": server.proxy,
                "no_proxy": "",
                "SCRAPY_SETTINGS_MODULE": "topiccrawl.settings",
            }
            done = subprocess.run(
                line, env=environment, capture_output=True, text=True, check=False
            )
        if done.returncode != 0:
            raise SystemExit(f"{topic['name']}, {strategy}: {done.stderr[-2000:]}")
        return judge(log, collection, topic)


def _topic_file(topic: dict[str, Any]) -> str:
    terms = topic["terms"]
    weights = terms if isinstance(terms, dict) else dict.fromkeys(terms, 1.0)
    quoted = "\n".join(f"{json.dumps(t, ensure_ascii=False)} = {w}" for t, w in weights.items())
    name = json.dumps(topic["name"], ensure_ascii=False)
    return f"name = {name}\nseeds = {json.dumps(topic['seeds'])}\n[terms]\n{quoted}\n"


def figures(areas: dict[str, dict[str, float]]) -> dict[str, float]:
    """The flat object of ``--json``, from areas by strategy and topic."""
    ours = areas.get(DEFAULT) or next(iter(areas.values()))
    flat = {"mean_area": sum(ours.values()) / len(ours)}
    if BASELINE in areas:
        gains = [area - areas[BASELINE][topic] for topic, area in ours.items()]
        flat["mean_minus_best_first"] = sum(gains) / len(gains)
        flat["worst_minus_best_first"] = min(gains)
    flat |= {f"area.{topic}": area for topic, area in ours.items()}
    for strategy, found in areas.items():
        flat[f"mean_area.{strategy}"] = sum(found.values()) / len(found)
    return {name: round(value, 4) for name, value in flat.items()}


def main() -> None:
    """Print a table of areas, by topic and strategy, beside the stored references."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=Path, required=True, metavar="FILE")
    parser.add_argument("--topics", type=Path, required=True, metavar="FILE")
    parser.add_argument("--topic", action="append", metavar="NAME", help="may be repeated")
    parser.add_argument("--strategy", action="append", choices=NAMES, help="may be repeated")
    parser.add_argument("--concurrency", type=int, default=8, metavar="N")
    parser.add_argument("-s", dest="extra", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    collection = Collection(options.pages)
    topics = json.loads(options.topics.read_text(encoding="utf-8"))
    chosen = [t for t in topics if not options.topic or t["name"] in options.topic]
    strategies = options.strategy or [BASELINE, DEFAULT]
    areas: dict[str, dict[str, float]] = {strategy: {} for strategy in strategies}
    for topic in chosen:
        for strategy in strategies:
            result = crawl(collection, topic, strategy, options.concurrency, options.extra)
            areas[strategy][topic["name"]] = result.area
            print(
                f"{topic['name']:<16} {strategy:<14} area {result.area:.3f}  "
                f"{result.found} relevant in {result.pages} pages",
                flush=True,
            )
        print(
            f"{'':<16} {'references':<14} "
            + ", ".join(f"{name} {area}" for name, area in topic.get("reference", {}).items())
        )
    for name, value in (found := figures(areas)).items():
        print(f"{name:<32} {value}")
    if options.json:
        options.json.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
