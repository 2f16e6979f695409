"""Pages of a seed: requests, results, and states with the extracted records."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import xxhash

if TYPE_CHECKING:
    from collections.abc import Mapping

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

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Visit:
        """Return a visit from its stored values."""
        made = {**values, "state": State(values["state"]), "records": tuple(values["records"])}
        made.pop("note", None)  # earlier versions stored the reason of a failure, and never read it
        return cls(**made)

    def after(self, result: PageResult, version: int, now: float) -> Visit:
        """Return the visit after a result, with the values extracted from the page."""
        if result.result is Result.FAILED:
            return replace(self, state=State.FAILED)
        if result.result is Result.MISSING:
            misses = self.misses + 1
            state = State.GONE if misses >= MISSES_UNTIL_GONE else State.MISSING
            return replace(self, misses=misses, state=state)
        one = replace(self, state=State.DONE, misses=0)
        if result.result is Result.UNCHANGED and result.etag + result.modified:
            return replace(one, etag=result.etag, modified=result.modified)
        if result.result is Result.UNCHANGED or result.records is None:
            return one
        return replace(
            one, etag=result.etag, modified=result.modified, digest=result.digest, version=version,
            first=one.first or now, changed=one.changed if one.digest == result.digest else now,
            records=tuple(record.as_dict() for record in result.records),
        )  # fmt: skip


class PageRequest(NamedTuple):
    """A request for a page of a seed.

    Attributes:
        seed: URL of the seed.
        name: Name of the visit.
        visit: The visit.
        version: Version of the template, for which stored values need no second extraction.
    """

    seed: str
    name: str
    visit: Visit
    version: int

    @property
    def role(self) -> str:
        """Role of the request in the frontier, unique in its period."""
        return f"{self.name}.again" if self.visit.misses else self.name

    @property
    def conditions(self) -> dict[str, str]:
        """Headers of a conditional request, if the page's values have this template version."""
        one = self.visit
        known = one.version == self.version and one.digest
        headers = {"If-None-Match": one.etag, "If-Modified-Since": one.modified} if known else {}
        return {name: value for name, value in headers.items() if value}


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
