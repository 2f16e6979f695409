"""Tests of recorded webs of published static sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.published import main
from topiccrawl.addons.simulate.collection import RecordedWeb
from topiccrawl.addons.simulate.harvest import labelled_case, read_truth

if TYPE_CHECKING:
    from pathlib import Path

ADDRESS = "https://news.test/"
MENU = "".join(f'<a href="/tags/{tag}/">{tag}</a>' for tag in ("铁路", "足球"))


def page(folder: Path, body: str) -> None:
    folder.mkdir(parents=True)
    html = f"<html><head><title>T</title></head><body><nav>{MENU}</nav>{body}</body></html>"
    (folder / "index.html").write_text(html, encoding="utf-8")


@pytest.fixture(name="site")
def _site(tmp_path: Path) -> Path:
    """A site of 25 pages on railways, 5 on football and 30 others, with both tags in its menu."""
    site = tmp_path / "site"
    posts = ["铁路"] * 25 + ["足球"] * 5 + [""] * 30
    for number, tag in enumerate(posts):
        tags = f'<a href="/tags/{tag}/">{tag}</a>' if tag else '<a href="http://[bad/">x</a>'
        page(site / "2026" / str(number), f"<p>Text</p>{tags}")
    for tag in ("铁路", "足球"):
        numbers = [number for number, one in enumerate(posts) if one == tag]
        links = "".join(f'<a href="/2026/{number}/">Post</a>' for number in numbers)
        page(site / "tags" / tag, links)
    page(site / "page" / "2", "")
    (site / "index.html").write_text(f"<html><body>{MENU}</body></html>", encoding="utf-8")
    return site


def test_pages_are_labelled_by_own_tags_not_by_menu_tags(site: Path, tmp_path: Path) -> None:
    output = tmp_path / "news.web.jsonl.gz"
    assert main([str(site), ADDRESS, "-o", str(output)]) == 0
    web = RecordedWeb.read(output)
    marks = {name: page.marks for name, page in web.pages.items()}
    assert marks["news.test/2026/3/"] == ("铁路",)
    assert marks["news.test/2026/27/"] == ("足球",)
    assert not marks["news.test/2026/40/"]
    assert not marks["news.test/"]
    assert not marks["news.test/tags/%E9%93%81%E8%B7%AF/"]
    assert len(web.pages) == 2 * 64 - 1


def test_topics_are_labels_with_many_reachable_pages(site: Path, tmp_path: Path) -> None:
    output = tmp_path / "news.web.jsonl.gz"
    main([str(site), ADDRESS, "-o", str(output)])
    (topic,) = read_truth(tmp_path / "news.topics.json").values()
    assert topic.terms == ("铁路",)
    case = labelled_case(RecordedWeb.read(output), topic)
    assert len(case.relevant) == 25


def test_a_site_without_tags_is_an_error(tmp_path: Path) -> None:
    page(tmp_path / "site" / "about", "<p>About</p>")
    with pytest.raises(SystemExit, match="no tag or category has 20 reachable pages"):
        main([str(tmp_path / "site"), ADDRESS, "-o", str(tmp_path / "a.web.jsonl.gz")])
