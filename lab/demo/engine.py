"""Simulated search engines with the formats of real ones; their hosts are below ``.test``.

    engine = Engine({"四川 软件公司": [("http://www.a.test/", "甲软件公司"), ...]})
    with DemoServer(Together(engine, web)) as server: ...

Each format has a host: baidu, bing, duckduckgo, searxng, plain (for the generic provider).
"""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from html import escape
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs, quote, urlsplit

from lab.demo.answers import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lab.demo.server import Answering

DOMAIN = "engine.test"
"""Parent domain of all hosts of the engines."""
PAGE = 10
"""Number of results on a page."""

Found = tuple[str, str]
"""A result: URL and title."""


class Results(NamedTuple):
    """Results on one page.

    Attributes:
        words: The query.
        shown: Results of the page.
        start: Number of results on earlier pages.
        after: ``start`` of the next page; 0 if there is none.
    """

    words: str
    shown: Sequence[Found]
    start: int
    after: int


class Engine:
    """Responses in all formats.

    Args:
        results: Results by query; other queries have none.
        troubles: By format: ``captcha``, ``changed`` (an unknown kind of page) or ``limit``.
        robots: Text of every host's robots.txt, or "" for none.
    """

    def __init__(
        self,
        results: Mapping[str, Sequence[Found]],
        troubles: Mapping[str, str] | None = None,
        robots: str = "",
    ) -> None:
        self.results = results
        self.troubles = troubles or {}
        self.robots = robots
        self._urls = sorted({url for found in results.values() for url, _ in found})
        self._tokens = {url: token for token, url in enumerate(self._urls)}
        self._shapes: dict[str, Callable[[Results], Answer]] = {
            "baidu": self._baidu,
            "bing": _bing,
            "duckduckgo": _duckduckgo,
            "searxng": _searxng,
            "plain": _plain,
        }

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names of its hosts."""
        return tuple(f"{shape}.{DOMAIN}" for shape in self._shapes)

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:  # noqa: ARG002
        """See ``Answering``."""
        parts = urlsplit(url)
        shape = parts.netloc.removesuffix(f".{DOMAIN}")
        if parts.path == "/robots.txt":
            plain = (("Content-Type", "text/plain"),)
            return Answer(200, plain, self.robots.encode()) if self.robots else Answer(404)
        if shape not in self._shapes:
            return Answer(502)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if shape == "baidu" and parts.path == "/link":
            return self._redirect(query.get("url", ""))
        trouble = self.troubles.get(shape, "")
        if trouble:
            return _trouble(shape, trouble)
        words = query.get("wd") or query.get("q") or ""
        found, start = self.results.get(words, ()), _start(query)
        after = start + PAGE if start + PAGE < len(found) else 0
        return self._shapes[shape](Results(words, found[start : start + PAGE], start, after))

    def _redirect(self, token: str) -> Answer:
        """Redirect a result of Baidu to its page: the links have a token, not the URL."""
        number = int(token) if token.isdigit() else len(self._urls)
        if number >= len(self._urls):
            return Answer(404)
        return Answer(302, (("Location", self._urls[number]),))

    def _baidu(self, results: Results) -> Answer:
        words = results.words
        title = f"{words}_百度搜索"
        if not results.shown and not results.start:
            said = f"抱歉，没有找到与“{escape(words)}”相关的网页"
            return _html(title, f'<div class="content_none">{said}</div>')
        boxes = "".join(
            f'<div class="result c-container xpath-log new-pmd" id="{n}">'
            f'<h3 class="c-title t"><a href="/link?url={self._tokens[url]}">{escape(name)}</a></h3>'
            f'<span class="c-abstract">{escape(name)}</span></div>'
            for n, (url, name) in enumerate(results.shown, results.start + 1)
        )
        onward = f'<a class="n" href="/s?wd={quote(words)}&pn={results.after}">下一页 &gt;</a>'
        more = onward if results.after else ""
        body = f'<div id="content_left">{_ADVERT}{boxes}</div><div id="page">{more}</div>'
        return _html(title, body)


_ADVERT = (
    '<div class="c-container" data-tuiguang="1"><h3><a href="/baidu.php?url=x">广告</a></h3></div>'
)


class Together:
    """An engine and a web behind one server.

    Args:
        engine: Responds for its own hosts.
        rest: Web for all other hosts.
    """

    def __init__(self, engine: Engine, rest: Answering) -> None:
        self._engine, self._rest = engine, rest

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:
        """See ``Answering``."""
        web = self._engine if urlsplit(url).netloc in self._engine.hosts else self._rest
        return web.answer(url, visit, cookie)


def _start(query: Mapping[str, str]) -> int:
    """Return the offset of the first result of a page, from 0, in each format."""
    if "first" in query:
        return int(query["first"]) - 1
    if "pageno" in query or "page" in query:
        return (int(query.get("pageno") or query["page"]) - 1) * PAGE
    return int(query.get("pn") or query.get("s") or 0)


def _bing(results: Results) -> Answer:
    words = results.words
    boxes = "".join(
        f'<li class="b_algo"><h2><a href="https://www.bing.com/ck/a?!&&p=1&u=a1{_packed(url)}&ntb=1">'
        f"{escape(title)}</a></h2><p>{escape(title)}</p></li>"
        for url, title in results.shown
    )
    none = f'<li class="b_no"><h1>There are no results for {escape(words)}</h1></li>'
    onward = (
        f'<a class="sb_pagN" href="/search?q={quote(words)}&first={results.after + 1}">Next</a>'
    )
    more = onward if results.after else ""
    return _html(words, f'<ol id="b_results">{boxes or none}<li class="b_pag">{more}</li></ol>')


def _packed(url: str) -> str:
    return urlsafe_b64encode(url.encode()).decode().rstrip("=")


def _duckduckgo(results: Results) -> Answer:
    boxes = "".join(
        '<div class="result results_links web-result"><h2 class="result__title">'
        f'<a class="result__a" href="//duckduckgo.com/l/?uddg={quote(url, safe="")}&rut=1">'
        f"{escape(title)}</a></h2></div>"
        for url, title in results.shown
    )
    if not boxes:
        return _html(results.words, '<div class="no-results">No results.</div>')
    advert = (
        '<div class="result result--ad"><a class="result__a" href="http://ad.test/">Ad</a></div>'
    )
    form = (
        '<div class="nav-link"><form action="/html/" method="post">'
        '<input type="submit" value="Next">'
        f'<input type="hidden" name="q" value="{escape(results.words)}">'
        f'<input type="hidden" name="s" value="{results.after}"></form></div>'
    )
    more = form if results.after else ""
    return _html(results.words, f'<div class="results">{advert}{boxes}{more}</div>')


def _searxng(results: Results) -> Answer:
    found = [{"url": url, "title": title, "engine": "demo"} for url, title in results.shown]
    answer = {"query": results.words, "results": found, "unresponsive_engines": []}
    return Answer(200, (("Content-Type", "application/json"),), json.dumps(answer).encode())


def _plain(results: Results) -> Answer:
    boxes = "".join(
        f'<li><a href="{escape(url)}">{escape(title)}</a></li>' for url, title in results.shown
    )
    return _html(results.words, f'<ul class="hits">{boxes}</ul>')


def _trouble(shape: str, trouble: str) -> Answer:
    if trouble == "limit":
        return Answer(429, (("Retry-After", "1"),))
    if trouble == "changed":
        return _html("Search", "<main><p>Something quite different</p></main>")
    if shape == "baidu":
        return Answer(302, (("Location", "https://wappass.baidu.com/static/captcha/tuxing.html"),))
    if shape == "searxng":
        return Answer(403)
    marks = {
        "bing": '<div id="b_captcha"></div>',
        "duckduckgo": '<form id="challenge-form"></form>',
    }
    return _html("One last step", marks.get(shape, '<div class="captcha"></div>'))


def _html(title: str, body: str) -> Answer:
    head = f"<meta charset=utf-8><title>{escape(title)}</title>"
    text = f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"
    return Answer(200, (("Content-Type", "text/html; charset=utf-8"),), text.encode())
