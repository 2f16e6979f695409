"""The demo web: response and truth of each URL, drawn from a seed.

``generate(7, pages=600)`` makes a web; pages are rendered on request, so a hundred thousand
pages take memory for their plan alone. Equal arguments give equal bytes.
"""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lab.demo.answers import COOKIE, Answer, Answers, snare
from lab.demo.judge import topic_record
from lab.demo.linkage import Linkage
from lab.demo.oddities import PAPER, PORTAL, add_oddities
from lab.demo.plan import Kind, Plan
from lab.demo.planner import Planner
from lab.demo.render import Renderer
from lab.demo.sites import make_sites
from lab.demo.stories import Editions, Storybook
from lab.demo.truths import Truth, Truths
from lab.demo.vocabulary import subject_named
from topiccrawl.addons.simulate.harvest import Graph, Reach, find_reach

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

DEFAULT_PAGES = 600
"""Default number of pages of a web; a crawl of it takes a minute or two."""
DEFAULT_TOPIC = "新能源汽车"
_PAGES_A_SITE = 500
_FEWEST_SITES, _MOST_SITES = 6, 120
_MOST_HOPS = 10
_LATE = 1_000
"""Number of a visit from which no page fails."""


def generate(
    seed: int,
    pages: int = DEFAULT_PAGES,
    topic: str = DEFAULT_TOPIC,
    *,
    sites: int = 0,
    traps: bool = True,
    faults: bool = True,
) -> Web:
    """Return a web of exactly ``pages`` pages (endless traps count as their entrances).

    Args:
        seed: Equal seeds give equal webs, byte for byte.
        pages: From some 300 (the odd corners need their room) to 100,000 and more.
        topic: Subject that counts as relevant, by name or slug.
        sites: Publishers, at least 6; 0 lets their number grow with the pages.
        traps: Whether endless traps exist.
        faults: Whether hosts and pages that fail, wait or break off exist.

    Raises:
        ValueError: If the topic is unknown or the pages do not hold the odd corners.
    """
    planner = Planner(seed, subject_named(topic))
    number = sites or min(_MOST_SITES, _FEWEST_SITES + pages // _PAGES_A_SITE)
    for site in make_sites(max(_FEWEST_SITES, number), planner.topic):
        planner.site(site)
    add_oddities(planner, traps=traps, faults=faults)
    planner.grow(pages)
    if len(planner.entries) != pages:
        raise ValueError(f"{pages} pages are too few: this web needs {len(planner.entries)}")
    return Web(planner)


class Web:
    """The answers and the truth of a demo web. Immutable; safe to share between servers.

    Args:
        plan: What exists.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.topic = plan.topic.name
        self.linkage = Linkage(plan)
        editions = Editions(plan, Storybook(plan.seed, plan.stories))
        renderer = Renderer(plan, self.linkage, editions)
        self._by_url = {entry.url: n for n, entry in enumerate(plan.entries)}
        self._by_name = {url.removeprefix("http://"): n for url, n in self._by_url.items()}
        self._answers = Answers(plan, self._by_name, renderer)
        self._renderer = renderer

    @property
    def hosts(self) -> tuple[str, ...]:
        """Every host name that answers or should."""
        return tuple(self.plan.hosts)

    @cached_property
    def seeds(self) -> tuple[str, ...]:
        """A few start hubs: the portal's channel of the topic, its front page, a paper's."""
        plan = self.plan
        channel = next(
            plan.lists[s.number][0]
            for s in plan.sections
            if s.site == PORTAL and s.subject is plan.topic
        )
        numbers = (channel, plan.fronts[PORTAL], plan.fronts[PAPER])
        return tuple(plan.entries[n].url for n in numbers)

    @cached_property
    def truth(self) -> Truths:
        """URL to truth, for every page; computed on request."""
        return Truths(self.plan, self._by_url, self._found, self._renderer)

    @cached_property
    def relevant(self) -> frozenset[int]:
        """Entries that are on topic."""
        return frozenset(n for n in range(len(self.plan.entries)) if self.truth.relevant(n))

    @cached_property
    def obtainable(self) -> frozenset[int]:
        """Entries that a polite crawler can fetch from the seeds, redirects not counted."""
        plan = self.plan
        return frozenset(n for n in self._found.depth if plan.works(n) and not plan.trait(n).target)

    @cached_property
    def _found(self) -> Reach[int]:
        def targets(number: int) -> Sequence[int]:
            target = self.plan.trait(number).target
            if target:
                return (self._by_url[target],)
            return self.linkage.followed(number) if self.plan.works(number) else ()

        seeds = [self._by_url[url] for url in self.seeds]
        return find_reach(seeds, targets)

    def number(self, url: str) -> int | None:
        """Return the entry of a URL as a client may write it, None where there is none."""
        return self._by_name.get(name(url))

    def endless(self, url: str) -> bool:
        """Return whether a URL is inside an endless trap."""
        host = urlsplit(url).netloc.lower()
        return host in self._answers.snaring and snare(name(url)) is not None

    def lookup(self, url: str) -> Truth | None:
        """Return the truth of a URL, inside traps too; None where nothing is."""
        number = self.number(url)
        if number is not None:
            return self.truth.of(number)
        return Truth(url, Kind.TRAP, encoding="utf-8") if self.endless(url) else None

    def path(self, url: str) -> tuple[str, ...]:
        """Return the URLs from a seed to a page, both included; () where none leads there."""
        number: int | None = self._by_url[url]
        if number not in self._found.depth:
            return ()
        trail = []
        while number is not None:
            trail.append(self.plan.entries[number].url)
            number = self._found.parent.get(number)
        return tuple(reversed(trail))

    def answer(self, url: str, visit: int = 0, cookie: str = "") -> Answer:
        """Return the answer to the ``visit``-th request (from 0) for a URL.

        Args:
            url: Absolute; its scheme, fragment and the case of its host do not matter.
            visit: Earlier requests for it; some pages fail at first.
            cookie: The request's Cookie header.
        """
        return self._answers.answer(name(url), visit, cookie)

    def graph(self) -> Graph[int]:
        """Return what can be fetched as a graph, redirects followed (for the oracle)."""
        onward = {n: self._onward(n) for n in range(len(self.plan.entries))}
        seeds = [self._by_url[url] for url in self.seeds]
        return Graph(onward, self.relevant & self.obtainable, seeds)

    def _onward(self, number: int) -> list[int]:
        if number not in self.obtainable:
            return []
        obtainable, traits = self.obtainable, self.plan.traits
        links = self.linkage.followed(number)
        ends = (self._end(n) if n in traits else n for n in links)
        return [n for n in dict.fromkeys(ends) if n in obtainable]

    def _end(self, number: int) -> int:
        """Return the entry where redirects from one end; -1 where they do not end."""
        for _ in range(_MOST_HOPS):
            target = self.plan.trait(number).target
            if not target:
                return number
            number = self._by_url[target]
        return -1

    def write_truth(self, path: Path) -> None:
        """Write every page's truth, one JSON object a line."""
        with path.open("w", encoding="utf-8") as lines:
            for truth in self.truth.values():
                lines.write(json.dumps(asdict(truth), ensure_ascii=False) + "\n")

    def write_collection(self, path: Path) -> None:
        """Write what can be fetched as a page collection, and its topic beside it.

        A collection (``*.web.jsonl.gz``) has one page per line: ``url``, ``status``, ``type``,
        ``headers``, ``body64``, ``label``, ``kind``. It has the pages that a polite crawler can
        fetch, and redirects to them; traps and faults cannot be exported. The topic has terms,
        seeds, budget, and the oracle's curve and area. Equal webs give equal bytes.
        """
        with path.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
            for page in self._recorded_pages():
                packed.write((json.dumps(page, ensure_ascii=False) + "\n").encode())
        topic = self.plan.topic
        record = topic_record(self.graph(), topic.slug, topic.slug, topic.terms, self.seeds)
        text = json.dumps([record], ensure_ascii=False, indent=1) + "\n"
        stem = path.name.removesuffix(".web.jsonl.gz")
        path.with_name(f"{stem}.topics.json").write_text(text, encoding="utf-8")

    def _recorded_pages(self) -> Iterator[dict[str, object]]:
        for number, entry in enumerate(self.plan.entries):
            if number not in self.obtainable and entry.kind != Kind.REDIRECT:
                continue
            if entry.kind == Kind.TRAP:
                continue
            answer = self.answer(entry.url, _LATE, COOKIE)
            headers = {k: v for k, v in answer.headers if k not in {"Content-Type", "ETag"}}
            kind = dict(answer.headers).get("Content-Type", "text/html")
            subject = self.truth.subject(number)
            yield {
                "url": entry.url,
                "status": answer.status,
                "type": kind,
                "headers": headers,
                "kind": str(entry.kind),
                "label": subject.slug if subject and self.truth.is_content(number) else "",
                "body64": base64.b64encode(answer.body).decode("ascii"),
            }


def name(url: str) -> str:
    """Return what identifies a page: host, path and query, without scheme and fragment.

    >>> name("HTTP://WWW.A.test?x=1#top")
    'www.a.test/?x=1'
    """
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.netloc.lower()}{parts.path or '/'}{query}"
