"""Tests of the add-on in a new Scrapy project with Scrapy's own middlewares."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.crawl.web import Answer, Page, Web, article
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crawl

SITE = "http://news.test"
TEXT = "新能源汽车的动力电池今天有了新进展，充电桩建设加快，电动汽车销量继续增长。"
PAGES: dict[str, Page] = {
    f"{SITE}/": article("新能源汽车频道", TEXT, f"{SITE}/1", f"{SITE}/2", f"{SITE}/1"),
    f"{SITE}/1": article("新能源汽车销量创新高", TEXT + "一。"),
    f"{SITE}/2": article("新能源汽车充电桩", TEXT + "二。", f"{SITE}/"),
}
SPIDERS = """
import scrapy
from topiccrawl import find_topic
from topiccrawl.scheduler.context import CrawlSpec
from topiccrawl.spiders.topic import TopicSpider

class PlainSpider(scrapy.Spider):
    name = "plain"
    custom_settings = {"ITEM_PIPELINES": {"stock.pipelines.StockPipeline": 1}}
    start_urls = ["http://news.test/"]

    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a")

class FilesSpider(scrapy.Spider):
    name = "files"
    custom_settings = {
        "ITEM_PIPELINES": {"scrapy.pipelines.files.FilesPipeline": 1}, "FILES_STORE": "files",
    }
    start_urls = ["http://news.test/"]

    async def parse(self, response):
        names = ("open.txt", *(f"closed/{i}.txt" for i in range(5)))  # which wait for robots.txt
        yield {"file_urls": [f"http://img.test/{name}" for name in names]}
        try:
            copy = response.request.replace(url="http://img.test/closed/b.txt")
            await self.crawler.engine.download_async(copy)
        except scrapy.exceptions.IgnoreRequest:
            self.logger.info("closed to copies")

class RuledSpider(PlainSpider):
    name = "ruled"
    spec = CrawlSpec(name="ruled", owner="ruled", topic=find_topic("足球"))

class MineSpider(TopicSpider):
    name = "mine"

    @classmethod
    def update_settings(cls, settings):
        super().update_settings(settings)
        settings.set("USER_AGENT", "mine", priority="spider")

    @classmethod
    def plan(cls, settings, /, *args, desk="", **kwargs):
        return super().plan(settings, *args, **kwargs)

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.logger.info("desk: %s", kwargs.get("desk"))
        return spider
"""
QUICK = "\nDOWNLOAD_DELAY = 0\nAUTOTHROTTLE_ENABLED = False\nLOG_LEVEL = 'INFO'\n"


def scrapy(folder: Path, *arguments: str, proxy: str = "") -> tuple[int, str]:
    """Run a command in a folder; return its exit status and output."""
    environment = {name: value for name, value in os.environ.items() if name[:6] != "SCRAPY"}
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *arguments], cwd=folder, timeout=PATIENCE, check=False,
        env={**environment, "http_proxy": proxy, "no_proxy": ""},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Create a project; enable the settings that its template has as comments."""
    status, out = scrapy(tmp_path, "startproject", "stock")
    assert status == 0, out
    folder = tmp_path / "stock"
    settings = folder / "stock" / "settings.py"
    text = settings.read_text()
    for name in ("SPIDER_MIDDLEWARES", "DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES"):
        block = re.search(rf"^#{name} = {{\n(#.*\n)+?#}}\n", text, re.MULTILINE)
        assert block is not None
        text = text.replace(block[0], re.sub("^#", "", block[0], flags=re.MULTILINE))
    text = text.replace("ADDONS = {}", 'ADDONS = {"topiccrawl.Addon": 100}')
    settings.write_text(text + QUICK)
    middlewares = folder / "stock" / "middlewares.py"
    text = middlewares.read_text()  # Scrapy 2.19 refuses the synchronous one of its own template
    text = text.replace("    def process_spider_output", "    async def process_spider_output")
    middlewares.write_text(text.replace("        for i in result", "        async for i in result"))
    (folder / "stock" / "spiders" / "news.py").write_text(SPIDERS)
    return folder


def test_plain_spider_of_stock_project_uses_the_frontier(project: Path) -> None:
    with Web(PAGES) as web:
        status, out = scrapy(project, "crawl", "plain", "-O", "items.jl", proxy=web.proxy)
        assert sorted(hit.url for hit in web.hits) == sorted([*PAGES, f"{SITE}/robots.txt"])
    assert (status, "Traceback" in out) == (0, False), out[-3000:]
    items = [json.loads(line) for line in (project / "items.jl").read_text().splitlines()]
    assert {item["url"] for item in items} == set(PAGES)
    status, out = scrapy(
        project, "crawl", "plain", "-s", "DUPEFILTER_CLASS=scrapy.dupefilters.BaseDupeFilter",
        "-s", "SCHEDULER_START_MEMORY_QUEUE=scrapy.squeues.FifoMemoryQueue",
    )  # fmt: skip
    assert "spider-plain continues: 3 URLs were fetched before, 0 are queued" in out, out[-3000:]
    for name in ("DUPEFILTER_CLASS", "SCHEDULER_START_MEMORY_QUEUE"):
        assert f"{name} has no effect: the frontier" in out, out[-3000:]
    status, out = scrapy(project, "frontier", "stats", "-s", "TOPICCRAWL_CRAWL=spider-plain")
    assert status == 0, out[-3000:]
    assert re.search(r"crawled\D+3\b", out), out
    status, out = scrapy(project, "doctor", "settings")
    assert status == 0, out


@pytest.mark.parametrize("scheduler", ["", "scrapy.core.scheduler.Scheduler"])
def test_direct_requests_obey_robots_txt_and_are_retried(project: Path, scheduler: str) -> None:
    rules = Answer("User-agent: *\nDisallow: /closed/\n")
    statuses = {"http://img.test/open.txt": iter((503, 200)), f"{SITE}/": iter((503, 200))}
    files: dict[str, Page] = {
        url: lambda one: Answer("text", next(statuses[one.path])) for url in statuses
    }
    own = ("-s", f"SCHEDULER={scheduler}") if scheduler else ("-s", "TOPICCRAWL_RETRY_DELAY=0")
    with Web({"http://img.test/robots.txt": rules, **files}) as web:
        status, out = scrapy(project, "crawl", "files", "-O", "items.jl", *own, proxy=web.proxy)
        fetched = [hit.url for hit in web.hits if "img.test" in hit.url]
    assert (status, "closed to copies" in out) == (0, True), out[-3000:]
    assert "'retry/count': 2," in out, "tools read the stats of Scrapy's retry middleware"
    assert fetched == ["http://img.test/robots.txt", *["http://img.test/open.txt"] * 2]
    (item,) = [json.loads(line) for line in (project / "items.jl").read_text().splitlines()]
    assert [file["url"] for file in item["files"]] == ["http://img.test/open.txt"]


@pytest.mark.parametrize("name", ["plain", "ruled"])
@pytest.mark.slow
def test_page_budget_ends_any_spider(project: Path, name: str) -> None:
    crawl = ("crawl", name, "-s", "TOPICCRAWL_PAGES=2")
    with Web(PAGES) as web:
        status, out = scrapy(project, *crawl, proxy=web.proxy)
        assert (status, "'finish_reason': 'topiccrawl_pages'" in out) == (0, True), out[-3000:]
        assert sum(map(web.count, PAGES)) == 2
        assert "on topic" not in out, "its pages are not judged"
        status, out = scrapy(project, *crawl, proxy=web.proxy)
        assert (status, sum(map(web.count, PAGES))) == (0, 3), out[-3000:]


@pytest.mark.slow
def test_scrapy_commands_leave_no_state_in_stock_project(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER", "true")  # a command that does nothing
    page, robots = f"{SITE}/1", Answer("User-agent: *\nDisallow: /no")
    (project / "page.html").write_text("<title>local</title>")
    code = ("-c", "response and response.status")
    commands = {
        ("parse", page, "--spider", "plain", "--nocolour"): f"'url': '{page}'",
        ("fetch", page, "--nolog"): "新能源汽车销量创新高",
        ("fetch", page, "--spider", "topic", "--nolog"): "新能源汽车销量创新高",
        ("fetch", page, "--spider", "mine", "--headers", "--nolog"): "> User-Agent: mine\n",
        ("view", page): "Spider closed (finished)",
        ("shell", page, *code, "--nolog"): "200",
        ("shell", page, "--spider", "topic", *code, "--nolog"): "200",
        ("shell", f"{SITE}/no", *code, "--nolog"): "None",
        ("shell", "./page.html", *code, "--nolog"): "200",
        ("check", "plain"): "Ran 0 contracts",
        ("list",): "mine\nplain\nruled\ntemplate\ntopic\nwork\n",
    }
    with Web({**PAGES, f"{SITE}/robots.txt": robots}) as web:
        for command, expected in commands.items():
            status, out = scrapy(project, *command, proxy=web.proxy)
            assert (status, expected in out) == (0, True), (command, out[-3000:])
    assert not (project / "data").exists()


@pytest.mark.slow
def test_worker_of_stock_project_crawls_its_tasks(project: Path) -> None:
    status, out = scrapy(project, "tasks", "create", f"{SITE}/", "--topic", "新能源汽车")
    assert status == 0, out
    with Web(PAGES) as web:
        status, out = scrapy(project, "work", "--once", proxy=web.proxy)
    assert status == 0, out[-3000:]
    status, out = scrapy(project, "tasks", "list")
    assert "finished  新能源汽车  1 site, 3 pages" in out, out
    assert (project / "data" / "VERSION").is_file()
    (project / "data/frontiers/finished").mkdir()  # what a finished period leaves
    status, out = scrapy(project, "frontier", "stats")
    assert (status, "TOPICCRAWL_CRAWL=NAME: task-1.news.test" in out) == (1, True), out
    assert "finished" not in out


def test_crawl_of_topiccrawl_checks_its_arguments_in_any_project(project: Path) -> None:
    crawl = (sys.executable, "-m", "topiccrawl", "crawl", "g")
    for wanted, settings in (
        ("topic 'g' has no word", ""), ("add ADDONS = {", "\nADDONS = {}\nCOMMANDS_MODULE = ''\n"),
    ):  # fmt: skip
        with (project / "stock" / "settings.py").open("a") as file:
            file.write(settings)
        done = subprocess.run(crawl, cwd=project, check=False, capture_output=True, text=True)
        shown = done.stderr
        assert (done.returncode, wanted in shown, "Traceback" in shown) == (2, True, False), shown


def test_spider_of_the_project_is_no_topic(project: Path) -> None:
    """Otherwise ``topiccrawl crawl plain`` requests news portals for the word plain."""
    crawl = (sys.executable, "-m", "topiccrawl", "crawl")
    with Web(PAGES) as web:
        done = subprocess.run(
            (*crawl, "plain", "-o", "found.jsonl", "-s", "DOWNLOAD_DELAY=0"), cwd=project,
            env={**os.environ, "http_proxy": web.proxy},
            check=False, capture_output=True, text=True,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len((project / "found.jsonl").read_text().splitlines()) == len(PAGES), done.stderr
    done = subprocess.run(
        (*crawl, "plain", "--seeds", "nothing"), cwd=project,
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, "argument seeds" in done.stderr) == (2, True), done.stderr


def test_crawl_of_scrapy_has_its_own_statuses_unless_the_project_names_our_commands(
    project: Path,
) -> None:
    """As docs/scrapy.md says."""
    words = ("crawl", "topic", "-a", "topic=足球", "-a", "seeds=news.test")
    status, out = scrapy(project, *words)
    assert (status, "Traceback" in out, "is not an HTTP URL" in out) == (1, True, True), out
    with (project / "stock" / "settings.py").open("a") as file:
        file.write("\nCOMMANDS_MODULE = 'topiccrawl.commands'\n")
    status, out = scrapy(project, *words)
    assert (status, "Traceback" in out, "is not an HTTP URL" in out) == (2, False, True), out


def test_commands_need_no_project_but_projects_need_the_add_on(tmp_path: Path) -> None:
    status, out = scrapy(tmp_path, "articles", "list")
    assert (status, "no crawl has been run" in out) == (1, True), out
    assert scrapy(tmp_path, "startproject", "stock")[0] == 0
    status, out = scrapy(tmp_path / "stock", "articles", "list")
    assert (status, "Traceback" in out) == (1, False), out
    assert 'ADDONS = {"topiccrawl.Addon": 100}' in out


def test_articles_that_a_pipeline_converts_before_the_store_are_reported(project: Path) -> None:
    pipelines = project / "stock" / "pipelines.py"
    pipelines.write_text(pipelines.read_text().replace("return item", "return {'url': item.url}"))
    crawl = ("crawl", "topic", "-a", "topic=新能源汽车", "-a", f"seeds={SITE}/")
    with Web(PAGES) as web:
        status, out = scrapy(project, *crawl, "-s", "TOPICCRAWL_READERS=0", proxy=web.proxy)
    assert (status, "Traceback" in out) == (0, False), out[-3000:]
    assert out.count("Items of type dict are not stored: give pipelines that") == 1, out[-3000:]


@pytest.mark.parametrize(("name", "readers"), [("mine", 1), ("topic", 0), ("topic", 1)])
@pytest.mark.slow
def test_topic_spiders_of_a_stock_project_store_articles(
    project: Path, name: str, readers: int
) -> None:
    topic = (
        "-a",
        "topic=新能源汽车",
        "-a",
        f"seeds={SITE}/",
        "-s",
        f"TOPICCRAWL_READERS={readers}",
    )
    own = ("-a", "desk=cars") if name == "mine" else ()
    with Web(PAGES) as web:
        status, out = scrapy(project, "crawl", name, *topic, *own, proxy=web.proxy)
    assert (status, "Traceback" in out) == (0, False), out[-3000:]
    assert ("desk: cars" in out) == (name == "mine"), out[-3000:]
    status, out = scrapy(project, "articles", "list")
    assert (status, f"{SITE}/1" in out, f"{SITE}/2" in out) == (0, True, True), out
