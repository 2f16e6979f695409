"""A seed in work: its pages, those of them that are open, and their records."""

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

TWICE = 2
"""Answers 404 or 410 after which a page is gone (**D**)."""


class State(StrEnum):
    """State of a page of a seed.

    MISSING: it answered 404 or 410, not yet twice. GONE: twice.
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
        layer: Layer whose keywords are looked for in it; the last one's pages hold the values.
        hop: Next pages followed before it in this layer.
        place: Its place among the seed's pages.
        period: Last period in which it was in the window.
        state: Its state in that period.
        misses: 404 or 410 in a row.
        note: Reason of a failure, or "".
        etag: The answer's, as it was sent.
        modified: The answer's Last-Modified, as it was sent.
        digest: MD5 of its main text, where values were taken from it.
        version: Of the template's crawl keywords, when they were.
        first: When they were taken first, seconds since the epoch.
        changed: Time of the last fetch whose text differed.
        records: The values, as ``Record.as_dict`` gives them.
    """

    url: str
    layer: int = 0
    hop: int = 0
    place: int = 0
    period: int = 0
    state: State = State.OPEN
    misses: int = 0
    note: str = ""
    etag: str = ""
    modified: str = ""
    digest: str = ""
    version: int = 0
    first: float = 0.0
    changed: float = 0.0
    records: tuple[Mapping[str, Any], ...] = ()


class Child(NamedTuple):
    """A page that another one leads to.

    Attributes:
        url: Canonical URL.
        layer: Its layer.
        hop: Next pages followed before it.
    """

    url: str
    layer: int
    hop: int = 0


class Wanted(NamedTuple):
    """A page to be requested.

    Attributes:
        seed: URL of its seed.
        name: Name of the visit.
        url: URL to fetch.
        layer: Its layer.
        hop: Next pages followed before it.
        again: Whether it is requested again after a 404 or 410.
        etag: For a conditional request, or "".
        modified: The same.
    """

    seed: str
    name: str
    url: str
    layer: int
    hop: int = 0
    again: bool = False
    etag: str = ""
    modified: str = ""

    @property
    def role(self) -> str:
        """Role of its request, unique among those of its period."""
        return f"{self.name}.again" if self.again else self.name


@dataclass(frozen=True, slots=True)
class Step:
    """Outcome of one page.

    Attributes:
        seed: URL of its seed.
        name: Name of the visit.
        result: Result of the request.
        layer: The layer in which it was read: the visit's, or a later one that it belongs to, too.
        url: Its address.
        note: Reason of a failure, or "".
        digest: MD5 of its main text, where values were taken.
        etag: The answer's.
        modified: The same, Last-Modified.
        records: Its records; None where none were looked for.
    """

    seed: str
    name: str
    result: Result
    layer: int = 0
    url: str = ""
    note: str = ""
    digest: str = ""
    etag: str = ""
    modified: str = ""
    records: tuple[Record, ...] | None = None


@dataclass(frozen=True, slots=True)
class Steps:
    """Outcomes of a page in its layer, and in later ones that it belongs to, too.

    The item that a spider yields of a page; all of one seed.
    """

    taken: tuple[Step, ...]


def name_of(seed: str, layer: int, url: str) -> str:
    """Name of a visit: equal for equal arguments only.

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
    """MD5 of a page's main text: without menus, dates, clocks and counters (**D**).

    >>> from topiccrawl.model import Page
    >>> one = Page("http://a.test/", "", "", prose="电话 028-85123456 今天 12:30 访问量：17")
    >>> digest_of(one) == digest_of(one._replace(prose="电话 028-85123456 今天 09:01 访问量：18"))
    True
    """
    text = " ".join(_CLOCK.sub(" ", page.prose).split())
    return hashlib.md5(f"{page.title}\n{text}".encode(), usedforsecurity=False).hexdigest()


@dataclass(slots=True)
class Work:
    """A seed in work; ``seed`` gives it as it is stored.

    Attributes:
        stored: The seed as it was when work began.
        visits: Its pages by name, of this and earlier periods.
        checked: Whether pages that vanished from the window have been requested.
    """

    stored: Seed
    visits: dict[str, Visit] = field(default_factory=dict)
    checked: bool = False

    @classmethod
    def of(cls, seed: Seed) -> Work:
        """Take a stored seed up."""
        return cls(seed, {name: visit_of(values) for name, values in seed.visits.items()})

    def seed(self, stage: Stage = Stage.OPEN) -> Seed:
        """The seed as it is to be stored."""
        visits = {name: asdict(visit) for name, visit in self.visits.items()}
        return replace(self.stored, stage=stage, visits=visits)

    @property
    def period(self) -> int:
        """The period that it is crawled in."""
        return self.stored.period

    def now(self) -> Iterable[Visit]:
        """The visits of this period."""
        return (one for one in self.visits.values() if one.period == self.period)

    @property
    def open(self) -> list[str]:
        """Names of the visits that are not ended."""
        return [n for n, v in self.visits.items() if v.period == self.period and v.state == "open"]

    def add(self, child: Child) -> str | None:
        """Add a page to this period's window; return its name, None where it is there already."""
        name = name_of(self.stored.url, child.layer, child.url)
        known = self.visits.get(name)
        if known is not None and known.period == self.period:
            return None
        place = sum(1 for _ in self.now())
        base = known or Visit(child.url)
        self.visits[name] = replace(
            base, layer=child.layer, hop=child.hop, place=place, period=self.period,
            state=State.OPEN, note="",
        )  # fmt: skip
        return name

    def wanted(self, name: str, version: int) -> Wanted:
        """The request for a visit; conditional where its values are those of this version."""
        one = self.visits[name]
        known = one.version == version and bool(one.digest)
        etag, modified = (one.etag, one.modified) if known else ("", "")
        again = one.misses > 0
        return Wanted(self.stored.url, name, one.url, one.layer, one.hop, again, etag, modified)

    def end(self, step: Step, version: int, now: float) -> Visit:
        """Settle a visit and return it."""
        one = self.visits.get(step.name) or Visit(step.url, step.layer)
        one = replace(one, period=self.period, note=step.note)
        if step.result is Result.MISSING:
            misses = one.misses + 1
            state = State.GONE if misses >= TWICE else State.MISSING
            one = replace(one, misses=misses, state=state)
        elif step.result is Result.FAILED:
            one = replace(one, state=State.FAILED)
        else:
            one = replace(one, state=State.DONE, misses=0)
        if step.result is Result.UNCHANGED and step.etag + step.modified:
            one = replace(one, etag=step.etag, modified=step.modified)
        if step.result is Result.READ and step.records is not None:
            one = _taken(one, step, version, now)
        self.visits[step.name] = one
        return one

    def prune(self, last: int) -> None:
        """Drop pages that no later period requests: links of earlier windows, and gone ones."""
        self.visits = {
            name: one
            for name, one in self.visits.items()
            if one.period == self.period or (one.layer == last and one.state is not State.GONE)
        }

    def vanished(self, last: int) -> list[Visit]:
        """Pages of the last layer that the former window had and this one has not."""
        return [
            one
            for one in self.visits.values()
            if one.layer == last and one.period < self.period and one.state is not State.GONE
        ]


def _taken(one: Visit, step: Step, version: int, now: float) -> Visit:
    """A visit with the values that were taken from its page."""
    return replace(
        one, etag=step.etag, modified=step.modified, digest=step.digest, version=version,
        first=one.first or now, changed=one.changed if one.digest == step.digest else now,
        records=tuple(record.as_dict() for record in step.records or ()),
    )  # fmt: skip


def visit_of(values: Mapping[str, Any]) -> Visit:
    """A visit of its stored values."""
    made = {**values, "state": State(values["state"]), "records": tuple(values["records"])}
    return Visit(**made)
