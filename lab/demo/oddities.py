"""Special cases of the demo web that are hard for crawlers.

They are few and fixed, so that a web of any size has all of them: directives, redirects, broken and
empty bodies, wrong types, failing and slow hosts, traps without end, an island behind a tunnel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from lab.demo.plan import Entry, Host, Kind, Trait
from lab.demo.sites import fault_site

if TYPE_CHECKING:
    from lab.demo.planner import Planner

PORTAL, PAPER, ISLAND = 0, 2, 3
"""Numbers of the sites with special cases."""
SLOW = 0.8
"""Latency of a slow host in seconds."""

_CORNER = (
    ("noindex.html", Kind.ARTICLE, Trait(robots="noindex,follow")),
    ("noarchive.html", Kind.ARTICLE, Trait(robots="noarchive")),
    ("header.html", Kind.ARTICLE, Trait(robots_header="noindex, noarchive")),
    ("broken.html", Kind.ARTICLE, Trait(body="broken")),
    ("cookie.html", Kind.ARTICLE, Trait(cookie=True)),
    ("deep.html", Kind.OTHER, Trait(body="deep")),
    ("long.html", Kind.OTHER, Trait(body="long")),
    ("empty.html", Kind.OTHER, Trait(body="empty")),
    ("report.pdf", Kind.FILE, Trait(body="pdf")),
    ("download.html", Kind.FILE, Trait(body="pdf")),
    ("photo.html", Kind.FILE, Trait(body="image")),
    ("gone.html", Kind.ERROR, Trait(status=410)),
    ("missing.html", Kind.ERROR, Trait(status=404)),
)
_FAULTS = (
    ("flaky.html", Kind.ARTICLE, Trait(status=503, flaky=2, retry_after=1)),
    ("halved.html", Kind.ARTICLE, Trait(cut="half", flaky=1)),
    ("crash.html", Kind.ERROR, Trait(status=500)),
    ("busy.html", Kind.ERROR, Trait(status=503, retry_after=1)),
    ("cut.html", Kind.ERROR, Trait(cut="half")),
    ("drop.html", Kind.ERROR, Trait(cut="drop")),
    ("hang.html", Kind.ERROR, Trait(cut="hang")),
)
_QUIET_HOSTS = (
    ("closed", Host("", "deny")),
    ("patient", Host("", "delay")),
    ("soft", Host("", "missing", soft=True)),
)
_FAULT_HOSTS = (
    ("slow", Host("", "open", latency=SLOW)),
    ("busy", Host("", "missing", fault="busy")),
    ("refused", Host("", "open", fault="refused")),
    ("dropped", Host("", "open", fault="drop")),
    ("norobots", Host("", "broken")),
)


def add_oddities(planner: Planner, *, traps: bool, faults: bool) -> None:
    """Add all special cases; ``traps`` are endless ones, ``faults`` fail or wait."""
    _Corner(planner).build(faults=faults)
    _nofollow(planner)
    _robots(planner)
    _tunnel(planner)
    _tag(planner)
    _odd_hosts(planner, _QUIET_HOSTS + (_FAULT_HOSTS if faults else ()))
    if traps:
        _traps(planner)


class _Corner:
    """Add a hub that lists one special page of each kind."""

    def __init__(self, planner: Planner) -> None:
        self.planner = planner
        self.base = f"http://{planner.sites[PAPER].front}/corner/"
        self.numbers: list[int] = []

    def build(self, *, faults: bool) -> None:
        hub = self.planner.add(Entry(self.base, Kind.HUB, PAPER))
        for name, kind, trait in _CORNER + (_FAULTS if faults else ()):
            self.numbers.append(self._page(name, kind, trait))
        self._redirects()
        self._base_hub()
        self.planner.link(hub, *self.numbers)
        self.planner.link(self.planner.fronts[PAPER], hub)

    def _page(self, name: str, kind: Kind = Kind.ARTICLE, trait: Trait | None = None) -> int:
        sections = self.planner.news_sections(PAPER)[:3]
        section = sections[len(self.numbers) % len(sections)]
        url = self.base + name
        if kind == Kind.ARTICLE:
            return self.planner.article(section, url, trait)
        return self.planner.add(Entry(url, kind, PAPER, section.number), trait)

    def _redirects(self) -> None:
        article = self._page("target.html")
        self._copy(article)
        final = self.planner.entries[article].url
        front = self.planner.entries[self.planner.fronts[PORTAL]].url
        routes = (
            ("go/moved", 301, final),
            ("go/chain-1", 302, self.base + "go/chain-2"),
            ("go/chain-2", 302, self.base + "go/chain-3"),
            ("go/chain-3", 301, final),
            ("go/loop-1", 302, self.base + "go/loop-2"),
            ("go/loop-2", 302, self.base + "go/loop-1"),
            ("go/front", 307, front),
        )
        for name, status, target in routes:
            number = self._page(name, Kind.REDIRECT, Trait(status=status, target=target))
            if name[-1] not in "23":
                self.numbers.append(number)

    def _copy(self, number: int) -> None:
        """Add a printer's copy of an article."""
        entry = self.planner.entries[number]
        url = entry.url.replace("/corner/", "/print/")
        copy = entry._replace(url=url, kind=Kind.COPY, of=number)
        self.numbers.append(self.planner.add(copy))

    def _base_hub(self) -> None:
        articles = [self._page(f"base-{i}.html") for i in range(3)]
        hub = Entry(self.base + "base/", Kind.HUB, PAPER)
        number = self.planner.add(hub, Trait(body="base"))
        self.planner.link(number, *articles)
        self.numbers += [number, articles[0]]
        self._copy(articles[0])


def _nofollow(planner: Planner) -> None:
    """Add two articles that only links with nofollow lead to."""
    base = f"http://{planner.sites[PAPER].front}/quiet/"
    section = planner.news_sections(PAPER)[0]
    hub = planner.add(Entry(base, Kind.HUB, PAPER), Trait(robots="nofollow"))
    planner.link(hub, planner.article(section, base + "behind.html"))
    planner.link(planner.fronts[PAPER], hub)
    planner.nofollow[planner.fronts[PAPER]] = (planner.article(section, base + "beside.html"),)


def _robots(planner: Planner) -> None:
    """Add articles under paths that robots.txt forbids for all, or for this crawler only."""
    for site, path in ((PORTAL, "/private/memo.html"), (PAPER, "/internal/memo.html")):
        url = f"http://{planner.sites[site].front}{path}"
        article = planner.article(planner.news_sections(site)[0], url)
        planner.link(planner.fronts[site], article)


def _tunnel(planner: Planner) -> None:
    """Add a tunnel of off-topic pages (channel, special, article) to the island."""
    sections = planner.news_sections(PAPER)
    away = next(one for one in reversed(sections) if one.subject is not planner.topic)
    base = f"http://{planner.sites[PAPER].front}/special/"
    special = planner.add(Entry(base, Kind.HUB, PAPER, away.number, page=-1))
    article = planner.article(away, base + "report.html")
    planner.link(planner.lists[away.number][0], special)
    planner.link(special, article)
    planner.link(article, planner.fronts[ISLAND])
    planner.hidden.add(ISLAND)


def _tag(planner: Planner) -> None:
    """Add a tag page whose URL has the topic in percent-encoded UTF-8."""
    sections = planner.news_sections(PORTAL)
    section = next(one for one in sections if one.subject is planner.topic)
    url = f"http://{planner.sites[PORTAL].front}/tag/{quote(planner.topic.name)}"
    tag = planner.add(Entry(url, Kind.HUB, PORTAL, section.number, page=-1))
    planner.link(planner.fronts[PORTAL], tag)


def _odd_hosts(planner: Planner, chosen: tuple[tuple[str, Host], ...]) -> None:
    for turn, (name, host) in enumerate(chosen):
        number = len(planner.sites)
        site = fault_site(number, turn, name, planner.topic)
        planner.hidden.add(number)
        planner.site(site, host._replace(name=site.front))
        for source in (PORTAL, PAPER):
            planner.link(planner.fronts[source], planner.fronts[number])
        if host.soft:
            for i in range(3):
                lost = Entry(f"http://{site.front}/old/{i}.html", Kind.ERROR, number)
                planner.link(planner.fronts[number], planner.add(lost, Trait(body="missing")))


def _traps(planner: Planner) -> None:
    domain = planner.sites[PORTAL].domain
    paper = planner.sites[PAPER].front
    traps = (
        (PORTAL, f"http://rili.{domain}/2026/03/", None),
        (PORTAL, f"http://shop.{domain}/", None),
        (PAPER, f"http://{paper}/dir/", None),
        (PAPER, f"http://{paper}/hop/1", Trait(status=302)),
    )
    for name in ("rili", "shop"):
        planner.host(Host(f"{name}.{domain}", "open"))
    for site, url, trait in traps:
        planner.link(planner.fronts[site], planner.add(Entry(url, Kind.TRAP, site), trait))
