"""Entries of an export, which moves a crawl between frontiers of any implementation.

An export has one :class:`About`, then a :class:`HostEntry` per host, a :class:`SeenEntry` per
filter of evicted URLs and a :class:`UrlEntry` per URL, in this order. A file has one entry per
line, as JSON. The importing frontier continues as the exporting one would have: same order, same
statistics, same host delays, no pair of pages counted twice. Leased URLs return to their lanes.
Parents and out-links are URLs because keys are private to an implementation.

The types of the fields have the ranges and sizes that a frontier can store; files are validated by
them. Stored requests are for web pages, and no entry names a class or a file to be loaded.
"""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field, StringConstraints

from topiccrawl.frontier.queues import SIZES
from topiccrawl.frontier.seen import HEAD, LARGEST, SMALLEST
from topiccrawl.links.urls import MAX_URL, canonical

FORMAT = 1
MAX_HASHES = 64
"""Maximum number of hashes of a Bloom filter; a false-positive rate of one millionth needs 20."""
_MARK = "#topiccrawl-"
_SCHEMES = ("http://", "https://")


def _page(url: str) -> str:
    """Reject values that are not URLs of web pages; a suffix marks requests that are no plain GET.

    Raises:
        ValueError: If the value is not an HTTP URL.
    """
    if not url.startswith(_SCHEMES) or canonical(url.partition(_MARK)[0]) is None:
        raise ValueError("is not an HTTP URL")
    return url


def _request(text: str) -> str:
    """Reject a stored request that is not for a web page, or names a custom class."""
    if not text:
        return text
    record = json.loads(text)
    known = record if isinstance(record, dict) else {}
    if "kept" not in known:
        _page(str(known.get("url")))
        if not str(known.get("_class", "scrapy.http.")).startswith("scrapy.http."):
            raise ValueError("names a custom class")
    return text


def _counters(numbers: dict[str, int]) -> dict[str, int]:
    """Reject counters that a frontier computes itself."""
    if any(name in SIZES or name.startswith("error/") for name in numbers):
        raise ValueError("has queue sizes")
    return numbers


def _filter(text: str) -> str:
    """Reject values that are not Bloom filters."""
    data = b64decode(text, validate=True)
    size = len(data) - HEAD.size
    if not SMALLEST <= size <= LARGEST or size & (size - 1):
        raise ValueError("is not a Bloom filter")
    _, hashes = HEAD.unpack_from(data)
    if not 0 < hashes <= MAX_HASHES:
        raise ValueError("is not a Bloom filter")
    return text


_NO_ZERO = r"^[^\x00]*$"
_Name = Annotated[str, StringConstraints(max_length=300, pattern=_NO_ZERO)]
_Text = Annotated[str, StringConstraints(max_length=1000, pattern=_NO_ZERO)]
_Group = Annotated[str, StringConstraints(max_length=MAX_URL, pattern=_NO_ZERO)]
_Robots = Annotated[str, StringConstraints(max_length=1_000_000, pattern=_NO_ZERO)]
_Host = Annotated[str, StringConstraints(max_length=300, pattern=r"^[^\x00-\x20/@]+$")]
_Known = Annotated[str, StringConstraints(max_length=MAX_URL + 200, pattern=r"^[^\x00-\x20]*$")]
_Url = Annotated[_Known, AfterValidator(_page)]
_Request = Annotated[str, StringConstraints(max_length=1_000_000), AfterValidator(_request)]
_Filter = Annotated[str, StringConstraints(max_length=2 * LARGEST), AfterValidator(_filter)]
_Lane = Annotated[int, Field(ge=0, le=2)]
_Byte = Annotated[int, Field(ge=0, le=255)]
_Short = Annotated[int, Field(ge=0, le=65_535)]
_Count = Annotated[int, Field(ge=0, le=2**32 - 1)]
_Large = Annotated[int, Field(ge=0, le=2**53)]
_Number = Annotated[float, Field(ge=-1e12, le=1e12)]
_Value = Annotated[float, Field(ge=0, le=1)]
_Worth = Annotated[float, Field(ge=0, le=1e12)]
_Counters = Annotated[dict[_Name, _Large], AfterValidator(_counters)]
_Time = Annotated[float, Field(ge=0, le=1e11)]
"""Seconds since the epoch."""


class About(NamedTuple):
    """Entry of the frontier as a whole.

    Attributes:
        strategy: Name of the strategy.
        fields: Names of the strategy's evidence numbers.
        owner: Topic (or other owner) of the frontier, or "".
        renewed: Topic part of the version (``LEARNT``) of all records; -1 if unknown.
        turn: Position in the cycle of the lanes' share.
        pages: Number of crawled pages, for the bias.
        worth: Sum of ``Outcome.worth`` of these pages.
        counters: Counters of ``Frontier.counts`` except sizes and reasons: ``links``, ``stale`` ...
        format: Version of the export format.
    """

    strategy: _Name
    fields: Annotated[tuple[_Name, ...], Field(max_length=64)]
    owner: _Name = ""
    renewed: Annotated[int, Field(ge=-1, le=2**32 - 1)] = -1
    turn: _Count = 0
    pages: _Count = 0
    worth: _Worth = 0.0
    counters: _Counters = {}  # noqa: RUF012 - never changed
    format: _Count = FORMAT


class HostEntry(NamedTuple):
    """Entry of a host: delays, statistics and robots.txt files.

    Attributes:
        name: Lower-case host name.
        next_at: Earliest start of the next request, seconds since the epoch.
        delay: Adaptive delay in seconds; negative before the first response.
        level: Consecutive responses with status 429 or 503.
        fetched: Pages fetched, for ``Limits.max_host_pages``.
        pages: Pages crawled, for the bias.
        worth: Sum of ``Outcome.worth`` of these pages.
        groups: Tuples of group, pages crawled in it, and sum of their worth.
        units: Origin and groups of each queue unit, in the order of creation.
        robots: Tuples of origin, expiry, availability, and text (empty: all is allowed; if it is
            not available: the cause).
    """

    name: _Host
    next_at: _Time = 0.0
    delay: Annotated[float, Field(ge=-1, le=1e11)] = -1.0
    level: _Byte = 0
    fetched: _Count = 0
    pages: _Count = 0
    worth: _Worth = 0.0
    groups: tuple[tuple[_Group, _Count, _Worth], ...] = ()
    units: tuple[tuple[_Url, tuple[_Group, ...]], ...] = ()
    robots: tuple[tuple[_Url, _Time, bool, _Robots], ...] = ()


class UrlEntry(NamedTuple):
    """Entry of a URL.

    Attributes:
        url: Canonical URL.
        queue: ``prior``, ``normal``, ``crawled`` or ``error``.
        arrival: Unique sequence number of the URL, from 1 to 2**32 - 1; equal values are served
            first come, first served.
        value: Stored value without bias, in [0, 1]; a 32-bit quantum (round, do not truncate).
        lane: Current or last lane; 2 if the URL was predicted below minNormal.
        pinned: True if the value was given (a seed); evidence can only raise it.
        liftable: True if the URL is in the errorQueue only for its predicted value; a better offer
            queues it again.
        evidence: Evidence numbers of the strategy.
        version: Strategy version of the evidence.
        anchor: Stored anchor text.
        context: Stored context text.
        payload: JSON text for the lease, or "".
        reason: Reason why the URL is in the errorQueue or waits, or "redirected" for the source of
            a redirect.
        when: Queued: earliest fetch; else time of settlement; seconds since the epoch.
        relevance: Relevance of a crawled page.
        depth: Links from the seed.
        attempts: Failed fetches.
        crashes: Crashes of processes during its processing.
        redirects: Redirects followed to the URL.
        inlinks: Number of pages that link to the URL.
        first: URL of the page where it was found first, or "".
        parents: Best parents as (URL, value of their offer).
        links: URLs of its counted out-links.
        counted: True if the URL was crawled and counts in the statistics of its groups.
    """

    url: _Url
    queue: Annotated[str, StringConstraints(pattern="^(prior|normal|crawled|error)$")]
    arrival: Annotated[_Count, Field(ge=1)]
    value: _Value = 0.0
    lane: _Lane = 0
    pinned: bool = False
    liftable: bool = False
    evidence: Annotated[tuple[_Number, ...], Field(max_length=64)] = ()
    version: _Count = 0
    anchor: _Text = ""
    context: _Text = ""
    payload: _Request = ""
    reason: _Text = ""
    when: _Time = 0.0
    relevance: _Value = 0.0
    depth: _Short = 0
    attempts: _Byte = 0
    crashes: _Byte = 0
    redirects: _Byte = 0
    inlinks: _Count = 0
    first: _Known = ""
    parents: Annotated[tuple[tuple[_Known, _Value], ...], Field(max_length=3)] = ()
    links: Annotated[tuple[_Known, ...], Field(max_length=100_000)] = ()
    counted: bool = False


class SeenEntry(NamedTuple):
    """Entry of a Bloom filter (``seen``) of keys (``rows.key_of``) of evicted URLs.

    Attributes:
        bucket: First byte of the keys in the filter.
        place: Index in the bucket's chain of filters, from 0.
        filter: Result of ``seen.Filter.pack``, as base64.
    """

    bucket: _Byte
    place: _Short
    filter: _Filter


Entry = About | HostEntry | UrlEntry | SeenEntry
