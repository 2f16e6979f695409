"""Pages that are lists, by the URLs of their paging links."""

from __future__ import annotations

import pytest

from topiccrawl.links.strategies.link_texts import is_paged
from topiccrawl.model import Link

SITE = "http://a.test"


@pytest.mark.parametrize(
    ("path", "anchor", "target"),
    [
        ("/c/", "2", "/c/page/2/"),
        ("/c/page/2/", "3", "/c/page/3/"),
        ("/c/page/3/", "1", "/c/"),
        ("/c/", "下一页", "/c/?page=2"),
        ("/list?cat=3&page=1", "2", "/list?cat=3&page=2"),
        ("/list?cat=3", "Next", "/list?cat=3&page=2"),
        ("/c/index.html", "2", "/c/index_2.html"),
        ("/c.shtml", "第2页", "/c_2.shtml"),
        ("/", "Older posts", "/page/2/"),
    ],
)
def test_page_with_further_pages_is_a_list(path: str, anchor: str, target: str) -> None:
    assert is_paged(SITE + path, [Link(SITE + target, anchor)])


@pytest.mark.parametrize(
    ("path", "anchor", "target"),
    [
        ("/2026/05/x.html", "13", "/2026/05/13/"),
        ("/2026/05/13/x/", "13", "/2026/05/13/"),
        ("/article-16602-1.html", "»", "/article-16603-1.html"),
        ("/manual/install.html", "Next", "/manual/usage.html"),
        ("/manual/ch01.html", "下一页", "/manual/ch02.html"),
        ("/x.html", "3", "/x.html"),
        ("/c/", "City council", "/c/page/2/"),
    ],
    ids=["calendar", "day of the article", "next article", "next page of a manual", "chapter",
         "comments", "headline"],
)  # fmt: skip
def test_page_without_further_pages_is_no_list(path: str, anchor: str, target: str) -> None:
    assert not is_paged(SITE + path, [Link(SITE + target, anchor)])
