"""Pages that a site replaces by a check of the visitor are fetched later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import run
from tests.crawl.web import Answer, Page, Web, article
from topiccrawl.scheduler.frontiers import read_frontier

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

pytestmark = pytest.mark.crawl

SITE = "http://news.test"
TEXT = "新能源汽车的动力电池今天有了新进展，充电桩建设加快，电动汽车销量继续增长。"
CHECK = "<title>提示</title><h2>访问过于频繁，请稍后再试</h2><form><input name=captcha></form>"


@pytest.mark.slow
@pytest.mark.parametrize("readers", ["0", "1"])
def test_check_of_the_visitor_is_retried_and_ends_as_challenge(
    tmp_path: Path, readers: str
) -> None:
    tries: list[str] = []

    def once(handler: BaseHTTPRequestHandler) -> Answer:
        tries.append(handler.path)
        return Answer(CHECK if len(tries) == 1 else article("新能源汽车一", TEXT))

    hub = "".join(f"<p><a href={SITE}/{n}>新能源汽车新闻的标题第{n}号</a>" for n in range(20))
    pages: dict[str, Page] = {
        f"{SITE}/": article(
            "新能源汽车", TEXT, *(f"{SITE}/{n}" for n in ("once", "always", "hub"))
        ),
        f"{SITE}/hub": f"<title>新能源汽车</title><div hidden>请完成安全验证</div>{hub}",
        f"{SITE}/once": once,
        f"{SITE}/always": CHECK,
    }
    data = tmp_path / "data"
    with Web(pages) as web:
        arguments = ("crawl", "topic", "-a", "topic=新能源汽车", "-a", f"seeds={SITE}/")
        status, log = run(web.proxy, data, *arguments, TOPICCRAWL_READERS=readers, RETRY_TIMES="2")
        assert status == 0, log[-3000:]
        assert [web.count(f"{SITE}/{name}") for name in ("once", "always")] == [2, 3]
    (folder,) = (data / "frontiers").iterdir()
    reports = {
        name: read_frontier(folder).why(f"{SITE}/{name}") for name in ("once", "always", "hub")
    }
    assert {name: one and (one.queue, one.reason) for name, one in reports.items()} == {
        "once": ("crawled", "article"),
        "always": ("error", "challenge"),
        "hub": ("crawled", "hub"),
    }
    assert "Traceback" not in log


def test_check_of_the_visitor_fails_the_seed_of_a_template(tmp_path: Path) -> None:
    """A short page with values is not a check, even if its form mentions one."""
    firm = "<title>联系我们</title><h1>四川云上软件有限公司</h1><p>电话：028-86111001</p>"
    template = tmp_path / "t.toml"
    fields = '"名称" = { kind = "name", required = true }\n"电话" = "telephone"\n'
    template.write_text(f'name = "t"\nseeds = ["{SITE}/", "http://a.test/"]\n[crawl]\n{fields}')
    with Web({f"{SITE}/": CHECK, "http://a.test/": f"{firm}<form>请完成安全验证</form>"}) as web:
        arguments = ("crawl", "template", "-a", f"template={template}", "-a", "chance=0")
        status, log = run(web.proxy, tmp_path / "data", *arguments, RETRY_TIMES="1")
        assert status == 0, log[-3000:]
        assert [web.count(url) for url in (f"{SITE}/", "http://a.test/")] == [2, 1]
    assert "2 seeds, 2 crawled (1 useful, 1 failed)" in log
