"""Crawls in processes of their own, whose web is a server of the benchmark."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from lab.demo.crawl import options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchmarks.nodes_trial import EvenWeb
    from lab.demo import Web


def topic_crawl(web: Web | EvenWeb) -> list[str]:
    """Return the arguments of ``scrapy`` for a crawl of a web."""
    return ["crawl", "topic", "-a", f"topic={web.topic}", "-a", f"seeds={','.join(web.seeds)}"]


def environment(proxy: str) -> dict[str, str]:
    """Return the environment of a crawl that fetches everything from a proxy."""
    given = {"http_proxy": proxy, "https_proxy": proxy, "no_proxy": ""}
    return {**os.environ, **given, "SCRAPY_SETTINGS_MODULE": "topiccrawl.settings"}


def start(
    arguments: Sequence[str], settings: Mapping[str, object], proxy: str, log: Path
) -> subprocess.Popen[bytes]:
    """Start ``scrapy`` with arguments and settings; its output is appended to a file."""
    with log.open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "scrapy", *arguments, *options(settings)],
            env=environment(proxy), stdout=output, stderr=output,
        )  # fmt: skip


def processor_seconds(process: subprocess.Popen[bytes]) -> float:
    """Wait for the end of a process; return the processor time of it and of its children."""
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime
