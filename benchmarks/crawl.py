"""Cost of a page in a whole crawl, from request to stored links, beside plain Scrapy.

    python -m benchmarks.crawl [--pages 1000] [--json FILE]

The web is made here: pages of 30 kB with 50 links as in ``benchmarks.score``, on 20 hosts, without
end, served from this process. Each crawler is a process of its own, runs once for a third of the
pages and once for all, without delays, 16 requests in flight; the difference of the two is what
pages cost, without the start. Times are processor time, so that ``pages`` are those of one core.

``crawl_judged``: a topic crawl that takes no articles. ``crawl_unadapted``: the same with a topic
that learns nothing. ``crawl_whole``: with articles taken out, compared and stored. ``scrapy``: a
spider that follows each link its LinkExtractor finds.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.score import TERMS, made_up
from lab.demo import DemoServer
from lab.demo.answers import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

HOSTS = 20
BODIES = 300
"""Different pages; a URL has always the same one."""
SETTINGS = {
    "ROBOTSTXT_OBEY": "1",
    "DOWNLOAD_DELAY": "0",
    "AUTOTHROTTLE_ENABLED": "0",
    "CONCURRENT_REQUESTS": "16",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "16",
    "LOG_LEVEL": "ERROR",
}
HTML = (("Content-Type", "text/html; charset=utf-8"),)
SEEDS = [f"http://s{number}.test/" for number in range(HOSTS)]
JUDGED = {"TOPICCRAWL_EXTRACT": "0"}
OURS = {
    "crawl_judged": JUDGED,
    "crawl_unadapted": {**JUDGED, "TOPICCRAWL_ADAPTATION": "off"},
    "crawl_whole": {},
}
PEER = "scrapy"


@cache
def bodies() -> list[bytes]:
    """Bodies of the pages, the same in each run."""
    return [source.body for source in made_up(random.Random(1), BODIES)]  # noqa: S311


class Endless:
    """A page under every URL, robots.txt apart."""

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:  # noqa: ARG002
        """The page of a URL."""
        if url.endswith("/robots.txt"):
            return Answer(404)
        return Answer(200, HTML, random.Random(url).choice(bodies()))  # noqa: S311


def crawl(name: str, pages: int, folder: Path) -> tuple[int, float]:
    """Pages that a crawler got, and its processor time in seconds.

    Raises:
        SystemExit: It failed; with the end of its log.
    """
    log, errors = folder / f"{name}-{pages}.tsv", folder / f"{name}-{pages}.log"
    with DemoServer(Endless(), log=log) as server, errors.open("wb") as out:
        settings = {"SCRAPY_SETTINGS_MODULE": "topiccrawl.settings"} if name != PEER else {}
        surroundings = {**os.environ, **settings, "http_proxy": server.proxy, "no_proxy": ""}
        line = _line(name, pages, folder)
        process = subprocess.Popen(line, cwd=folder, env=surroundings, stderr=out)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{name} failed:\n{errors.read_text(errors='replace')[-2000:]}")
    lines = (line.split("\t") for line in log.read_text().splitlines())
    return sum(line[2] == "200" for line in lines), used.ru_utime + used.ru_stime


def _line(name: str, pages: int, folder: Path) -> list[str]:
    if name == PEER:
        line = ["runspider", str(Path(__file__).with_name("crawl_peer.py"))]
        line += ["-a", f"seeds={','.join(SEEDS)}"]
        given = {**SETTINGS, "CLOSESPIDER_PAGECOUNT": str(pages)}
    else:
        topic = folder / "topic.toml"
        terms = "".join(f'"{term}" = 1.0\n' for term in TERMS)
        topic.write_text(
            f'name = "benchmark"\nseeds = {json.dumps(SEEDS)}\n[terms]\n{terms}', encoding="utf-8"
        )
        line = ["crawl", "topic", "-a", f"topic={topic}"]
        data = str(folder / f"{name}-{pages}")
        given = {
            **SETTINGS, **OURS[name], "TOPICCRAWL_PAGES": str(pages), "TOPICCRAWL_DATA_DIR": data,
        }  # fmt: skip
    pairs = [part for pair in given.items() for part in ("-s", "=".join(pair))]
    return [sys.executable, "-m", "scrapy", *line, *pairs]


def figures(pages: int, folder: Path) -> dict[str, float]:
    """Milliseconds a page, and pages a second, of each crawler."""
    found: dict[str, float] = {}
    for name in (PEER, *OURS):
        (few, start), (many, end) = (crawl(name, most, folder) for most in (pages // 3, pages))
        cost = (end - start) / (many - few)
        found[f"{name}_ms_page"] = 1000 * cost
        found[f"{name}_pages_s"] = 1 / cost
        print(f"{name}: {many} pages, {1000 * cost:.2f} ms a page", flush=True)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; with ``--json`` also write them as a flat object."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--json", type=Path, help="write the figures here")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="topiccrawl-crawl-") as folder:
        found = figures(options.pages, Path(folder))
    for name, figure in found.items():
        print(f"{name:24} {figure:8.2f}")
    if options.json:
        options.json.write_text(json.dumps({k: round(v, 3) for k, v in found.items()}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
