"""Random plan of a demo web: sites, channels, stories, reprints, list pages."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import TYPE_CHECKING

from lab.demo.plan import PER_PAGE, Entry, Host, Kind, Plan, Trait
from lab.demo.sites import Section, Site
from lab.demo.stories import CHINA, NEWEST, Story, Style

if TYPE_CHECKING:
    from lab.demo.vocabulary import Subject

_REPRINT = 0.14
"""Share of articles that are reprints from another site."""
_NEAR_MISS = 0.08
"""Share of stories with the template and names of an earlier story and other numbers."""
_COMMENTED = 0.08
_BLOGGED = 0.06
_ADVERTISED = 0.05
_STORY_ROOM = 3
"""Maximum number of pages per story: itself, its comments, a list page."""
_STEP = 2400
"""Mean seconds between two stories of a channel."""
_ADVERT_PATHS = ("/ad/show?id={}", "/promo/{}.html", "/click/landing-{}.html")
_ARTICLE_PATHS = (
    "{path}{t:%Y%m%d}/n{n}.shtml",
    "{path}a/{t:%Y-%m}/{t:%d}/content_{n}.htm",
    "{path}{n}.html",
    "{path}detail?id={n}",
    "{path}{t:%Y}/{t:%m%d}/c{s}-{n}.html",
    "{path}{t:%Y}/{t:%m}/{t:%d}/{slug}-{n}/",
)
_LIST_PATHS = (
    "{path}index_{p}.shtml",
    "{path}list_{p}.htm",
    "{path}page/{p}.html",
    "{path}?page={p}",
    "{path}index_{p}.html",
    "{path}page/{p}/",
)


@dataclass
class Planner(Plan):
    """A plan under construction; ``len(entries)`` never exceeds the requested number."""

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)  # noqa: S311  (a web, no secret)
        self._originals: dict[int, list[int]] = {}

    # -- Bones -----------------------------------------------------------------------------------

    def add(self, entry: Entry, trait: Trait | None = None) -> int:
        """Add a page; return its number."""
        self.entries.append(entry)
        number = len(self.entries) - 1
        if trait is not None:
            self.traits[number] = trait
        return number

    def link(self, source: int, *targets: int) -> None:
        """Add links to a page."""
        self.extra[source] = self.extra.get(source, ()) + targets

    def news_sections(self, site: int) -> list[Section]:
        """Return the sections of a site that list articles."""
        return [s for s in self.sections if s.site == site and s.kind == Kind.ARTICLE]

    def article(self, section: Section, url: str, trait: Trait | None = None) -> int:
        """Add an article with a new story of a section."""
        assert section.subject is not None  # noqa: S101  (only blogs have none)
        story = self.new_story(section, section.subject, -1, Style.NEWS)
        return self.add(Entry(url, Kind.ARTICLE, section.site, section.number, story), trait)

    def host(self, host: Host) -> str:
        """Add a host; return ``http://`` and its name."""
        self.hosts.setdefault(host.name, host)
        return f"http://{host.name}"

    def site(self, site: Site, host: Host | None = None) -> None:
        """Add a site with its front page, channels and service pages."""
        self.sites.append(site)
        policy = ("paths", "missing", "ours")[site.number % 3]
        base = self.host(host or Host(site.front, policy))
        self.fronts[site.number] = self.add(Entry(f"{base}/", Kind.HUB, site.number))
        for turn, subject in enumerate(site.subjects):
            for name in range(3 if site.kind in {"vertical", "island"} else 1):
                self._channel(site, subject, turn + name)
        if site.kind in {"portal", "paper", "vertical"}:
            self._blogs(site)
            self._service(site, base)

    def _channel(self, site: Site, subject: Subject, turn: int) -> None:
        place = turn % len(subject.slugs)
        slug, title = subject.slugs[place], subject.channels[turn % len(subject.channels)]
        host, path = site.front, f"/{slug}/"
        if site.kind == "portal":
            host, path = f"{slug}.{site.domain}", "/"
            self.host(Host(host, "paths" if turn % 2 else "open"))
        self._section(site, host, path, title, subject, Kind.ARTICLE)

    def _blogs(self, site: Site) -> None:
        name = site.subjects[0].language.lines["blog_name"]
        blog = f"blog.{site.domain}"
        self.host(Host(blog))
        self._section(site, blog, "/", name, None, Kind.BLOG)

    def _service(self, site: Site, base: str) -> None:
        passport = self.host(Host(f"passport.{site.domain}", "deny"))
        about = self.add(Entry(f"{base}/about.html", Kind.OTHER, site.number))
        login = self.add(Entry(f"{passport}/login", Kind.LOGIN, site.number))
        self.service[site.number] = (about, login)

    def _section(
        self, site: Site, host: str, path: str, title: str, subject: Subject | None, kind: Kind
    ) -> None:
        number = len(self.sections)
        self.sections.append(Section(number, site.number, host, path, title, subject, kind))
        self.contents.append([])
        first = Entry(f"http://{host}{path}", Kind.HUB, site.number, number)
        self.lists.append([self.add(first)])

    # -- Flesh -----------------------------------------------------------------------------------

    def grow(self, pages: int) -> None:
        """Add stories until there are ``pages`` pages."""
        for section in self.sections:
            if len(self.entries) < pages:
                self._story(section)
        chosen = [s for s in self.sections if s.kind == Kind.ARTICLE]
        weights = list(accumulate(self._weight(section) for section in chosen))
        blogs = [s for s in self.sections if s.kind == Kind.BLOG]
        while (room := pages - len(self.entries)) > 0:
            draw = self.random.random()
            if draw < _ADVERTISED or room < _STORY_ROOM:
                self._advert()
            elif draw < _ADVERTISED + _BLOGGED and blogs:
                self._story(self.random.choice(blogs))
            else:
                self._story(self.random.choices(chosen, cum_weights=weights)[0])

    def _weight(self, section: Section) -> float:
        site = self.sites[section.site]
        if site.kind == "fault":
            return 0.1
        if site.kind in {"vertical", "island"}:
            return 0.35
        return 1.3 if section.subject is self.topic else 1.0

    def _story(self, section: Section) -> None:
        contents = self.contents[section.number]
        if contents and len(contents) % PER_PAGE == 0:
            self._list_page(section)
        number = self._blog(section) if section.kind == Kind.BLOG else self._article(section)
        contents.append(number)
        if section.kind == Kind.ARTICLE and self.random.random() < _COMMENTED:
            self.comments[number] = self._comment(section, number)

    def _article(self, section: Section) -> int:
        assert section.subject is not None  # noqa: S101  (only blogs have none)
        earlier = self._originals.setdefault(section.subject.number, [])
        draw = self.random.random()
        original = self.random.choice(earlier) if earlier else -1
        if draw < _REPRINT and original >= 0 and self._elsewhere(original, section):
            story = self.entries[original].story
            return self.add(self._entry(section, story, Kind.ARTICLE, of=original))
        like = -1
        if _REPRINT <= draw < _REPRINT + _NEAR_MISS and original >= 0:
            story = self.entries[original].story
            like = self.stories[story].like if self.stories[story].like >= 0 else story
        story = self.new_story(section, section.subject, like, Style.NEWS)
        number = self.add(self._entry(section, story, Kind.ARTICLE))
        earlier.append(number)
        return number

    def _elsewhere(self, original: int, section: Section) -> bool:
        first = self.entries[original].site
        return first != section.site and self.sites[first].kind != "fault"

    def new_story(self, section: Section, subject: Subject, like: int, style: Style) -> int:
        """Plan a story that a section publishes now; return its number."""
        age = len(self.contents[section.number]) * _STEP + self.random.randrange(_STEP)
        if like >= 0:
            age += self.random.randint(1, 9) * 86_400
        number = len(self.stories)
        site = self.sites[section.site]
        published = (NEWEST - age) // 60 * 60
        self.stories.append(Story(number, subject.number, site.name, published, like, style))
        return number

    def _entry(self, section: Section, story: int, kind: Kind, of: int = -1) -> Entry:
        planned = self.stories[story]
        site = self.sites[section.site]
        path = _ARTICLE_PATHS[site.style].format(
            path=section.path,
            t=datetime.fromtimestamp(planned.published, CHINA),
            n=1_000_000 + len(self.entries) * 7,
            s=1000 + section.number,
            slug=section.subject.slug if section.subject else "post",
        )
        url = f"http://{section.host}{path}"
        return Entry(url, kind, site.number, section.number, story, of=of)

    def _list_page(self, section: Section) -> None:
        page = len(self.lists[section.number])
        style = self.sites[section.site].style
        path = _LIST_PATHS[style].format(path=section.path, p=page + 1)
        entry = Entry(f"http://{section.host}{path}", Kind.HUB, section.site, section.number, -1)
        self.lists[section.number].append(self.add(entry._replace(page=page)))

    def _blog(self, section: Section) -> int:
        subject = self.random.choice(self.sites[section.site].subjects)
        story = self.new_story(section, subject, -1, Style.BLOG)
        path = f"/u/{self.random.randint(100, 999)}/{1000 + len(self.entries)}.html"
        url = f"http://{section.host}{path}"
        return self.add(Entry(url, Kind.BLOG, section.site, section.number, story))

    def _comment(self, section: Section, of: int) -> int:
        site = self.sites[section.site]
        base = self.host(Host(f"comment.{site.domain}", "open"))
        url = f"{base}/article/{1_000_000 + of * 7}.html"
        return self.add(Entry(url, Kind.COMMENT, site.number, section.number, of=of))

    def _advert(self) -> None:
        turn = len(self.adverts)
        site = self.sites[0 if turn % 2 else self.random.randrange(len(self.sites))]
        section = next(s for s in self.sections if s.site == site.number)
        story = self.new_story(section, site.subjects[0], -1, Style.ADVERT)
        base = self.host(Host(f"ads.{self.sites[0].domain}"))
        if site.kind == "paper":
            base = f"http://{site.front}"
        path = _ADVERT_PATHS[turn % len(_ADVERT_PATHS)].format(4000 + turn)
        self.adverts.append(self.add(Entry(base + path, Kind.ADVERT, site.number, -1, story)))
