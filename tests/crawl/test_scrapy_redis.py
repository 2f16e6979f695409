"""Unchanged spiders of scrapy-redis, started by a Redis key, in a project with the add-on."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
import redis

from tests.crawl.web import Page, Web, article
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crawl

SITE = "http://news.test"
TEXT = "新能源汽车的动力电池今天有了新进展，充电桩建设加快，电动汽车销量继续增长。"
PAGES: dict[str, Page] = {
    f"{SITE}/": article("新能源汽车频道", TEXT, f"{SITE}/1", f"{SITE}/2", f"{SITE}/1"),
    f"{SITE}/1": article("新能源汽车销量创新高", TEXT + "一。", f"{SITE}/"),
    f"{SITE}/2": article("新能源汽车充电桩", TEXT + "二。", f"{SITE}/3"),
    f"{SITE}/3": article("新能源汽车电池", TEXT + "三。"),
    f"{SITE}/apart": article("动力电池", TEXT + "四。"),
}
SPIDERS = """
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import Rule
from scrapy_redis.spiders import RedisCrawlSpider, RedisSpider

class PlainSpider(RedisSpider):
    name = "plain"

    def parse(self, response):
        yield {"url": response.url, "job": response.meta.get("job")}
        yield from response.follow_all(css="a")

class RuledSpider(RedisCrawlSpider):
    name = "ruled"
    redis_key = "my_starts"
    rules = [Rule(LinkExtractor(), callback="parse_page", follow=True)]

    def parse_page(self, response):
        yield {"url": response.url, "job": response.meta.get("job")}
"""
SETTINGS = """
BOT_NAME = "plainbot"
SPIDER_MODULES = ["plainbot"]
ADDONS = {"topiccrawl.Addon": 100}
DOWNLOAD_DELAY = 0
AUTOTHROTTLE_ENABLED = False
LOG_LEVEL = "INFO"
MAX_IDLE_TIME_BEFORE_CLOSE = 3
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A Scrapy project with the add-on and two spiders of scrapy-redis."""
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = settings\n")
    (tmp_path / "settings.py").write_text(SETTINGS)
    (tmp_path / "plainbot.py").write_text(SPIDERS)
    return tmp_path


def crawl(folder: Path, spider: str, proxy: str, *options: str) -> tuple[int, str]:
    """Run a crawl that writes items.jl; return its exit status and output."""
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", spider, "-O", "items.jl", *options],
        cwd=folder, timeout=PATIENCE, check=False, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, env={"http_proxy": proxy, "PATH": ""},
    )  # fmt: skip
    return done.returncode, done.stdout


def items(folder: Path) -> dict[str, object]:
    """Return the ``job`` of each item of a crawl, by URL."""
    lines = [json.loads(line) for line in (folder / "items.jl").read_text().splitlines()]
    assert len({line["url"] for line in lines}) == len(lines), "each page once"
    return {line["url"]: line["job"] for line in lines}


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "kind", ["list", pytest.param("set", marks=SLOW), pytest.param("zset", marks=SLOW)]
)
@pytest.mark.parametrize(("spider", "key"), [("plain", "plain:start_urls"), ("ruled", "my_starts")])
def test_scrapy_redis_spider_starts_at_the_urls_of_its_key(
    project: Path, redis_url: str, spider: str, key: str, kind: str
) -> None:
    starts = [f"{SITE}/", json.dumps({"url": f"{SITE}/apart", "meta": {"job": "j7"}})]
    options = ["-s", f"REDIS_URL={redis_url}"]
    with redis.Redis.from_url(redis_url) as server:
        if kind == "list":
            server.rpush(key, *starts)
        elif kind == "set":
            server.sadd(key, *starts)
            options += ["-s", "REDIS_START_URLS_AS_SET=1"]
        else:
            server.zadd(key, dict.fromkeys(starts, 1.0))
            options += ["-s", "REDIS_START_URLS_AS_ZSET=1"]
        with Web(PAGES) as web:
            status, out = crawl(project, spider, web.proxy, *options)
            requests = sorted(hit.url for hit in web.hits)
        assert not server.exists(key)
    assert (status, "Traceback" in out) == (0, False), out[-4000:]
    assert requests == sorted([*PAGES, f"{SITE}/robots.txt"])
    found = items(project)
    if spider == "plain":
        assert found == dict.fromkeys(PAGES) | {f"{SITE}/apart": "j7"}
    else:  # start pages go to parse_start_url, which yields nothing
        assert found.keys() == {f"{SITE}/1", f"{SITE}/2", f"{SITE}/3"}


@pytest.mark.slow
def test_project_can_keep_the_scheduler_of_scrapy_redis(project: Path, redis_url: str) -> None:
    options = [
        f"REDIS_URL={redis_url}", "SCHEDULER=scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS=scrapy_redis.dupefilter.RFPDupeFilter", "MAX_IDLE_TIME_BEFORE_CLOSE=1",
    ]  # fmt: skip
    settings = [word for option in options for word in ("-s", option)]
    with redis.Redis.from_url(redis_url) as server, Web(PAGES) as web:
        server.rpush("plain:start_urls", json.dumps({"url": f"{SITE}/2"}))
        status, out = crawl(project, "plain", web.proxy, *settings)
        assert {hit.url for hit in web.hits} >= {f"{SITE}/2", f"{SITE}/3"}
    assert (status, "Traceback" in out) == (0, False), out[-4000:]
    assert items(project).keys() == {f"{SITE}/2", f"{SITE}/3"}
    with (project / "settings.py").open("a") as file:
        file.write('COMMANDS_MODULE = "topiccrawl.commands"\n')
    with Web(PAGES) as web:
        status, out = crawl(project, "topic", web.proxy, "-a", "topic=新能源汽车", *settings)
        assert not web.hits
    (line,) = [line for line in out.splitlines() if "SCHEDULER is" in line]
    assert "leave it out, or write 'topiccrawl.scheduler.scheduler.FrontierScheduler'" in line
    assert (status, "Traceback" in out) == (2, False), out[-4000:]


@pytest.mark.slow
def test_topic_with_start_urls_in_redis_uses_no_portals(project: Path, redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as server, Web(PAGES) as web:
        server.rpush("topic:start_urls", f"{SITE}/")
        options = ["-a", "topic=新能源汽车", "-s", f"REDIS_URL={redis_url}"]
        status, out = crawl(project, "topic", web.proxy, *options)
        hosts = {hit.url.split("/")[2] for hit in web.hits}
    assert (status, "Traceback" in out) == (0, False), out[-4000:]
    assert hosts == {"news.test"}
