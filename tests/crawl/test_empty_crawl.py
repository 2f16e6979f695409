"""A crawl that finds nothing reports the reasons and has its own exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import run
from tests.crawl.web import Answer, Page, Web, article

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crawl

COOKING = "红烧肉要先焯水，再加冰糖和酱油，小火慢炖一个小时。" * 8
PAGES: dict[str, Page] = {
    "http://a.test/": article("家常菜谱", COOKING, *(f"http://a.test/{n}" for n in range(1, 10))),
    **{f"http://a.test/{n}": article(f"红烧肉的做法{n}", COOKING) for n in range(1, 10)},
    "http://closed.test/": Answer("no", 403),
    "http://shy.test/robots.txt": Answer("User-agent: *\nDisallow: /\n"),
}
ARGUMENTS = ("crawl", "topic", "-a", "topic=新能源汽车")
SEEDS = "seeds=http://a.test/,http://closed.test/,http://shy.test/"


def test_final_report_explains_seeds_terms_and_hosts(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Web(PAGES) as web:
        status, out = run(web.proxy, data, *ARGUMENTS, "-a", SEEDS)
    assert status == 3, out
    report = out[out.index("why no page on topic was found") :]
    assert "seed       http://a.test/: fetched, relevance 0.000" in report
    assert "seed       http://closed.test/: the server refuses this crawler (403)" in report
    assert "seed       http://shy.test/: its robots.txt excludes the page" in report
    assert "best pages (on topic from 0.050):" in report
    assert "红烧肉的做法" in report
    assert "terms not found: " in report
    assert "not fetched (the server refuses this crawler (403)): pages of closed.test" in report
    assert "try        seeds on the topic" in report
    status, later = run("", data, "why", "--topic", "新能源汽车")
    assert status == 0
    assert report[report.index("  seed") :].strip() in later
    status, _ = run("", data, "report", str(tmp_path / "why.html"))
    assert status == 0
    assert "refuses this crawler" in (tmp_path / "why.html").read_text()


def test_pages_without_links_or_text_have_specific_advice(tmp_path: Path) -> None:
    app, sitemap = "http://app.test/", "http://map.test/sitemap.xml"
    pages: dict[str, Page] = {
        app: "<html><title>App</title><script src=/app.js></script><div id=root></div></html>",
        sitemap: Answer("<urlset><url><loc>http://map.test/1</loc></url></urlset>"),
    }
    with Web(pages) as web:
        _, out = run(web.proxy, tmp_path / "data", *ARGUMENTS, "-a", f"seeds={app},{sitemap}")
    assert f"try        TOPICCRAWL_JS=1 if scripts build {app}" in out
    assert f"try        discover=sitemap:{sitemap}" in out


@pytest.mark.slow
def test_status_is_0_after_a_limit_or_with_earlier_results(tmp_path: Path) -> None:
    news = "新能源汽车销量增长，电动汽车与动力电池企业加快布局，充电桩建设提速。"
    pages = {**PAGES, "http://b.test/0": article("新能源汽车", news, "http://b.test/1")}
    data = tmp_path / "data"
    more = article("菜谱", COOKING, *(f"http://a.test/{n}" for n in range(1, 10)))
    with Web({**pages, "http://b.test/1": more}) as web:
        wanted = (*ARGUMENTS, "-a", "seeds=http://b.test/0")
        assert run(web.proxy, data, *wanted, TOPICCRAWL_PAGES="1")[0] == 0
        status, out = run(web.proxy, data, *wanted)
    assert "10 pages, 0 on topic" in out
    assert "why no page on topic was found" not in out
    assert status == 0
