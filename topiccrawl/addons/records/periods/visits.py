"""State of a seed being crawled: its pages, their states and their records."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import xxhash

from topiccrawl.addons.records.periods.periods import Seed, Stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from topiccrawl.addons.records.record import Record
    from topiccrawl.model import Page

MISSES_UNTIL_GONE = 2
"""Number of responses 404 or 410 in a row after which a page is gone (**D**)."""


class State(StrEnum):
    """State of a page of a seed.

    MISSING: it answered 404 or 410 once. GONE: it did so twice in a row.
    """

    OPEN = "open"
    DONE = "done"
    FAILED = "failed"
    MISSING = "missing"
    GONE = "gone"


class Result(StrEnum):
    """Result of a request for a page."""

    READ = "read"
    UNCHANGED = "unchanged"
    MISSING = "missing"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Visit:
    """A page fetched for a seed, in a layer.

    Attributes:
        url: Canonical URL.
        layer: Layer whose keywords select links of the page; values are extracted in the last one.
        hop: Number of "next page" links followed before it in this layer.
        place: Position among the seed's pages, from 0.
        period: Number of the last period in which a page of the seed linked to it.
        state: State of the page in that period.
        misses: Number of responses 404 or 410 in a row.
        etag: ETag of the response, as received.
        modified: Last-Modified of the response, as received.
        digest: MD5 of the main text if values were extracted, or "".
        version: Version of the template at the last extraction.
        first: Time of the first extraction, seconds since the epoch.
        changed: Time of the last fetch with a different text, seconds since the epoch.
        records: Extracted records, in the format of ``Record.as_dict``.
    """

    url: str
    layer: int = 0
    hop: int = 0
    place: int = 0
    period: int = 0
    state: State = State.OPEN
    misses: int = 0
    etag: str = ""
    modified: str = ""
    digest: str = ""
    version: int = 0
    first: float = 0.0
    changed: float = 0.0
    records: tuple[Mapping[str, Any], ...] = ()


class Child(NamedTuple):
    """A page to which another page of the seed links.

    Attributes:
        url: Canonical URL.
        layer: Layer of the page.
        hop: Number of "next page" links followed before it.
    """

    url: str
    layer: int
    hop: int = 0


class PageRequest(NamedTuple):
    """A request for a page.

    Attributes:
        seed: URL of the seed.
        name: Name of the visit.
        url: URL to fetch.
        layer: Layer of the page.
        hop: Number of "next page" links followed before it.
        retry: Whether the page is requested again after a response 404 or 410.
        etag: Value of If-None-Match, or "".
        modified: Value of If-Modified-Since, or "".
    """

    seed: str
    name: str
    url: str
    layer: int
    hop: int = 0
    retry: bool = False
    etag: str = ""
    modified: str = ""

    @property
    def role(self) -> str:
        """Role of the request in the frontier, unique in its period."""
        return f"{self.name}.again" if self.retry else self.name


@dataclass(frozen=True, slots=True)
class PageResult:
    """Result of one page in one layer.

    Attributes:
        seed: URL of the seed.
        name: Name of the visit.
        result: Result of the request.
        layer: Layer of the visit, or a later layer to which the page belongs as well.
        url: URL of the page.
        digest: MD5 of the main text if values were extracted, or "".
        etag: ETag of the response.
        modified: Last-Modified of the response.
        records: Extracted records; None if extraction was not attempted.
    """

    seed: str
    name: str
    result: Result
    layer: int = 0
    url: str = ""
    digest: str = ""
    etag: str = ""
    modified: str = ""
    records: tuple[Record, ...] | None = None


@dataclass(frozen=True, slots=True)
class PageResults:
    """Item with the results of a page in its layer and in later layers, all of one seed."""

    results: tuple[PageResult, ...]


def name_of(seed: str, layer: int, url: str) -> str:
    """Return the name of a visit: a digest of its arguments.

    >>> name_of("http://a.test/", 0, "http://a.test/") == name_of("http://a.test/", 1, "http://a.test/")
    False
    """
    of, to = (xxhash.xxh3_64_hexdigest(text.encode()) for text in (seed, url))
    return f"{of}.{layer}.{to}"


_CLOCK = re.compile(
    r"\d{4}\s*[-/.年]\s*\d{1,2}\s*[-/.月]\s*\d{1,2}\s*日?|\d{1,2}:\d{2}(?::\d{2})?|星期.|周[一二三四五六日]"
    r"|(?:访问量?|访客|浏览|点击|在线|visitors?|views?|hits)\D{0,12}\d[\d,]*",
    re.IGNORECASE,
)


def digest_of(page: Page) -> str:
    """Return the MD5 of a page's main text without menus, dates, clocks and counters (**D**).

    >>> from topiccrawl.model import Page
    >>> one = Page("http://a.test/", "", "", prose="电话 028-85123456 今天 12:30 访问量：17")
    >>> digest_of(one) == digest_of(one._replace(prose="电话 028-85123456 今天 09:01 访问量：18"))
    True
    """
    text = " ".join(_CLOCK.sub(" ", page.prose).split())
    return hashlib.md5(f"{page.title}\n{text}".encode(), usedforsecurity=False).hexdigest()


@dataclass(slots=True)
class ActiveSeed:
    """State of a seed while it is crawled; ``seed`` returns it in its stored form.

    Attributes:
        stored: The seed as loaded from the store.
        visits: Pages by name, of this and earlier periods.
        checked: Whether pages that are no longer linked have been requested.
    """

    stored: Seed
    visits: dict[str, Visit] = field(default_factory=dict)
    checked: bool = False

    @classmethod
    def from_seed(cls, seed: Seed) -> ActiveSeed:
        """Return the state of a stored seed."""
        return cls(seed, {name: visit_from(values) for name, values in seed.visits.items()})

    def seed(self, stage: Stage = Stage.OPEN) -> Seed:
        """Return the seed to store."""
        visits = {name: asdict(visit) for name, visit in self.visits.items()}
        return replace(self.stored, stage=stage, visits=visits)

    @property
    def period(self) -> int:
        """Number of the period in which the seed is crawled."""
        return self.stored.period

    def current(self) -> Iterable[Visit]:
        """Return the visits of this period."""
        return (one for one in self.visits.values() if one.period == self.period)

    @property
    def open(self) -> list[str]:
        """Names of the unfinished visits."""
        return [n for n, v in self.visits.items() if v.period == self.period and v.state == "open"]

    def add(self, child: Child) -> str | None:
        """Add a page to this period; return the name of its visit, or None if it exists already."""
        name = name_of(self.stored.url, child.layer, child.url)
        known = self.visits.get(name)
        if known is not None and known.period == self.period:
            return None
        place = sum(1 for _ in self.current())
        base = known or Visit(child.url)
        self.visits[name] = replace(
            base, layer=child.layer, hop=child.hop, place=place, period=self.period,
            state=State.OPEN,
        )  # fmt: skip
        return name

    def request(self, name: str, version: int) -> PageRequest:
        """Return the request for a visit; conditional if its values have this template version."""
        one = self.visits[name]
        known = one.version == version and bool(one.digest)
        etag, modified = (one.etag, one.modified) if known else ("", "")
        retry = one.misses > 0
        return PageRequest(
            self.stored.url, name, one.url, one.layer, one.hop, retry, etag, modified
        )

    def record_result(self, result: PageResult, version: int, now: float) -> Visit:
        """Record the result of a visit, and return the visit."""
        one = self.visits.get(result.name) or Visit(result.url, result.layer)
        one = replace(one, period=self.period)
        if result.result is Result.MISSING:
            misses = one.misses + 1
            state = State.GONE if misses >= MISSES_UNTIL_GONE else State.MISSING
            one = replace(one, misses=misses, state=state)
        elif result.result is Result.FAILED:
            one = replace(one, state=State.FAILED)
        else:
            one = replace(one, state=State.DONE, misses=0)
        if result.result is Result.UNCHANGED and result.etag + result.modified:
            one = replace(one, etag=result.etag, modified=result.modified)
        if result.result is Result.READ and result.records is not None:
            one = _with_values(one, result, version, now)
        self.visits[result.name] = one
        return one

    def prune(self, last: int) -> None:
        """Remove pages that no later period requests: old pages with links, and gone pages."""
        self.visits = {
            name: one
            for name, one in self.visits.items()
            if one.period == self.period or (one.layer == last and one.state is not State.GONE)
        }

    def vanished(self, last: int) -> list[Visit]:
        """Return pages of the last layer to which no page of this period links any more."""
        return [
            one
            for one in self.visits.values()
            if one.layer == last and one.period < self.period and one.state is not State.GONE
        ]


def _with_values(one: Visit, result: PageResult, version: int, now: float) -> Visit:
    """Return a visit with the values extracted from its page."""
    return replace(
        one, etag=result.etag, modified=result.modified, digest=result.digest, version=version,
        first=one.first or now, changed=one.changed if one.digest == result.digest else now,
        records=tuple(record.as_dict() for record in result.records or ()),
    )  # fmt: skip


def visit_from(values: Mapping[str, Any]) -> Visit:
    """Return a visit from its stored values."""
    made = {**values, "state": State(values["state"]), "records": tuple(values["records"])}
    made.pop("note", None)  # earlier versions stored the reason of a failure, and never read it
    return Visit(**made)
