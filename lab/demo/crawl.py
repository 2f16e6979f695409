"""Crawl of a demo web: server, ``scrapy crawl topic`` in a sub-process, and judgement."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from lab.demo.judge import judge
from lab.demo.server import DemoServer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from types import FrameType

    from lab.demo.web import Web

_SETTINGS = {
    "DOWNLOAD_DELAY": "0.05",
    "AUTOTHROTTLE_ENABLED": "False",
    "DOWNLOAD_TIMEOUT": "5",
    "TOPICCRAWL_RETRY_DELAY": "1",
    "LOG_LEVEL": "INFO",
}
"""Settings for a web on the same machine; later ``-s`` of the operator override them."""
_PASSED_ON = (signal.SIGINT, signal.SIGTERM)


def crawl(web: Web, folder: Path, arguments: Sequence[str] = (), port: int = 0) -> int:
    """Crawl a web for its topic, print a judgement and return the crawl's exit status.

    Args:
        web: The web to crawl.
        folder: Folder of the server's log (``access.tsv``, overwritten) and the crawl's state.
        arguments: More arguments for ``scrapy crawl``.
        port: Port of the server; 0 for a free one.
    """
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "access.tsv"
    log.unlink(missing_ok=True)
    with DemoServer(web, log=log, port=port) as server:
        status = run(command(web, folder, arguments), server.proxy)
    print(f"\nThe demo web's own judgement ({log}):\n{judge(log, web)}")  # noqa: T201
    return status


def command(web: Web, folder: Path, arguments: Sequence[str] = ()) -> list[str]:
    """Return the command that crawls a web for its topic."""
    settings = {**_SETTINGS, "TOPICCRAWL_DATA_DIR": folder}
    line = [sys.executable, "-m", "scrapy", "crawl", "topic"]
    line += ["-a", f"topic={web.topic}", "-a", f"seeds={','.join(web.seeds)}", "-a", "fresh=1"]
    return [*line, *options(settings), *arguments]


def options(settings: Mapping[str, object]) -> list[str]:
    """Return settings as options of ``scrapy``."""
    return [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]


def run(line: Sequence[str], proxy: str) -> int:
    """Run a command with a proxy for the web; return its exit status.

    SIGINT and SIGTERM are forwarded to it, each once, even if a terminal sends them to the
    whole process group. A command killed by signal N gives 128 + N, as in a shell.
    """
    kept = {k: v for k, v in os.environ.items() if k.lower() not in {"no_proxy", "https_proxy"}}
    environment = {**kept, "http_proxy": proxy}
    environment.setdefault("SCRAPY_SETTINGS_MODULE", "topiccrawl.settings")
    start = subprocess.Popen(line, env=environment, start_new_session=True)  # noqa: S603
    with start as child, _passing_on(child):
        status = child.wait()
    return status if status >= 0 else 128 - status


@contextlib.contextmanager
def _passing_on(child: subprocess.Popen[bytes]) -> Iterator[None]:
    def pass_on(number: int, _frame: FrameType | None) -> None:
        child.send_signal(number)

    former = {number: signal.signal(number, pass_on) for number in _PASSED_ON}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
