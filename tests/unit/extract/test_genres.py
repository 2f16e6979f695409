"""Tests of the genres of pages: article, hub, live ticker and pages that are none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from topiccrawl.errors import ConfigurationError
from topiccrawl.extract.extract import Conditions, extract, extract_by, features_of
from topiccrawl.extract.genres import Genre, genres_named

if TYPE_CHECKING:
    from topiccrawl.model import Extracted

TEASER = (
    "The council met on Monday and spoke about the new bridge, the budget of the coming year and "
    "the water supply of the northern districts, which many residents had asked for."
)
TEXT = f"{TEASER} A second meeting follows in March, the mayor said. {TEASER}"


def archive(path: str = "/category/politics/page/3/") -> tuple[str, str]:
    rows = "".join(
        f"<article class='post post-{n}'><h2 class=entry-title-{n}>"
        f"<a href=/2024/05/0{n}/bridge-and-budget-of-the-city-{n}/>"
        f"Council speaks about the bridge number {n}</a></h2><time datetime=2024-05-0{n}>May {n}, "
        f"2024</time><p>{TEASER}</p></article>"
        for n in range(1, 9)
    )
    html = (
        "<html lang=en><head><title>Politics Archives - Page 3 of 9 - Valley Post</title>"
        "<meta property=og:type content=object></head><body class='archive category paged'>"
        f"<h1>Category: Politics</h1>{rows}<div class=pagination><a href=/page/4/>Next</a></div>"
    )
    return html, f"http://valley.test{path}"


def story() -> tuple[str, str]:
    paragraphs = "".join(f"<p>{TEXT}</p>" for _ in range(6))
    html = (
        "<html lang=en><head><title>Council approves a new bridge - Valley Post</title>"
        "<meta property=article:published_time content=2024-05-03T10:00:00Z></head>"
        "<body class=single><h1>Council approves a new bridge</h1><p class=byline>By Ann Miller</p>"
        f"<div class=entry-content>{paragraphs}</div>"
    )
    return html, "http://valley.test/2024/05/03/council-approves-a-new-bridge/"


def ticker() -> tuple[str, str]:
    rows = "".join(
        f"<h3 class=time-{hour}-{minute}>{hour}:{minute:02}</h3><p>{TEASER}</p>"
        for hour in (10, 11, 12)
        for minute in (5, 20, 45)
    )
    html = (
        "<html lang=en><head><title>Live updates: the vote on the bridge</title>"
        "<meta property=article:published_time content=2024-05-03T10:00:00Z></head>"
        f"<body><h1>Live updates: the vote on the bridge</h1><div class=entry>{rows}</div>"
    )
    return html, "http://valley.test/news/2024/05/03/live-updates-the-vote-on-the-bridge"


def examine(html: str, url: str, wanted: set[Genre] | None) -> Extracted | None:
    genres = None if wanted is None else frozenset(wanted)
    return extract_by(html, url, None, Conditions(genres)).extracted


def test_hub_of_teasers_is_no_article() -> None:
    assert extract(*archive()) is None


def test_hub_of_teasers_without_class_names_is_no_article() -> None:
    cards = "".join(
        f"<div><h3><a href=/cars/{n}/>Council speaks about the bridge number {n}</a></h3>"
        f"<p>{TEASER}</p></div>"
        for n in range(9)
    )
    html = f"<html lang=en><title>Cars</title><main>{cards}</main>"
    assert extract(html, "http://valley.test/cars/page/2/") is None
    assert extract(html.replace("<a ", "<i "), "http://valley.test/cars/page/2/") is not None


def test_comments_without_class_names_are_no_article() -> None:
    html = f"<html lang=en><title>Comments</title><h1>Comments</h1>{f'<p>{TEXT}</p>' * 6}"
    assert extract(html, "http://valley.test/comment/43?page=1") is None
    assert extract(html, "http://valley.test/commentary/43") is not None


@pytest.mark.parametrize(
    ("path", "paged"),
    [
        ("/page/3.html", 1.0),
        ("/list.php?cat=2&p=3", 1.0),
        ("/news/page/3/?cat=2", 1.0),
        ("/page/465071.html", 0.0),
        ("/p/16/bridge.html", 0.0),
        ("/?p=1234", 0.0),
        ("/show.php?page=202601120001", 0.0),
    ],
)
def test_number_of_an_article_is_no_page_of_a_list(path: str, paged: float) -> None:
    assert features_of(story()[0], f"http://valley.test{path}")["url_paged"] == paged


def test_vote_on_an_article_does_not_change_its_genre() -> None:
    html, url = story()
    voted, noted = (features_of(f"{html}<i id=div_{name}_id>1</i>", url) for name in ("vote", "x"))
    assert voted == noted


def test_story_is_an_article() -> None:
    found = extract(*story())
    assert found is not None
    assert (found.genre, found.author) == (Genre.ARTICLE, "Ann Miller")


@pytest.mark.parametrize(
    "path", ["/posts/page/3/", "/blog/page/12", "/2024/05/", "/blog/2024/11", "/2024/05/31/"]
)
def test_list_by_its_url_is_no_article(path: str) -> None:
    menu = "".join(f"<li class=item-{n}>Part {n}" for n in range(9))
    html = story()[0].replace("<body class=single>", f"<body class=single><ul>{menu}</ul>")
    assert extract(html, f"http://valley.test{path}") is None
    assert extract(html, f"http://valley.test{path.rstrip('/')}-years-of-bridges/") is not None
    assert extract(html, f"http://valley.test{path.rstrip('/')}0503") is not None
    assert extract(html, f"http://valley.test/bridges?from={path}") is not None
    assert extract(html, "http://valley.test/city/why-the-bridge-is-late/2024/05") is not None
    found = examine(html, f"http://valley.test{path}", {Genre.HUB})
    assert found is not None
    assert found.genre is Genre.HUB


@pytest.mark.parametrize(
    "path", ["/list.htm", "/news/list-5-2.html", "/city/list_nian_3_1/", "/c1/xwzx_list_2.html"]
)
def test_list_by_its_name_is_no_article(path: str) -> None:
    menu = "".join(f"<li class=item-{n}>Part {n}" for n in range(9))
    html = story()[0].replace("<body class=single>", f"<body class=single><ul>{menu}</ul>")
    assert extract(html, f"http://valley.test{path}") is None
    others = "/list-of-all-bridges.html", "/list/bridge.html", "/the-bridge-list.html"
    for other in (*others, f"/list{'1' * 60}x.html"):  # digits are not split in all ways
        assert extract(html, f"http://valley.test{other}") is not None


@pytest.mark.parametrize(
    "path",
    ["/tag/bridge/", "/blog/category/city", "/author/ann-miller/", "/category/city/old-town/"],
)
def test_list_of_one_article_is_no_article(path: str) -> None:
    menu = "".join(f"<li class=item-{n}>Part {n}" for n in range(9))
    html = story()[0].replace("<body class=single>", f"<body class=single><ul>{menu}</ul>")
    assert extract(html, f"http://valley.test{path}") is None
    for other in (f"{path.rstrip('/')}/a-new-bridge", "/the-tag/bridge", f"/go?to={path}"):
        assert extract(html, f"http://valley.test{other}") is not None


def test_other_genres_are_extracted_if_requested() -> None:
    found = examine(*archive(), {Genre.HUB})
    assert found is not None
    assert found.genre is Genre.HUB
    assert examine(*story(), {Genre.HUB}) is None


def test_live_ticker_is_detected() -> None:
    assert examine(*ticker(), {Genre.ARTICLE}) is None
    found = extract(*ticker())
    assert found is not None
    assert found.genre is Genre.LIVE


def test_later_parts_are_extracted_in_any_genre() -> None:
    assert examine(*archive(), None) is not None


def test_unknown_genres_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="novel"):
        genres_named(["article", "novel"])


@pytest.mark.parametrize(
    ("path", "title"),
    [("/mission-goals/", "Mission & Goals"), ("/privacy/", "Privacy Policy"), ("/p/7", "关于我们")],
)
def test_page_about_its_site_is_no_article(path: str, title: str) -> None:
    html, _ = story()
    menu = "".join(f"<li class=item-{n}><a href=/{n}>Part {n}</a></li>" for n in range(9))
    for old, new in (
        ("Council approves a new bridge", title),
        ("<p class=byline>By Ann Miller</p>", ""),
        ("<meta property=article:published_time content=2024-05-03T10:00:00Z>", ""),
        ("<body class=single>", f"<body class=single><ul>{menu}</ul>"),
    ):
        html = html.replace(old, new)
    found = extract(html, f"http://valley.test{path}")
    assert found is None
