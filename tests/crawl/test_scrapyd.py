"""Real scrapyd: an egg is deployed, a crawl scheduled with arguments, its items fetched."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

import pytest
from scrapyd_client import ScrapydClient

from tests.crawl.run import MEASURED, QUICK, ROOT, stored
from tests.crawl.web import Answer, Page, Web, article
from tests.ports import free_port
from tests.waiting import PATIENCE, until
from topiccrawl.commands.init import create
from topiccrawl.topics.topic import Topic

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = (
    "import topiccrawl; print(topiccrawl.__file__); from scrapy.cmdline import execute; execute()"
)
BIN = Path(sys.executable).parent
DIRECT = build_opener(ProxyHandler({}))
NEWS = "新能源汽车销量增长，电动汽车与动力电池企业加快布局，充电桩建设提速。"
PAGES: dict[str, Page] = {
    "http://a.test/": article("新能源汽车", NEWS, "http://a.test/1"),
    "http://a.test/1": article("动力电池", NEWS * 2),
    "http://slow.test/": article("新能源汽车", NEWS, *(f"http://slow.test/{i}" for i in range(99))),
    **{
        f"http://slow.test/{i}": Answer(article(f"电动汽车{i}", NEWS), seconds=0.1)
        for i in range(99)
    },
}


def arguments(**settings: str) -> list[tuple[str, str]]:
    return [("setting", f"{name}={value}") for name, value in settings.items()]


@contextmanager
def scrapyd(folder: Path, proxy: str) -> Iterator[str]:
    """Run scrapyd with all of its files in ``folder``; yield its URL."""
    home = project(folder, ROOT / "deploy" / "scrapyd", "", name="home")
    environment = {**os.environ, "http_proxy": proxy, "PYTHONPATH": f"{ROOT}:{home}"}
    environment.pop(MEASURED, None)  # other tests cover the same code
    environment.pop("SCRAPY_SETTINGS_MODULE", None)  # the egg's setting applies
    daemon, url = start_daemon(home, environment, folder / "scrapyd.log")
    try:
        yield url
    finally:
        daemon.terminate()
        daemon.wait(PATIENCE)


def start_daemon(
    home: Path, environment: dict[str, str], log: Path
) -> tuple[subprocess.Popen[bytes], str]:
    """Start a daemon and wait for it; use another port if the first is taken."""
    for _ in range(3):
        daemon, url = launch(home, environment, log)
        if answers(daemon, url):
            return daemon, url
        daemon.kill()
        daemon.wait()
    raise AssertionError(log.read_text())


def launch(
    home: Path, environment: dict[str, str], log: Path
) -> tuple[subprocess.Popen[bytes], str]:
    """Start a daemon on a free port; return it with its URL."""
    port = free_port()
    config = (home / "scrapyd.conf").read_text()
    for name, value in (("http_port", port), ("poll_interval", 0.1), ("items_dir", "items")):
        config = re.sub(f"(?m)^{name} =.*$", f"{name} = {value}", config)
    (home / "scrapyd.conf").write_text(config)
    with log.open("ab") as output:
        daemon = subprocess.Popen(
            [BIN / "scrapyd", "--pidfile="], cwd=home, env=environment, stdout=output, stderr=output
        )
    return daemon, f"http://127.0.0.1:{port}"


def answers(daemon: subprocess.Popen[bytes], url: str) -> bool:
    """Wait until the daemon answers or ends; return True if it answers."""
    until(lambda: _up(url) or daemon.poll() is not None)
    return daemon.poll() is None


def project(folder: Path, source: Path, url: str, name: str = "project") -> Path:
    """Copy a project, to be deployed to ``url``: building an egg leaves folders behind."""
    unwanted = shutil.ignore_patterns(".*", "data", "build", "*.egg-info", "__pycache__", "tests")
    copy = folder / name
    shutil.copytree(source, copy, ignore=unwanted)
    config = (copy / "scrapy.cfg").read_text()
    (copy / "scrapy.cfg").write_text(config.replace("http://127.0.0.1:6800", url))
    return copy


def deploy(folder: Path, *options: str) -> str:
    done = subprocess.run(
        [BIN / "scrapyd-deploy", *options], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def state_of(client: ScrapydClient, job: str, name: str = "newsroom") -> dict[str, Any]:
    return {entry["id"]: {"state": key, **entry}
            for key, entries in client.jobs(name).items() if isinstance(entries, list)
            for entry in entries}.get(job, {"state": ""})  # fmt: skip


@pytest.mark.crawl
@pytest.mark.slow
def test_egg_is_deployed_and_crawls_scheduled_and_cancelled(tmp_path: Path) -> None:
    with Web(PAGES) as web, scrapyd(tmp_path, web.proxy) as url:
        client = ScrapydClient(url)
        thin = project(tmp_path, ROOT / "deploy" / "scrapyd", url)
        assert client.spiders("newsroom") == ["template", "topic", "work"], "without a deployment"
        assert '"status": "ok"' in deploy(thin, "--version", "1")
        quick = {name: value for name, value in QUICK.items() if name != "SPIDER_MODULES"}
        data = tmp_path / "state"
        settings = arguments(**quick, TOPICCRAWL_DATA_DIR=str(data))
        job = client.schedule("newsroom", "topic", [
            ("topic", "新能源汽车"), ("seeds", "http://a.test/"), *settings,
        ])  # fmt: skip
        quick["CONCURRENT_REQUESTS_PER_DOMAIN"] = "1"
        settings = arguments(**quick, TOPICCRAWL_DATA_DIR=str(tmp_path / "other"))
        slow = _posted(f"{url}/schedule.json", [
            ("project", "newsroom"), ("spider", "topic"), ("topic", "新能源汽车"),
            ("seeds", "http://slow.test/"), *settings,
        ])["jobid"]  # fmt: skip
        done = until(lambda: (found := state_of(client, job))["state"] == "finished" and found)
        until(lambda: web.count("http://slow.test/1") + web.count("http://slow.test/2"))
        assert client.cancel("newsroom", slow)["prevstate"] == "running"
        ended = until(lambda: (found := state_of(client, slow))["state"] == "finished" and found)
        log = _text(url + ended["log_url"])
        assert "stopped; no data is lost" in (tmp_path / "scrapyd.log").read_text() + log
        assert "Spider closed (shutdown)" in log
        assert "Spider closed (finished)" in _text(url + done["log_url"])
        items = [json.loads(line) for line in _text(url + done["items_url"]).splitlines()]
        assert sorted({item["url"] for item in items}) == stored(data)[: len(items)]
        assert items
        before = len(stored(tmp_path / "other"))
        assert 0 < before < 50, "cancelled in the middle"
        quick["CONCURRENT_REQUESTS_PER_DOMAIN"] = "8"
        again = client.schedule("newsroom", "topic", [
            ("topic", "新能源汽车"), ("seeds", "http://slow.test/"),
            *arguments(**quick, TOPICCRAWL_DATA_DIR=str(tmp_path / "other")),
        ])  # fmt: skip
        until(lambda: state_of(client, again)["state"] == "finished")
        pages = [page for page in PAGES if page.startswith("http://slow.test/")]
        assert {web.count(page) for page in pages} == {1}, "none is lost or fetched twice"
        assert stored(tmp_path / "other") == sorted(pages)[1:], "all except the front page"


@pytest.mark.crawl
@pytest.mark.slow
def test_job_of_a_created_project_finds_its_topic_file(tmp_path: Path) -> None:
    made = tmp_path / "my-news"
    create(made, Topic(name="workshop", terms={"新能源汽车": 1, "动力电池": 1}))
    with Web(PAGES) as web, scrapyd(tmp_path, web.proxy) as url:
        deploy(project(tmp_path, made, url), "--version", "1")
        quick = {name: value for name, value in QUICK.items() if name != "SPIDER_MODULES"}
        client, data = ScrapydClient(url), tmp_path / "state"
        job = client.schedule("my_news", "topic", [
            ("topic", "workshop"), ("seeds", "http://a.test/"),
            *arguments(**quick, TOPICCRAWL_DATA_DIR=str(data)),
        ])  # fmt: skip
        until(lambda: state_of(client, job, "my_news")["state"] == "finished")
    assert "http://a.test/1" in stored(data), "judged by the words of the file, not by its name"


@pytest.mark.crawl
@pytest.mark.slow
def test_crawl_runs_from_a_zipped_egg_of_the_project(tmp_path: Path) -> None:
    folder = project(tmp_path, ROOT, "http://127.0.0.1:6800")
    egg = tmp_path / "topiccrawl.egg"
    deploy(folder, "--build-egg", str(egg))
    with Web(PAGES) as web:
        environment = {**os.environ, "http_proxy": web.proxy, "PYTHONPATH": str(egg),
                       "SCRAPY_SETTINGS_MODULE": "topiccrawl.settings"}  # fmt: skip
        environment.pop(MEASURED, None)
        options = [part for name, value in QUICK.items() if name != "SPIDER_MODULES"
                   for part in ("-s", f"{name}={value}")]  # fmt: skip
        done = subprocess.run(
            [
                sys.executable, "-c",
                PROGRAM, "crawl", "topic", "-a", "topic=new-energy-vehicles",
                "-a", "seeds=http://a.test/", *options,
            ],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
            timeout=PATIENCE,
        )  # fmt: skip
    assert done.stdout.startswith(str(egg)), done.stderr
    assert done.returncode == 0, done.stderr
    assert stored(tmp_path / "data")


def _up(url: str) -> bool:
    try:
        return bool(_text(f"{url}/daemonstatus.json"))
    except OSError:
        return False


def _posted(url: str, form: list[tuple[str, str]]) -> Any:
    with DIRECT.open(url, urlencode(form).encode(), timeout=PATIENCE) as answer:
        return json.load(answer)


def _text(url: str) -> str:
    with DIRECT.open(url, timeout=PATIENCE) as answer:
        return str(answer.read().decode())
