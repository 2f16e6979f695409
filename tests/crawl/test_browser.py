"""Tests of rendering in a real browser: only pages that scripts build are rendered."""

from __future__ import annotations

import json
import os
import shutil
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import run, stored
from tests.crawl.web import Page, Web, article

if TYPE_CHECKING:
    from pathlib import Path

BROWSER = os.environ.get("TOPICCRAWL_TEST_BROWSER") or shutil.which("chromium") or ""
LINE = "新能源汽车的动力电池今天有了新进展，充电桩建设加快，电动汽车销量继续增长。"

pytestmark = [
    pytest.mark.crawl,
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(
        not find_spec("scrapy_playwright"), reason="no scrapy-playwright: pip install -e '.[js]'"
    ),
    pytest.mark.skipif(
        not BROWSER,
        reason="no chromium in PATH or TOPICCRAWL_TEST_BROWSER: apt-get install chromium",
    ),
]


def scripted(number: int) -> str:
    """Return a page whose text is written by a script."""
    text = "".join(f"<p>第{number}号消息第{n}段。{LINE}</p>" for n in range(5))
    onward = f"<a href=/js/{number + 1}.html>新能源汽车下一条</a>"
    html = f"<h1>新能源汽车消息{number}</h1><p>2020年03月04日</p><div>{text}</div>{onward}"
    return (
        "<html><head><title>新能源汽车</title></head><body><div id=app></div>"
        f"<script>document.getElementById('app').innerHTML = `{html}`</script></body></html>"
    )


def test_only_the_site_built_by_scripts_is_rendered(tmp_path: Path) -> None:
    pages: dict[str, Page] = {f"/js/{n}.html": scripted(n) for n in range(3)}
    pages["/plain.html"] = article("新能源汽车销量增长", LINE)
    links = "".join(
        f'<li><a href="{url}">新能源汽车</a></li>' for url in ("/js/0.html", "/plain.html")
    )
    pages["/"] = f"<title>新能源汽车</title><ul>{links}</ul><p>{LINE}</p>" + "<p>首页导航</p>" * 60
    with Web(pages) as web:
        arguments = ("crawl", "topic", "-a", "topic=新能源汽车", "-a", f"seeds={web.proxy}/")
        status, log = run(
            "", tmp_path / "data", *arguments, TOPICCRAWL_JS="1", TOPICCRAWL_BROWSER=BROWSER
        )
        assert status == 0, log[-3000:]
        names = [url.rpartition("0.1:")[2].partition("/")[2] for url in stored(tmp_path / "data")]
        assert sorted(names) == ["js/0.html", "js/1.html", "js/2.html", "plain.html"], log[-3000:]
        assert web.count("/plain.html") == 1
        assert web.count("/js/0.html") == 2


FETCHING = """<html><head><title>新能源汽车</title></head><body><div id=app></div><script>
for (const url of {urls}) {{ fetch(url, {{mode: "no-cors"}}).catch(() => 0); }}
document.getElementById("app").innerHTML = {html};
</script></body></html>"""


def test_rendered_page_cannot_request_private_addresses(tmp_path: Path) -> None:
    """Requests of the page obey the rules for all requests; only the seed's host is allowed."""
    text = "".join(f"<p>第{n}段。{LINE}</p>" for n in range(5))
    with Web({}) as web, Web({"/secret": "secret"}) as inside:
        port = inside.server.server_port
        urls = [f"http://{name}:{port}/secret" for name in ("127.0.0.1", "2130706433")]
        page = FETCHING.format(urls=json.dumps(urls), html=json.dumps(f"<h1>新能源汽车</h1>{text}"))
        front = f"http://localhost:{web.server.server_port}"
        web.pages = {"/": page, "/a.html": page, "/b.html": page}
        seeds = ",".join(f"{front}{path}" for path in ("/", "/a.html", "/b.html"))
        arguments = ("crawl", "topic", "-a", "topic=新能源汽车", "-a", f"seeds={seeds}")
        settings = {"TOPICCRAWL_JS": "1", "TOPICCRAWL_BROWSER": BROWSER}
        _, out = run("", tmp_path / "data", *arguments, **settings)
        assert "playwright/request_count/navigation" in out, out[-3000:]
        assert [hit.url for hit in inside.hits] == [], out[-3000:]
        assert "'topiccrawl/private_address':" in out
