"""Plan of the demo web: all its pages as numbers, without their texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from lab.demo.sites import Section, Site
    from lab.demo.stories import Story
    from lab.demo.vocabulary import Subject

PER_PAGE = 20
"""Number of stories on a list page."""


class Kind(StrEnum):
    """Kind of a page."""

    HUB = "hub"
    ARTICLE = "article"
    BLOG = "blog"
    ADVERT = "advert"
    COMMENT = "comment"
    COPY = "copy"
    LOGIN = "login"
    OTHER = "other"
    FILE = "file"
    TRAP = "trap"
    REDIRECT = "redirect"
    ERROR = "error"


class Trait(NamedTuple):
    """Special traits of a page; most pages have none.

    Attributes:
        status: Status of the response.
        target: Absolute URL of its redirect.
        robots: Content of its meta robots.
        robots_header: X-Robots-Tag.
        cookie: Redirects to itself until the client sends a cookie.
        flaky: Number of first responses that fail with ``status``.
        cut: ``half`` of the body then closed, ``drop`` without a byte, ``hang`` without an end.
        body: Name of an odd body: ``empty``, ``broken``, ``deep``, ``long``, ``base``,
            ``missing``, ``pdf``, ``image``; "" for the usual one.
        retry_after: Seconds in a Retry-After header, 0 for none.
    """

    status: int = 200
    target: str = ""
    robots: str = ""
    robots_header: str = ""
    cookie: bool = False
    flaky: int = 0
    cut: str = ""
    body: str = ""
    retry_after: int = 0


PLAIN = Trait()
"""Traits of a normal page."""


_ROBOTS = {
    "open": (200, "User-agent: *\nDisallow:\n"),
    "missing": (404, "not found"),
    "paths": (200, "User-agent: *\nDisallow: /private/\nDisallow: /search\n"),
    "ours": (
        200,
        "User-agent: topiccrawl\nDisallow: /internal/\n\nUser-agent: *\nDisallow: /private/\n",
    ),
    "delay": (200, "User-agent: *\nCrawl-delay: 0.5\nDisallow:\n"),
    "deny": (200, "User-agent: *\nDisallow: /\n"),
    "broken": (503, "overloaded"),
}
_CLOSED = {"paths": ("/private/", "/search"), "ours": ("/internal/",), "deny": ("/",)}
_UNREADABLE = {"refused", "drop"}
"""Faults with which robots.txt cannot be fetched either."""
_FAILING = {*_UNREADABLE, "busy"}


class Host(NamedTuple):
    """Behaviour of a host.

    Attributes:
        name: Host name.
        robots: Its robots.txt: ``open``, ``missing``, ``paths``, ``ours`` (a group for this
            crawler alone), ``delay``, ``deny``, ``broken`` (5xx).
        fault: ``refused`` (no connection), ``drop``, ``busy`` (503) or "".
        latency: Seconds before each response.
        soft: Whether unknown paths get a page with status 200.
    """

    name: str
    robots: str = "open"
    fault: str = ""
    latency: float = 0.0
    soft: bool = False

    @property
    def robots_file(self) -> tuple[int, str]:
        """Status and text of robots.txt."""
        return _ROBOTS[self.robots]

    def allows(self, path: str) -> bool:
        """Return whether topiccrawl may fetch a path.

        >>> Host("www.a.test", "ours").allows("/internal/memo.html")
        False
        """
        if self.robots == "broken" or self.fault in _UNREADABLE:
            return False
        return not path.startswith(_CLOSED.get(self.robots, ("\0",)))


class Entry(NamedTuple):
    """A planned page.

    Attributes:
        url: Canonical URL.
        kind: Kind of the page.
        site: Number of its site.
        section: Number of its section, -1 where it belongs to none.
        story: Number of the story it shows, -1 for none.
        page: Number of a list page, from 0.
        of: Number of the entry it copies or comments, -1 for none.
    """

    url: str
    kind: Kind
    site: int
    section: int = -1
    story: int = -1
    page: int = 0
    of: int = -1


@dataclass
class Plan:
    """All pages of a demo web.

    Attributes:
        seed: Seed of all random draws.
        topic: The relevant subject.
        entries: Every page; a page's number is its position.
        sites: Position is number.
        sections: Position is number.
        stories: Position is number.
        hosts: By name.
        contents: Section number to the entries of its stories, newest first.
        lists: Section number to the entries of its list pages.
        fronts: Site number to the entry of its front page.
        adverts: Entries of adverts.
        comments: Entry of an article to the entry of its comment page.
        service: Site number to its login and "about" pages.
        extra: Entry to further entries it links to.
        nofollow: Entry to entries it links to with rel=nofollow.
        traits: Entry to its special traits.
        hidden: Sites that only ``extra`` links lead to.
        absent: Entries without links to them, as they do not exist in this edition.
        edited: Entries whose text was changed since it was first published.
        validators: ``etag`` where all pages have one; ``mixed``: those of every third site have a
            Last-Modified instead.
    """

    seed: int
    topic: Subject
    entries: list[Entry] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    stories: list[Story] = field(default_factory=list)
    hosts: dict[str, Host] = field(default_factory=dict)
    contents: list[list[int]] = field(default_factory=list)
    lists: list[list[int]] = field(default_factory=list)
    fronts: dict[int, int] = field(default_factory=dict)
    adverts: list[int] = field(default_factory=list)
    comments: dict[int, int] = field(default_factory=dict)
    service: dict[int, tuple[int, ...]] = field(default_factory=dict)
    extra: dict[int, tuple[int, ...]] = field(default_factory=dict)
    nofollow: dict[int, tuple[int, ...]] = field(default_factory=dict)
    traits: dict[int, Trait] = field(default_factory=dict)
    hidden: set[int] = field(default_factory=set)
    absent: frozenset[int] = frozenset()
    edited: frozenset[int] = frozenset()
    validators: str = "etag"

    def trait(self, number: int) -> Trait:
        """Return the special traits of an entry."""
        return self.traits.get(number, PLAIN)

    def host_of(self, number: int) -> Host:
        """Return the host of an entry."""
        return self.hosts[urlsplit(self.entries[number].url).netloc]

    def allows(self, number: int) -> bool:
        """Return whether robots.txt allows topiccrawl to fetch an entry."""
        return self.host_of(number).allows(urlsplit(self.entries[number].url).path)

    def works(self, number: int) -> bool:
        """Return whether an entry is allowed and finally gets a response, possibly a redirect."""
        trait = self.trait(number)
        if self.host_of(number).fault in _FAILING or not self.allows(number):
            return False
        usual = trait.status == 200 and not trait.cut  # noqa: PLR2004  (OK)
        return bool(trait.flaky or trait.target) or usual
