"""A crawled page in pywb, set up as in docs/storage.md: its links stay in the archive.

pywb is licensed under GPL-3 and needs other package versions, so it is installed in a separate
environment and runs as a process. ``TOPICCRAWL_TEST_PYWB=FOLDER`` names a virtual environment with
pywb, ``TOPICCRAWL_TEST_PYWB=1`` creates one.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import ProxyHandler, build_opener

import pytest

from tests.crawl.run import run
from tests.crawl.web import Page, Web, article
from tests.ports import free_port
from tests.waiting import PATIENCE, until

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST = "http://news.test"
WANTED = os.environ.get("TOPICCRAWL_TEST_PYWB", "")
CONFIG = """
collections:
  news:
    index_paths: warc/
    archive_paths: warc/
"""
"""Configuration from docs/storage.md."""

pytestmark = [
    pytest.mark.pywb,
    pytest.mark.slow,
    pytest.mark.crawl,
    pytest.mark.skipif(
        not WANTED, reason="TOPICCRAWL_TEST_PYWB names no environment with pywb: make test-slow"
    ),
]


def wayback(folder: Path) -> Path:
    """Return pywb's program, from the named environment or from a new one."""
    if WANTED != "1":
        return Path(WANTED) / "bin" / "wayback"
    place = folder / "pywb"
    install = [str(place / "bin" / "python"), "-m", "pip", "install", "--quiet", "pywb"]
    try:
        subprocess.run([sys.executable, "-m", "venv", place], check=True, timeout=120)
        subprocess.run(install, check=True, timeout=300, capture_output=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"no environment with pywb can be made here: {error}")
    return place / "bin" / "wayback"


@contextmanager
def replayed(program: Path, folder: Path) -> Iterator[str]:
    """Run pywb on the archive of a folder; yield its URL."""
    port = free_port()
    (folder / "config.yaml").write_text(CONFIG)
    with (folder / "pywb.log").open("wb") as log:
        command = [str(program), "-b", "127.0.0.1", "-p", str(port)]
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        until(lambda: _listens(port) or server.poll() is not None)
        assert server.poll() is None, (folder / "pywb.log").read_text()
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def rewritten(page: str, server: str) -> list[str]:
    """Return the targets of a page's links, without the server."""
    return [link.removeprefix(server) for link in re.findall(r'href="([^"]+)"', page)]


def test_page_is_replayed_and_its_links_stay_in_the_archive(tmp_path: Path) -> None:
    program = wayback(tmp_path)
    text = "新能源汽车的动力电池本周开始回收，工厂设在本地，"
    pages: dict[str, Page] = {
        f"{HOST}/": article("新能源汽车", text, f"{HOST}/News/1/"),
        f"{HOST}/News/1/": article("新能源汽车一", text, f"{HOST}/", "http://other.test/"),
    }
    with Web(pages) as web:
        arguments = ("crawl", "topic", "-a", "topic=新能源汽车", "-a", f"seeds={HOST}/")
        warc = {"WARC_DIR": str(tmp_path / "warc")}
        status, out = run(web.proxy, tmp_path / "data", *arguments, **warc)
    assert status == 0, out
    get = build_opener(ProxyHandler({})).open
    with replayed(program, tmp_path) as server:
        with get(f"{server}/news/mp_/{HOST}/", timeout=PATIENCE) as answer:
            first = answer.read().decode()
        (link,) = rewritten(first, server)
        assert re.fullmatch(rf"/news/\d*mp_/{HOST}/News/1/", link)
        with get(server + link, timeout=PATIENCE) as answer:  # as a reader clicks it
            second = answer.read().decode()
    assert "<h1>新能源汽车一</h1>" in second
    assert text in second
    assert [re.sub(r"/\d*mp_/", " ", one) for one in rewritten(second, server)] == [
        f"/news {HOST}/",
        "/news http://other.test/",
    ]
