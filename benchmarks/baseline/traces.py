"""Surface observed in crawls: stats, documents, HTTP responses, metrics, exit statuses.

The demo web and its companies are crawled with SQLite and with the tests' MongoDB server; names
of fields are stored, but not their values. One request is in flight at a time: the order of pages,
and so which stats occur, would otherwise depend on the load of the machine.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sqlite3
import subprocess
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import ProxyHandler, build_opener

from pymongo import MongoClient
from typing_extensions import override

from benchmarks.baseline.orders import STEADY
from lab.demo import DemoServer, generate
from lab.demo.companies.crawl import DISCOVER, TEMPLATE, serving
from lab.demo.companies.web import CompanyWeb
from tests import mongo_server
from tests.crawl.run import ROOT, command, log_of, run, running
from tests.ports import free_port
from tests.receiver import SECRET, Listener
from tests.waiting import PATIENCE, until
from topiccrawl.addons.dashboard.metrics import exposition

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGES, COMPANIES, SEED = 120, 8, 3
NOWHERE = "http://nowhere.test/"
READING = (
    "articles list", f"articles show {NOWHERE}", f"articles forget {NOWHERE}", f"why {NOWHERE}",
    "frontier stats", f"frontier requeue {NOWHERE}", "records list", "records show nothing",
    "tasks list", "tasks show 99", "control show", "report",
)  # fmt: skip
"""Commands whose exit status is stored, in a folder with crawls and in an empty one."""
ELSEWHERE = (
    "topics list", "topics nonsense", "articles nonsense", "doctor settings",
    "doctor settings -s DOWNLOAD_TIMEOUT=soon", "simulate none.jsonl",
    "simulate none.jsonl --topic 足球", "crawl", "crawl nothing", "crawl topic",
    "crawl topic -a topic=足球 -a nonsense=1", "crawl topic -a topic=足球 -a seeds=nowhere",
    f"crawl topic -a topic=足球 -a seeds={NOWHERE} -s RETRY_TIMES=0",
    "crawl template -a template=none", "nonsense",
)  # fmt: skip
"""Commands whose exit status does not depend on the folder."""
OPEN = {"TOPICCRAWL_DASHBOARD_TOKEN": "off"}
ANSWERS = ("api/state", "api/articles", "api/more", "api/tasks", "api/workers")
BY_TIME = {"TOPICCRAWL_NEWS_FILTER": "1"}
"""Settings that make stats depend on the order of pages; no stats are read of that crawl."""
DEPTH = 2
"""Levels of a response whose names are kept; deeper names often come from data."""
BUSY = frozenset(("topiccrawl/stalled",))
"""Stats that occur only on a busy machine."""


class RecordingListener(Listener):
    """A webhook's receiver that records the messages."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[dict[str, Any]] = []

    @override
    def take(self, headers: Any, body: bytes) -> int:
        self.messages.append(json.loads(body))
        return super().take(headers, body)


def of_crawls() -> dict[str, Any]:
    """Return the names in stored data of crawls, by kind."""
    with tempfile.TemporaryDirectory(prefix="topiccrawl-baseline-") as folder:
        data, empty = Path(folder) / "data", Path(folder) / "empty"
        logs, messages = crawled(data)
        with mongo_server.running() as uri:
            address = mongo_server.database_uri(uri, data)
            crawled(Path(folder) / "mongo", MONGODB_URI=address, **BY_TIME)
            in_mongo = dict(collections(address))
        found: dict[str, Any] = {
            "stats": sorted({name for log in logs for name in stats_in(log)}),
            "mongodb": in_mongo,
            "webhook": sorted(names_in(messages)),
            "tasks": task_fields(data),
            "exports": dict(exports(data)),
            "http": dict(answers(data)),
        }
        found["sqlite"] = dict(tables(data))
        found["statuses after crawls"] = {line: status(data, line) for line in READING}
        lines = READING + ELSEWHERE
        found["statuses in an empty folder"] = {line: status(empty, line) for line in lines}
    return found


def crawled(data: Path, **settings: str) -> tuple[list[str], list[dict[str, Any]]]:
    """Crawl the demo web and its companies; return the logs and the webhook's messages.

    Raises:
        RuntimeError: If a crawl fails; with the end of its log.
    """
    web = generate(SEED, PAGES, traps=False, faults=False)
    logs = []
    with DemoServer(web) as server, RecordingListener() as listener:
        wanted = {
            "TOPICCRAWL_FRAMES": "1", "WARC_DIR": str(data / "warc"),
            "TOPICCRAWL_WEBHOOK": listener.url, "TOPICCRAWL_WEBHOOK_SECRET": SECRET,
            "TOPICCRAWL_STOP_YIELD": "0.001", "CONCURRENT_REQUESTS": "1", **settings,
        }  # fmt: skip
        words = ("-a", f"topic={web.topic}", "-a", f"seeds={','.join(web.seeds)}")
        logs += [
            _run(server.proxy, data, "crawl", "topic", *words, *more, **wanted)
            for more in ((), ("-a", "watch=once"))
        ]
    with serving(CompanyWeb(SEED, COMPANIES)) as proxy:
        words = ("-a", f"template={TEMPLATE}", "-a", DISCOVER)
        logs.append(_run(proxy, data, "crawl", "template", *words, **settings))
    return logs, listener.messages


def _run(proxy: str, data: Path, *words: str, **settings: str) -> str:
    code, text = run(proxy, data, *words, **settings)
    if code:
        raise RuntimeError(f"scrapy {' '.join(words)}: status {code}: {text[-2000:]}")
    return text


def stats_in(log: str) -> Iterator[str]:
    """Yield the names of our stats in a log, without numbers in them and without ``BUSY``."""
    for name in re.findall(r"'(topiccrawl/[^']+)':", log):
        if name not in BUSY:
            yield re.sub(r"(?<=[/-])\d+$", "N", name)


def tables(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each table of the databases in a folder with its columns."""
    for file in sorted(data.rglob("*.sqlite")):
        with closing(sqlite3.connect(file)) as base:
            query = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
            for (table,) in base.execute(query).fetchall():
                columns = base.execute(f"PRAGMA table_info({table})").fetchall()
                lines = [f"{name} {kind}".strip() for _, name, kind, *_ in columns]
                yield f"{file.relative_to(data)} {table}", lines


def collections(uri: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each collection of a database with the names of its documents' fields."""
    with MongoClient[dict[str, Any]](uri) as client:
        base = client.get_default_database()
        for name in sorted(base.list_collection_names()):
            yield name, sorted({field for one in base[name].find() for field in one})


def names_in(values: Iterable[Any], depth: int = DEPTH, before: str = "") -> set[str]:
    """Return the paths of all names in some JSON values; those in lists count as one.

    >>> sorted(names_in([{"a": {"b": {"c": 1}}}, {"d": [{"e": 2}]}]))
    ['a.b', 'd.e']
    """
    found: set[str] = set()
    for value in values:
        if isinstance(value, list):
            found |= names_in(value, depth, before)
        elif isinstance(value, dict) and depth:
            for name, below in value.items():
                path = f"{before}{name}"
                found |= names_in([below], depth - 1, f"{path}.") or {path}
    return found


def task_fields(data: Path) -> list[str]:
    """Return the names in what ``scrapy tasks`` writes of a task."""
    words = ("tasks", "create", "a.test", "--topic", "足球", "--json")
    return sorted(names_in([json.loads(_line(data, *words))]))


def exports(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield what is exported of articles and records, by command and form."""
    for what in ("articles", "records"):
        place = data / f"{what}.jsonl"
        _line(data, what, "export", str(place))
        rows = map(json.loads, place.read_text(encoding="utf-8").splitlines())
        yield f"{what} jsonl", sorted(names_in(rows, 1))
        place = data / f"{what}.csv"
        _line(data, what, "export", str(place))
        yield f"{what} csv", place.read_text("utf-8-sig").splitlines()[0].split(",")
    place = data / "articles.atom"
    _line(data, "articles", "export", str(place))
    yield "articles atom", sorted(set(re.findall(r"<([a-z:]+)", place.read_text("utf-8"))))


def answers(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the names in each answer of ``scrapy dashboard``, metrics included."""
    with dashboard(data) as url:
        for path in ANSWERS:
            yield path, sorted(names_in([json.loads(_get(f"{url}/{path}"))]))
        state = json.loads(_get(f"{url}/api/state"))
    yield "metrics", sorted(set(metrics(state)))


def metrics(state: dict[str, Any]) -> Iterator[str]:
    """Yield each metric of a crawl with its labels; one that would have no sample is given one."""
    state["errors"], state["hosts"]["states"] = {"http-404": 1}, {"ready": 1}
    for line in exposition([state])[0].decode().splitlines():
        if not line.startswith("#"):
            name, _, labels = line.rpartition(" ")[0].partition("{")
            yield " ".join([name, *re.findall(r'(\w+)="', labels)])


@contextmanager
def dashboard(data: Path) -> Iterator[str]:
    """Run a dashboard; yield its URL."""
    address = f"127.0.0.1:{free_port()}"
    with running("", data, "dashboard", address, **OPEN):
        until(lambda: "Dashboard: " in log_of(data).read_text("utf-8", "replace"))
        yield f"http://{address}"


def status(data: Path, line: str) -> int:
    """Return the exit status of a command."""
    return _done(data, *shlex.split(line)).returncode


def _line(data: Path, *words: str) -> str:
    """Return the output of a command; raise RuntimeError if it fails."""
    done = _done(data, *words)
    if done.returncode:
        raise RuntimeError(f"scrapy {' '.join(words)}: {done.stderr[-2000:]}")
    return done.stdout


def _done(data: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(data, *words), cwd=data.parent, check=False, capture_output=True, text=True,
        env={**os.environ, **STEADY, "PYTHONPATH": str(ROOT)}, timeout=PATIENCE,
    )  # fmt: skip


def _get(url: str) -> str:
    with build_opener(ProxyHandler({})).open(url, timeout=PATIENCE) as answer:
        text: str = answer.read().decode()
    return text
