from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import pytest

from lab.demo.companies.facts import company
from lab.demo.companies.pages import Site, layouts
from lab.demo.companies.web import MOST, CompanyWeb
from topiccrawl.addons.records.templates.template import resolve
from topiccrawl.links.page import read_page
from topiccrawl.text.decode import decode

if TYPE_CHECKING:
    from pathlib import Path

WEB = CompanyWeb(1)


def text(url: str, web: CompanyWeb = WEB) -> str:
    answer = web.answer(url)
    return (
        decode(answer.body, dict(answer.headers)["Content-Type"]).text
        if answer.status == 200
        else ""
    )


def test_names_and_hosts_are_all_different() -> None:
    companies = [company(1, number) for number in range(MOST)]
    assert len({one.short for one in companies}) == len({one.host for one in companies}) == MOST


def test_there_are_enough_of_every_sort() -> None:
    assert len(WEB.expected()) >= 200
    sites = [Site(one, 1) for one in WEB.companies]
    assert {site.charset for site in sites} == {"gbk", "gb2312", "utf-8", "none"}
    assert any(one.images for one in WEB.expected())
    assert any(WEB.is_empty(one) for one in WEB.companies)


def test_the_groups_share_no_layout() -> None:
    rows = {group: {str(one) for one in layouts()["contact"] if one["group"] == group}
            for group in ("tuning", "judging")}  # fmt: skip
    bare = {group: {row.replace(group, "") for row in some} for group, some in rows.items()}
    assert bare["tuning"].isdisjoint(bare["judging"])
    assert min(map(len, rows.values())) >= 10


def test_every_contact_page_is_reached_as_the_template_says() -> None:
    template = resolve("软件公司-四川")
    reached = set()
    for seed in WEB.seeds:
        page = read_page(text(seed), seed)
        after = [link.url for link in page.links if link.anchor.startswith(("下一页", "下页"))]
        reached |= {link.url for link in page.links if template.layer_word(0, link.anchor)}
        while after:
            page = read_page(text(after[0]), after[0])
            reached |= {link.url for link in page.links if template.layer_word(0, link.anchor)}
            after = [link.url for link in page.links if link.anchor.startswith(("下一页", "下页"))]
    expected = {url for one in WEB.expected() for url in one.pages}
    assert expected <= reached


def test_what_is_expected_stands_on_the_pages() -> None:
    for one in WEB.expected()[::9]:
        html = text(one.pages[0])
        assert one.name in html
        for code in (*one.values.get("postcode", ()), *one.values.get("qq", ())):
            assert code in html


def test_an_edition_has_new_changed_and_gone_companies_and_else_the_same() -> None:
    before = {one.name: one for one in WEB.expected()}
    after = {one.name: one for one in CompanyWeb(1, edition=1).expected()}
    both = before.keys() & after.keys()
    changed = {name for name in both if before[name].values != after[name].values}
    assert 5 < len(after.keys() - before.keys()) < 40
    assert 5 < len(before.keys() - after.keys()) < 40
    assert 5 < len(changed) < 40


def test_pages_that_are_not_there_and_an_endless_calendar() -> None:
    assert WEB.answer("http://unknown.test/").status == 502
    assert WEB.answer("http://www.minglu0.test/list-9.html").status == 404
    trapped = next(url for url in WEB.seeds if "/cal?day=1" in text(contact(url)))
    day = urljoin(trapped, "/cal?day=1")
    for number in (2, 3):
        day = read_page(text(day), day).links[0].url
        assert day.endswith(f"/cal?day={number}")


def contact(seed: str) -> str:
    host = seed.split("/")[2]
    return next((u for one in WEB.expected() for u in one.pages if host in u), seed)


def test_the_truth_is_written(tmp_path: Path) -> None:
    WEB.write_truth(tmp_path / "truth.jsonl")
    lines = (tmp_path / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(WEB.expected())
    assert json.loads(lines[0])["name"] == WEB.expected()[0].name


def test_too_many_companies() -> None:
    with pytest.raises(ValueError, match="give 1 to"):
        CompanyWeb(1, MOST)
