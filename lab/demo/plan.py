"""Plan of the demo web: all its pages as numbers, without their texts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

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


@dataclass(frozen=True)
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
    entries: tuple[Entry, ...]
    sites: tuple[Site, ...]
    sections: tuple[Section, ...]
    stories: tuple[Story, ...]
    hosts: Mapping[str, Host]
    contents: tuple[tuple[int, ...], ...]
    lists: tuple[tuple[int, ...], ...]
    fronts: Mapping[int, int]
    adverts: tuple[int, ...]
    comments: Mapping[int, int]
    service: Mapping[int, tuple[int, ...]]
    extra: Mapping[int, tuple[int, ...]]
    nofollow: Mapping[int, tuple[int, ...]]
    traits: Mapping[int, Trait]
    hidden: frozenset[int]
    absent: frozenset[int] = frozenset()
    edited: frozenset[int] = frozenset()
    validators: str = "etag"

    def trait(self, number: int) -> Trait:
        """Return the special traits of an entry."""
        return self.traits.get(number, PLAIN)
