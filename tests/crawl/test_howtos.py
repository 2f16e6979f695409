"""The shell commands of the how-to pages work, on a local web.

Only the addresses of Redis and MongoDB are replaced. Each page runs in a new folder.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections import ChainMap
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import pytest
from typing_extensions import override

from tests import mongo_server, redis_server
from tests.crawl.run import ROOT
from tests.crawl.test_tutorial import TEXT
from tests.crawl.web import Answer, Hit, Page, Web, article
from tests.waiting import PATIENCE, until

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

PAGES = (
    "topics",
    "discovery",
    "storage",
    "watching",
    "stopping",
    "operations",
    "multi-node",
    "tasks",
)
SKIPPED = ("curl", "docker", "pip", "printf", "python", "python3", "pywb/bin/wayback")
"""Commands of other programs, which are not run here."""
UNTIL_STOPPED = ("watch=1", "scrapy work", "scrapy dashboard")
HOSTS = ("www.people.com.cn", "www.xinhuanet.com", "sina.com.cn", "qq.com")
_BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)


class PortalWeb(dict[str, Page]):
    """A home page and six stories on each of a few hosts, and a SearXNG on localhost."""

    @override
    def get(self, url: str, default: Page = "") -> Page:  # type: ignore[override]
        at = urlsplit(url)
        if at.hostname == "localhost" and at.path == "/search":
            found = [
                {"url": f"http://qq.com/story{n}.html", "title": "新能源汽车"} for n in range(3)
            ]
            body = json.dumps({"results": found, "unresponsive_engines": []})
            return Answer(body, headers=(("Content-Type", "application/json"),))
        if at.hostname not in HOSTS:
            return default
        if at.path == "/":
            links = (f'<p><a href="/story{n}.html">新能源汽车充电见闻{n}</a></p>' for n in range(6))
            return "".join(links)
        story = re.fullmatch(r"/story([0-5])\.html", at.path)
        own = f"{at.hostname}第{story[1]}站。" if story else ""
        return article(f"新能源汽车充电见闻{story[1]}", own + TEXT * 4) if story else default


class Servers(NamedTuple):
    """Addresses that replace those on the pages."""

    redis: str
    mongo: str

    def replaced(self, line: str) -> str:
        line = line.replace("redis://HOST:6379/0", self.redis)
        return re.sub(r"mongodb://\S+/news", self.mongo, line)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with redis_server.running() as redis, mongo_server.running() as mongo:
        yield Servers(redis, mongo_server.database_uri(mongo, tmp_path_factory.mktemp("mongo")))


@pytest.mark.parametrize("name", PAGES)
def test_commands_of_how_to_page_succeed(name: str, servers: Servers, tmp_path: Path) -> None:
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    lines = "".join(_BLOCK.findall(text)).replace("\\\n", " ").splitlines()
    with Web(PortalWeb()) as web:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        own: dict[str, str] = {"PATH": path, "PYTHONPATH": str(ROOT)}
        own |= {"http_proxy": web.proxy, "https_proxy": web.proxy, "no_proxy": "127.0.0.1"}
        own |= {"SCRAPY_SETTINGS_MODULE": "topiccrawl.settings"}
        for line in lines:
            words = shlex.split(servers.replaced(line), comments=True)
            if not words or words[0] in SKIPPED:
                continue
            if words[0] == "export":
                own |= dict([words[1].split("=", 1)])
                continue
            run_command(words, web, tmp_path, ChainMap(own, dict(os.environ)))
    assert any(map(story, web.hits))


def story(hit: Hit) -> bool:
    return "/story" in hit.url and hit.status == HTTPStatus.OK


def run_command(words: list[str], web: Web, folder: Path, environment: Mapping[str, str]) -> None:
    """Run a command to its end, or until it has fetched a page and is interrupted."""
    line = shlex.join(words)
    with (folder / "out.txt").open("w+b") as out:
        process = subprocess.Popen(
            words, cwd=folder, env={**environment}, stdout=out, stderr=subprocess.STDOUT
        )
        try:
            if any(one in line for one in UNTIL_STOPPED):
                before = len(web.hits)
                until(
                    lambda: "dashboard" in line or any(map(story, web.hits[before:])),
                    lambda: f"{line}: no story was requested",
                )
                until(lambda: out.seek(0, os.SEEK_END), lambda: f"{line}: nothing was written")
                process.send_signal(signal.SIGINT)
            status = process.wait(2 * PATIENCE)
        finally:
            process.kill()
        out.seek(0)
        assert status == 0, (line, out.read().decode()[-3000:])
