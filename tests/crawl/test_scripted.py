"""Lists and paging links that scripts write, as by publishing systems of many Chinese sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawl.run import run
from tests.crawl.test_parts import LINE, SITE, TOPIC, bodies, has, part
from tests.crawl.web import Answer, Web

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.crawl


def test_pages_that_only_a_script_links_are_followed(tmp_path: Path) -> None:
    script = "<script>createPageHTML({}, {}, '{}', 'html');</script>"
    web: dict[str, str | Answer] = {
        f"{SITE}/index{tail}.html": f"<title>新能源汽车</title><p>{LINE}</p><ul>"
        f'<li><a href="/20200304/t{place}.html">新能源汽车报道{place}</a></ul>'
        + script.format(2, place, "index")
        for place, tail in enumerate(("", "_1"))
    }
    first, second = (f"{SITE}/20200304/t{place}%s.html" for place in (0, 1))
    for number, tail in ((1, ""), (2, "_1")):
        web[first % tail] = part("甲", number, 1, first) + script.format(2, number - 1, "t0")
    web[second % ""] = part("乙", 1, 1, second)
    with Web(web) as served:
        crawl = ("crawl", "topic", "-a", TOPIC, "-a", f"seeds={SITE}/index.html")
        status, out = run(served.proxy, tmp_path, *crawl, ROBOTSTXT_OBEY="0")
        assert (status, {url: served.count(url) for url in web}) == (0, dict.fromkeys(web, 1)), out
    found = bodies(tmp_path)
    assert has(found["t0.html"], "甲", 1, 2)
    assert has(found["t1.html"], "乙", 1)


def test_embedded_lists_are_read_after_a_redirect_by_script(tmp_path: Path) -> None:
    article, proxy = (
        f"{SITE}/art/2020/3/4/art_1_{{}}%s.html",
        "/module/web/jpage/dataproxy.jsp?page=1",
    )

    def entries(*numbers: int, onward: str = "") -> str:
        items = (
            f"<li><a href='{article.format(n) % ''}'>新能源汽车报道{n}</a></li>" for n in numbers
        )
        records = "".join(f"<record><![CDATA[{item}]]></record>\n" for item in items)
        group = f"<nextgroup><![CDATA[<a href='{onward}'></a>]]></nextgroup>" if onward else ""
        return f"<datastore>\n{group}<recordset>\n{records}</recordset></datastore>"

    home = "<script>window.location.href = '/col/index.html';</script>"
    script = f"<div id=1><script type='text/xml'>{entries(1, 2, onward=proxy)}</script></div>"
    xml = (("Content-Type", "text/xml; charset=utf-8"),)
    web: dict[str, str | Answer] = {
        f"{SITE}/": home,
        f"{SITE}/col/index.html": f"<title>新能源汽车</title><p>{LINE}</p>{script}",
        SITE + proxy: Answer(f"<?xml version='1.0'?>{entries(3)}", 200, xml),
    }
    for number, story in enumerate("甲乙丙", 1):
        address = article.format(number)
        web[address % ""] = part(story, 1, 1, address)
    with Web(web) as served:
        crawl = ("crawl", "topic", "-a", TOPIC, "-a", f"seeds={SITE}/")
        status, out = run(served.proxy, tmp_path, *crawl, ROBOTSTXT_OBEY="0")
        assert (status, {url: served.count(url) for url in web}) == (0, dict.fromkeys(web, 1)), out
    assert len(bodies(tmp_path)) == 3
