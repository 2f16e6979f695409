"""Special cases of the demo web that are hard for crawlers.

They are few and fixed, so that a web of any size has all of them: directives, redirects, broken and
empty bodies, wrong types, failing and slow hosts, traps without end, an island behind a tunnel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from lab.demo.plan import Entry, Host, Kind, Trait
from lab.demo.sites import fault_site
from lab.demo.stories import Style

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
        _link(self.planner, hub, *self.numbers)
        _link(self.planner, self.planner.fronts[PAPER], hub)

    def _page(self, name: str, kind: Kind, trait: Trait | None = None) -> int:
        planner = self.planner
        sections = _sections(planner, PAPER)[:3]
        section = sections[len(self.numbers) % len(sections)]
        story = -1
        if kind == Kind.ARTICLE:
            story = tell(planner, section)
        url = self.base + name
        return planner.add(Entry(url, kind, PAPER, section, story), trait)

    def _redirects(self) -> None:
        article = self._page("target.html", Kind.ARTICLE)
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
            trait = Trait(status=status, target=target)
            number = self._page(name, Kind.REDIRECT, trait)
            if name[-1] not in "23":
                self.numbers.append(number)

    def _copy(self, number: int) -> None:
        """Add a printer's copy of an article."""
        entry = self.planner.entries[number]
        url = entry.url.replace("/corner/", "/print/")
        copy = entry._replace(url=url, kind=Kind.COPY, of=number)
        self.numbers.append(self.planner.add(copy))

    def _base_hub(self) -> None:
        articles = [self._page(f"base-{i}.html", Kind.ARTICLE) for i in range(3)]
        hub = Entry(self.base + "base/", Kind.HUB, PAPER)
        number = self.planner.add(hub, Trait(body="base"))
        _link(self.planner, number, *articles)
        self.numbers.append(number)
        self.numbers.append(articles[0])
        self._copy(articles[0])


def tell(planner: Planner, section: int) -> int:
    """Return a new story for a section."""
    chosen = planner.sections[section]
    assert chosen.subject is not None  # noqa: S101  (callers pass news sections)
    return planner.new_story(chosen, chosen.subject, -1, Style.NEWS)


def _sections(planner: Planner, site: int) -> list[int]:
    return [s.number for s in planner.sections if s.site == site and s.kind == Kind.ARTICLE]


def _link(planner: Planner, source: int, *targets: int) -> None:
    planner.extra[source] = planner.extra.get(source, ()) + targets


def _article(planner: Planner, site: int, section: int, url: str) -> int:
    story = tell(planner, section)
    return planner.add(Entry(url, Kind.ARTICLE, site, section, story))


def _nofollow(planner: Planner) -> None:
    """Add two articles that only links with nofollow lead to."""
    base = f"http://{planner.sites[PAPER].front}/quiet/"
    section = _sections(planner, PAPER)[0]
    hub = planner.add(Entry(base, Kind.HUB, PAPER), Trait(robots="nofollow"))
    behind = _article(planner, PAPER, section, base + "behind.html")
    beside = _article(planner, PAPER, section, base + "beside.html")
    front = planner.fronts[PAPER]
    _link(planner, hub, behind)
    _link(planner, front, hub)
    planner.nofollow[front] = (beside,)


def _robots(planner: Planner) -> None:
    """Add articles under paths that robots.txt forbids for all, or for this crawler only."""
    for site, path in ((PORTAL, "/private/memo.html"), (PAPER, "/internal/memo.html")):
        url = f"http://{planner.sites[site].front}{path}"
        _link(
            planner, planner.fronts[site], _article(planner, site, _sections(planner, site)[0], url)
        )


def _tunnel(planner: Planner) -> None:
    """Add a tunnel of off-topic pages (channel, special, article) to the island."""
    topic = planner.topic
    away = next(
        number
        for number in reversed(_sections(planner, PAPER))
        if planner.sections[number].subject is not topic
    )
    base = f"http://{planner.sites[PAPER].front}/special/"
    special = planner.add(Entry(base, Kind.HUB, PAPER, away, page=-1))
    article = _article(planner, PAPER, away, base + "report.html")
    _link(planner, planner.lists[away][0], special)
    _link(planner, special, article)
    _link(planner, article, planner.fronts[ISLAND])
    planner.hidden.add(ISLAND)


def _tag(planner: Planner) -> None:
    """Add a tag page whose URL has the topic in percent-encoded UTF-8."""
    number = next(
        n for n in _sections(planner, PORTAL) if planner.sections[n].subject is planner.topic
    )
    url = f"http://{planner.sites[PORTAL].front}/tag/{quote(planner.topic.name)}"
    tag = planner.add(Entry(url, Kind.HUB, PORTAL, number, page=-1))
    _link(planner, planner.fronts[PORTAL], tag)


def _odd_hosts(planner: Planner, chosen: tuple[tuple[str, Host], ...]) -> None:
    for turn, (name, host) in enumerate(chosen):
        number = len(planner.sites)
        site = fault_site(number, turn, name, planner.topic)
        planner.hidden.add(number)
        planner.site(site, host._replace(name=site.front))
        for source in (PORTAL, PAPER):
            _link(planner, planner.fronts[source], planner.fronts[number])
        if host.soft:
            lost = [
                Entry(f"http://{site.front}/old/{i}.html", Kind.ERROR, number) for i in range(3)
            ]
            numbers = [planner.add(entry, Trait(body="missing")) for entry in lost]
            _link(planner, planner.fronts[number], *numbers)


def _traps(planner: Planner) -> None:
    domain = planner.sites[PORTAL].domain
    paper = planner.sites[PAPER].front
    for name in ("rili", "shop"):
        planner.host(Host(f"{name}.{domain}", "open"))
    urls = (
        f"http://rili.{domain}/2026/03/",
        f"http://shop.{domain}/",
        f"http://{paper}/dir/",
        f"http://{paper}/hop/1",
    )
    numbers = [planner.add(Entry(url, Kind.TRAP, PORTAL)) for url in urls[:2]]
    numbers.append(planner.add(Entry(urls[2], Kind.TRAP, PAPER)))
    numbers.append(planner.add(Entry(urls[3], Kind.TRAP, PAPER), Trait(status=302)))
    _link(planner, planner.fronts[PORTAL], *numbers[:2])
    _link(planner, planner.fronts[PAPER], *numbers[2:])
