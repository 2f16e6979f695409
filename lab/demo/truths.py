"""The truth of every page of a demo web, written on request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from typing_extensions import override

from lab.demo.plan import Entry, Kind, Plan
from lab.demo.stories import CHINA
from lab.demo.vocabulary import subjects

if TYPE_CHECKING:
    from lab.demo.render import Renderer
    from lab.demo.vocabulary import Subject
    from topiccrawl.addons.simulate.harvest import Reach

_SUBJECTS = subjects()
_CONTENT = frozenset({Kind.ARTICLE, Kind.BLOG, Kind.COPY, Kind.HUB})
"""Kinds of pages that can be relevant to a topic."""
_WITH_STORY = frozenset({Kind.ARTICLE, Kind.BLOG, Kind.ADVERT, Kind.COPY})
_NO_ANSWER = {"drop": 0, "busy": 503, "refused": 502}


@dataclass(frozen=True, slots=True)
class Truth:
    """All that the generator knows of a page.

    Attributes:
        url: Canonical URL.
        kind: What it is.
        subject: Label of its subject, "" for none.
        relevant: Whether it is an article, blog post or hub of the web's topic.
        allowed: Whether robots.txt lets ``topiccrawl`` fetch it (False too where that file is not
            available).
        reachable: Whether a page that can be fetched leads to it, endless traps apart.
        depth: Links (redirects count) from the nearest seed; -1 where not reachable.
        obtainable: Reachable, allowed, and in the end answered with status 200.
        status: Of its answer; 0 where there is none (cut, dropped, never ending).
        target: Where it redirects, "" for none.
        title: Headline of an article, blog post or advert.
        body: Its paragraphs, one a line.
        published: ISO 8601 with zone, to the minute.
        source: Site that published the story first.
        author: Its author.
        language: ``zh``, ``zh-Hant`` or ``en``.
        encoding: Codec of its bytes, whatever header and meta say.
        story: Number of its story, shared by reprints and copies; -1 for none.
        reprint_of: URL of the original that it reprints.
        like: Story that has the same template and names but other numbers and date; -1.
        canonical: URL that its ``rel=canonical`` names, "" for none.
        noindex: By meta robots or X-Robots-Tag; so are the next two.
        nofollow: Its links are not to be followed.
        noarchive: It is not to be kept.
    """

    url: str
    kind: Kind
    subject: str = ""
    relevant: bool = False
    allowed: bool = True
    reachable: bool = False
    depth: int = -1
    obtainable: bool = False
    status: int = 200
    target: str = ""
    title: str = ""
    body: str = ""
    published: str = ""
    source: str = ""
    author: str = ""
    language: str = ""
    encoding: str = ""
    story: int = -1
    reprint_of: str = ""
    like: int = -1
    canonical: str = ""
    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False


class Truths(Mapping[str, Truth]):
    """URL to truth, in the order of the plan.

    Args:
        plan: What exists.
        by_url: URL to entry.
        found: Paths to the entries.
        renderer: Knows editions and canonical links.
    """

    def __init__(
        self, plan: Plan, by_url: Mapping[str, int], found: Reach[int], renderer: Renderer
    ) -> None:
        self.plan = plan
        self.by_url = by_url
        self.found = found
        self.renderer = renderer

    @override
    def __getitem__(self, url: str) -> Truth:
        return self.of(self.by_url[url])

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self.by_url)

    @override
    def __len__(self) -> int:
        return len(self.by_url)

    def relevant(self, number: int) -> bool:
        """Return whether an entry is on the web's topic; cheap, writes nothing."""
        return self.is_content(number) and self.subject(number) is self.plan.topic

    def is_content(self, number: int) -> bool:
        """Return whether an entry is of a kind that can be on topic."""
        return self.plan.entries[number].kind in _CONTENT

    def subject(self, number: int) -> Subject | None:
        """Return what an entry is about, None for front pages, adverts, service pages ..."""
        entry = self.plan.entries[number]
        if entry.kind in {Kind.ARTICLE, Kind.BLOG, Kind.COPY}:
            return _SUBJECTS[self.plan.stories[entry.story].subject]
        if entry.section >= 0 and entry.kind in {Kind.HUB, Kind.COMMENT}:
            return self.plan.sections[entry.section].subject
        about = self.plan.sites[entry.site].subjects
        front = self.plan.fronts[entry.site] == number
        return about[0] if front and len(about) == 1 else None

    def of(self, number: int) -> Truth:
        """Return the truth of an entry."""
        entry = self.plan.entries[number]
        site, trait = self.plan.sites[entry.site], self.plan.trait(number)
        subject = self.subject(number)
        robots = f"{trait.robots} {trait.robots_header}"
        reachable = number in self.found.depth
        works_out = self.plan.works(number) and not trait.target
        truth = Truth(
            url=entry.url,
            kind=entry.kind,
            subject=subject.slug if subject else "",
            relevant=self.relevant(number),
            allowed=self.plan.allows(number),
            reachable=reachable,
            depth=self.found.depth.get(number, -1),
            obtainable=reachable and works_out,
            status=self._status(number),
            target=trait.target,
            language=site.language,
            encoding="utf-8" if entry.kind == Kind.TRAP else site.charset.codec,
            canonical=self.renderer.canonical(number),
            noindex="noindex" in robots,
            nofollow="nofollow" in robots,
            noarchive="noarchive" in robots,
        )
        return self._with_story(number, entry, truth) if entry.kind in _WITH_STORY else truth

    def _status(self, number: int) -> int:
        trait, fault = self.plan.trait(number), self.plan.host_of(number).fault
        if fault in _NO_ANSWER:
            return _NO_ANSWER[fault]
        if trait.flaky:
            return 200
        return 0 if trait.cut else trait.status

    def _with_story(self, number: int, entry: Entry, truth: Truth) -> Truth:
        edition = self.renderer.editions.edition(number)
        reprint = entry.kind == Kind.ARTICLE and entry.of >= 0
        when = datetime.fromtimestamp(edition.published, CHINA)
        return replace(
            truth,
            title=edition.title,
            body="\n".join(edition.paragraphs),
            published=when.isoformat(timespec="minutes"),
            source=edition.source,
            author=edition.author,
            story=entry.story,
            reprint_of=self.plan.entries[entry.of].url if reprint else "",
            like=self.plan.stories[entry.story].like,
        )
