"""Web of generated companies: sites with contact pages, directories, traps, editions.

    with DemoServer(CompanyWeb(seed=1)) as server:
        ...  # crawl with http_proxy=server.proxy

It has no search engine: build one over ``CompanyWeb.found``.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from lab.demo.answers import OK, Answer
from lab.demo.companies.facts import Company, company
from lab.demo.companies.pages import Site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEFAULT_COMPANIES = 216
DIRECTORIES, PER_DIRECTORY, PER_PAGE = 3, 12, 5
MOST = 320
"""Number of companies with distinct names, including those in directories."""
NOT_FOUND = 404
_EMPTY, _TRAPPED = 17, 23


class Expected(NamedTuple):
    """A record that a crawl should find.

    Attributes:
        name: Its company.
        pages: URLs of the pages that hold its values.
        values: Values by kind (``facts.FIELDS``), as in ``Company.truth``.
        images: Kinds that the pages show as images.
    """

    name: str
    pages: tuple[str, ...]
    values: dict[str, tuple[str, ...]]
    images: tuple[str, ...]


class CompanyWeb:
    """Responses for every host of the generated companies; an ``Answering`` for ``DemoServer``.

    Args:
        seed: Equal seeds give equal webs.
        companies: Companies with a site of their own, at most ``MOST`` with the directories'.
        edition: 0 is the first; later ones have removed, new and changed companies.
        group: ``tuning`` or ``judging`` layouts only; None: both.

    Raises:
        ValueError: If there are too many companies.
    """

    def __init__(
        self,
        seed: int = 1,
        companies: int = DEFAULT_COMPANIES,
        edition: int = 0,
        group: str | None = None,
    ) -> None:
        listed = DIRECTORIES * PER_DIRECTORY
        if not 0 < companies <= MOST - listed:
            msg = f"{companies} companies: give 1 to {MOST - listed}"
            raise ValueError(msg)
        self.seed, self.edition, self.group = seed, edition, group
        numbers = [n for n in range(companies) if self._is_there(n, edition)]
        self.companies = tuple(self._company(n) for n in numbers)
        self.listed = tuple(self._company(n) for n in range(MOST - listed, MOST))
        self._sites = {one.host: self._site(one) for one in self.companies}
        self._listed = {
            f"www.minglu{d}.test": self.listed[d::DIRECTORIES] for d in range(DIRECTORIES)
        }
        self._page = lru_cache(maxsize=200)(self._make)

    # -- Companies -------------------------------------------------------------------------------

    def _luck(self, what: str, number: int) -> float:
        return random.Random(f"{self.seed}/{what}/{number}").random()  # noqa: S311

    def _is_there(self, number: int, edition: int) -> bool:
        """One company in twelve is added in edition 1, and one in twelve is removed."""
        first = int(self._luck("comes", number) < 1 / 12)
        last = 0 if not first and self._luck("goes", number) < 1 / 12 else 1 << 30
        return first <= edition <= last

    def _company(self, number: int) -> Company:
        """Return the company in this edition; one in ten has other values from edition 1 on."""
        changed = self._luck("changes", number) < 1 / 10
        return company(self.seed, number, self.edition if changed else 0)

    def _site(self, one: Company) -> Site:
        return Site(one, self.seed, self.group)

    @staticmethod
    def is_empty(one: Company) -> bool:
        """Return whether a company's contact page has no values."""
        return one.number % _EMPTY == _EMPTY - 1

    @property
    def hosts(self) -> tuple[str, ...]:
        """All hosts, those of companies first."""
        return (*self._sites, *self._listed)

    @property
    def seeds(self) -> tuple[str, ...]:
        """Front pages of all sites, those of companies first."""
        return tuple(f"http://{host}/" for host in self.hosts)

    def found(self) -> Iterator[tuple[str, str]]:
        """URL and title of every site, as a search engine may show them."""
        yield from ((f"http://{one.host}/", one.name) for one in self.companies)
        yield from ((f"http://{host}/", "四川软件公司名录") for host in self._listed)

    # -- What is true ----------------------------------------------------------------------------

    def expected(self) -> tuple[Expected, ...]:
        """Existing records, with the pages that have them."""
        own = [
            self._expected(one, f"http://{one.host}{self._sites[one.host].contact_path}")
            for one in self.companies
            if not self.is_empty(one)
        ]
        listed = [
            self._expected(one, f"http://{host}/c/{one.number}.html")
            for host, ones in self._listed.items()
            for one in ones
        ]
        return (*own, *listed)

    @staticmethod
    def _expected(one: Company, url: str) -> Expected:
        images = tuple(fact.kind for fact in one.facts if fact.image)
        return Expected(one.name, (url,), one.truth(), images)

    def write_truth(self, path: Path) -> None:
        """Write the expected records as JSON lines."""
        lines = [json.dumps(one._asdict(), ensure_ascii=False) for one in self.expected()]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    # -- Answers ---------------------------------------------------------------------------------

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:  # noqa: ARG002
        """Return the response to a request; 404 for unknown pages and 502 for unknown hosts."""
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host = (parts.hostname or "").lower()
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        if host in self._sites or host in self._listed:
            return self._page(host, path)
        return Answer(502, (("Content-Type", "text/plain"),), b"no such host")

    def _make(self, host: str, path: str) -> Answer:
        if path == "/robots.txt":
            return Answer(OK, (("Content-Type", "text/plain"),), b"User-agent: *\nAllow: /\n")
        site = self._sites.get(host)
        charset = "utf-8" if site is None else site.charset
        html = self._of_directory(host, path) if site is None else self._of_site(site, path)
        missing = "<html><title>404</title><p>页面不存在</p></html>"
        body = (html or missing).encode(_CODECS[charset], "xmlcharrefreplace")
        kind = "text/html" if charset in {"none", "gb2312"} else f"text/html; charset={charset}"
        etag = hashlib.md5(body, usedforsecurity=False).hexdigest()
        headers = (("Content-Type", kind), ("ETag", f'"{etag}"'))
        return Answer(OK if html else NOT_FOUND, headers, body)

    def _of_site(self, site: Site, path: str) -> str:
        one = site.company
        if path == "/":
            return site.home()
        if path == site.contact_path:
            return site.empty_contact() if self.is_empty(one) else _trapped(site)
        if path in {"/about.html", "/products.html", "/job.html", "/map.html"}:
            return site.other(path)
        if path.startswith("/news/"):
            return _news(site, path)
        if path.startswith("/cal?") and one.number % _TRAPPED == 0:
            return _calendar(path)
        return ""

    # -- Directories -----------------------------------------------------------------------------

    def _of_directory(self, host: str, path: str) -> str:
        ones = self._listed[host]
        pages = -(-len(ones) // PER_PAGE)
        number = "1" if path == "/" else path.removeprefix("/list-").removesuffix(".html")
        if number.isdecimal() and 1 <= int(number) <= pages:
            return _list_page(host, ones, int(number), pages)
        number = path.removeprefix("/c/").removesuffix(".html")
        shown = (self._site(one).contact() for one in ones if str(one.number) == number)
        return next(shown, "")


_CODECS = {"gbk": "gb18030", "gb2312": "gb18030", "utf-8": "utf-8", "none": "utf-8"}
_NEWS = re.compile(r"/news/(?:(?:list_(?P<page>\d+)|(?P<item>\d+))(?:\.html)?)?")
_NEWS_PAGES = 3
_NEXT = ("下一页", "下页 &gt;", "下一页&gt;&gt;")


def _trapped(site: Site) -> str:
    """Return a contact page; some have links to an endless calendar, and a hidden bait address."""
    html = site.contact()
    if site.company.number % _TRAPPED:
        return html
    bait = '<p style="display:none">邮箱：bait@bait.test</p><a href="/cal?day=1">联系日历</a>'
    return html.replace("</body>", bait + "</body>").replace("</BODY>", bait + "</BODY>")


def _news(site: Site, path: str) -> str:
    """Return a list of news of three pages, and its news pages."""
    found = _NEWS.fullmatch(path)
    if found is None:
        return ""
    if found["item"]:
        return site.other(path) if int(found["item"]) <= 15 else ""  # noqa: PLR2004
    page = int(found["page"] or 1)
    if not 1 <= page <= _NEWS_PAGES:
        return ""
    onward = f'<a href="/news/list_{page + 1}.html">下一页</a>' if page < _NEWS_PAGES else ""
    return site.other(path).replace("</p>", f"</p>{onward}", 1)


def _list_page(host: str, ones: tuple[Company, ...], page: int, pages: int) -> str:
    """A page of a directory: names with links to how to reach them, and a next page."""
    shown = ones[(page - 1) * PER_PAGE : page * PER_PAGE]
    items = "".join(
        f"<li><b>{one.name}</b> <a href='/c/{one.number}.html'>联系方式</a></li>" for one in shown
    )
    word = _NEXT[int(host.removeprefix("www.minglu")[0]) % len(_NEXT)]
    after = f"<a href='/list-{page + 1}.html'>{word}</a>" if page < pages else ""
    before = f"<a href='/list-{page - 1}.html'>上一页</a>" if page > 1 else ""
    return (
        f"<html><head><meta charset=utf-8><title>四川软件公司名录 第{page}页</title></head>"
        f"<body><h1>四川软件公司名录</h1><ul>{items}</ul><div class=pager>{before} {after}</div>"
        "</body></html>"
    )


def _calendar(path: str) -> str:
    day = path.removeprefix("/cal?day=")
    number = int(day) if day.isdecimal() and len(day) < 9 else 0  # noqa: PLR2004
    onwards = f"<a href='/cal?day={number + 1}'>联系下一页</a>"
    return f"<html><title>日历</title><p>第{number}天</p>{onwards}</html>"
