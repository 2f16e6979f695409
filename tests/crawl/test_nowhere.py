"""A crawl that finds nothing says why, in the end block, later, and by its exit status."""

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
ASKED = ("crawl", "topic", "-a", "topic=新能源汽车")
SEEDS = "seeds=http://a.test/,http://closed.test/,http://shy.test/"


def test_the_end_says_what_became_of_seeds_terms_and_hosts(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Web(PAGES) as web:
        status, out = run(web.proxy, data, *ASKED, "-a", SEEDS)
    assert status == 3, out
    said = out[out.index("why no page on topic was found") :]
    assert "seed       http://a.test/: fetched, relevance 0.000" in said
    assert "seed       http://closed.test/: the server refuses this crawler (403)" in said
    assert "seed       http://shy.test/: its robots.txt excludes the page" in said
    assert "best pages (on topic from 0.050):" in said
    assert "红烧肉的做法" in said
    assert "terms not found: " in said
    assert "unreachable (the server refuses this crawler (403)): closed.test" in said
    assert "try        seeds on the topic" in said
    status, later = run("", data, "why", "--topic", "新能源汽车")
    assert status == 0
    assert said[said.index("  seed") :].strip() in later
    status, _ = run("", data, "report", str(tmp_path / "why.html"))
    assert status == 0
    assert "refuses this crawler" in (tmp_path / "why.html").read_text()


def test_pages_without_links_and_text_have_their_own_advice(tmp_path: Path) -> None:
    app, sitemap = "http://app.test/", "http://map.test/sitemap.xml"
    pages: dict[str, Page] = {
        app: "<html><title>App</title><script src=/app.js></script><div id=root></div></html>",
        sitemap: Answer("<urlset><url><loc>http://map.test/1</loc></url></urlset>"),
    }
    with Web(pages) as web:
        _, out = run(web.proxy, tmp_path / "data", *ASKED, "-a", f"seeds={app},{sitemap}")
    assert f"try        TOPICCRAWL_JS=1 if scripts build {app}" in out
    assert f"try        discover=sitemap:{sitemap}" in out


@pytest.mark.slow
def test_a_crawl_that_ends_for_another_reason_or_found_something_before_has_status_0(
    tmp_path: Path,
) -> None:
    news = "新能源汽车销量增长，电动汽车与动力电池企业加快布局，充电桩建设提速。"
    pages = {**PAGES, "http://b.test/0": article("新能源汽车", news, "http://b.test/1")}
    data = tmp_path / "data"
    more = article("菜谱", COOKING, *(f"http://a.test/{n}" for n in range(1, 10)))
    with Web({**pages, "http://b.test/1": more}) as web:
        wanted = (*ASKED, "-a", "seeds=http://b.test/0")
        assert run(web.proxy, data, *wanted, TOPICCRAWL_PAGES="1")[0] == 0
        status, out = run(web.proxy, data, *wanted)
    assert "10 pages, 0 on topic" in out
    assert "why no page on topic was found" not in out
    assert status == 0
