"""Template crawl of the generated companies, with a search engine and several periods."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lab.demo.answers import Answer
from lab.demo.crawl import options, run
from lab.demo.engine import DOMAIN, Engine, Together
from lab.demo.server import DemoServer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from lab.demo.companies.web import CompanyWeb

TEMPLATE = "软件公司-四川"
QUERY = "四川 软件公司"
DISCOVER = f"discover=baidu:http://baidu.{DOMAIN}/s"
_USELESS = 9
"""One in this number of results is useless, more at the end."""
_SETTINGS = {
    "DOWNLOAD_DELAY": "0.02",
    "AUTOTHROTTLE_ENABLED": "False",
    "TOPICCRAWL_RETRY_DELAY": "0.2",
    "LOG_LEVEL": "INFO",
}
"""Settings for a web on the same machine; later ``-s`` of the operator override them."""


class Departed:
    """A web with abandoned hosts, which respond with 404 to every request.

    Args:
        web: Current web.
        hosts: All hosts of all editions.
    """

    def __init__(self, web: CompanyWeb, hosts: Sequence[str]) -> None:
        self._web = web
        self._left = frozenset(hosts) - frozenset(web.hosts)

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:
        """See ``Answering``."""
        host = urlsplit(url).netloc
        if host in self._left:
            return Answer(404, (("Content-Type", "text/plain"),), b"gone")
        if host.startswith("wenku"):
            header = (("Content-Type", "text/html; charset=utf-8"),)
            return Answer(200, header, "<title>文档</title><p>四川软件公司名单下载</p>".encode())
        return self._web.answer(url, visit, cookie)


def results(web: CompanyWeb) -> list[tuple[str, str]]:
    """Return the results of the engine: companies and some useless pages."""
    found: list[tuple[str, str]] = []
    for number, result in enumerate(web.found(), 1):
        found.append(result)
        if number % _USELESS == 0:
            found.append((f"http://wenku{number}.test/", "四川软件公司名单"))
    return found


@contextlib.contextmanager
def serving(web: CompanyWeb, log: Path | None = None, former: Sequence[str] = ()) -> Iterator[str]:
    """Serve the companies and the engine; return the address of the proxy.

    ``former`` are the hosts of earlier editions.
    """
    both = Together(Engine({QUERY: results(web)}), Departed(web, former))
    with DemoServer(both, log) as server:
        yield server.proxy


def command(folder: Path, arguments: Sequence[str] = ()) -> list[str]:
    """Return the command that crawls them."""
    line = [sys.executable, "-m", "scrapy", "crawl", "template", "-a", f"template={TEMPLATE}"]
    line += ["-a", DISCOVER, *options({**_SETTINGS, "TOPICCRAWL_DATA_DIR": folder})]
    return [*line, *arguments]


def crawl(
    web: CompanyWeb, folder: Path, arguments: Sequence[str] = (), former: Sequence[str] = ()
) -> int:
    """Crawl one period; return the crawl's exit status.

    Args:
        web: An edition of the companies.
        folder: Folder of the server's log and the crawl's state.
        arguments: More arguments for ``scrapy crawl``.
        former: Hosts of earlier editions; the abandoned ones respond with 404.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with serving(web, folder / "access.tsv", former) as proxy:
        return run(command(folder, arguments), proxy)
