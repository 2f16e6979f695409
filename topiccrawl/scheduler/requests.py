"""Conversion of requests to records of the frontier, and back.

A plain GET for the spider's ``parse`` is stored as its URL. Any other request (method, headers,
callback, arguments, meta) is stored as JSON, never pickled. Values that JSON would change, such as
tuples and keys that are numbers, are stored as Python literals. If neither can represent a request,
for example because its callback is a lambda, the frontier stores a name and ``DistinctRequests``
keeps the request in memory. Robots.txt, budgets and leases apply to it too, but a restart loses it,
which is logged.

A lease whose response is a redirect is continued, passed to another URL, or ended (``Redirects``).
"""

from __future__ import annotations

import json
import re
from ast import literal_eval
from base64 import b64decode, b64encode
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, cast

from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict
from xxhash import xxh3_64_hexdigest

from topiccrawl.frontier.contract import Ending, Frontier, Outcome, Seed
from topiccrawl.links.urls import canonical, host_of
from topiccrawl.model import Kind, Lease
from topiccrawl.scheduler import meta
from topiccrawl.scheduler.build import link_refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from twisted.python.failure import Failure

    from topiccrawl.scheduler.context import CrawlContext

_OWN_META = frozenset({meta.KEY, "depth", "download_slot", "download_latency", "is_start_request"})
_MARK = "#topiccrawl-"
_HAS_PROXY = re.compile("""["']proxy["']""")  # a key in JSON or in a literal
_DISTINCT = f"{_MARK}apart-"
"""Marker in the URL of a request that is recorded separately, even if its URL has a record."""


class NotSerialisableError(ValueError):
    """A request that neither JSON nor a Python literal represents."""


class DistinctRequests:
    """Requests that are recorded separately, or that only memory can hold.

    Args:
        run: Distinguishes the requests of this process from those of an earlier one.
    """

    def __init__(self, run: str) -> None:
        self._run = run
        self._requests: dict[str, Request | None] = {}
        self._count = 0

    def seed(self, request: Request, spider: Spider, value: float, equal: bytes = b"") -> Seed:
        """Return a separate seed for a request, even if its URL has a record.

        Requests of this run with equal fingerprints (``equal``) have equal seeds.
        """
        self._count += 1
        name = request.meta.get(meta.ROLE) or f"{self._run}-{equal.hex() or self._count}"
        try:
            text = payload(request, spider, always=True)
        except NotSerialisableError:
            self._requests.setdefault(name, request)
            text = json.dumps({"kept": name})
        return Seed(distinct_url(request.url, name), value, text, int(request.meta.get("depth", 0)))

    def request_of(self, lease: Lease, spider: Spider) -> Request:
        """Return the request of a lease; callbacks are bound to the spider.

        Raises:
            ValueError: Its callback no longer exists, or an earlier process had it in memory.
        """
        if not lease.payload:
            return Request(lease.url, callback=_default_callback(spider))
        record = json.loads(lease.payload)
        if isinstance(record, str):
            record = literal_eval(record)
        if "kept" not in record:
            return _rebuild(record, spider)
        request = self._requests.get(record["kept"])
        if request is None:
            msg = "it was only in the memory of an earlier process (a callback without a name?)"
            raise ValueError(msg)
        return request

    def discard(self, lease: Lease) -> None:
        """Free the memory of an ended request; its name stays known if equal ones may follow."""
        request = self._requests.pop(name := role_of(lease.url), None)
        if request is not None and not request.dont_filter:
            self._requests[name] = None


@dataclass(frozen=True, eq=False)
class SettlingErrback:
    """Errback of every leased request: settles the lease, then calls the spider's own errback.

    It keeps what the lease changed in the request, for copies that the spider makes.

    Attributes:
        settle: Called with request and failure; returns the ending of the lease: LATER if the
            request is retried, None if it has no lease.
        own: Errback of the spider, or None; not called if the request is retried.
        dont_filter: ``dont_filter`` of the spider's request.
    """

    settle: Callable[[Request | None, Failure], Ending | None]
    own: Callable[[Failure], Any] | None
    dont_filter: bool

    def __call__(self, failure: Failure) -> Any:  # noqa: ANN401  (whatever the spider's returns)
        """Settle, then return the result of the spider's errback, or the failure if unsettled."""
        request = getattr(failure, "request", None)
        ending = self.settle(request, failure)
        restore_filter(request)
        if self.own is not None and ending is not Ending.LATER:
            return self.own(failure)
        return failure if ending is None else None


def restore_filter(request: Request | None) -> None:
    """Give a fetched request the ``dont_filter`` of the spider's, which copies of it inherit.

    Leases set it, since only the frontier filters their requests.
    """
    if request is not None and isinstance(request.errback, SettlingErrback):
        request.dont_filter = request.errback.dont_filter


def distinct_url(url: str, name: str) -> str:
    """Return the URL under which the frontier records a page for a separate purpose.

    >>> distinct_url("http://a.test", "layer-1"), role_of(distinct_url("http://a.test", "layer-1"))
    ('http://a.test/#topiccrawl-apart-layer-1', 'layer-1')
    """
    return f"{canonical(url) or url}{_DISTINCT}{name}"


def role_of(url: str) -> str:
    """Return the name in a URL from ``distinct_url``, or ""."""
    return url.partition(_DISTINCT)[2]


def page_url(url: str) -> str:
    """Return the URL of the page of a URL from ``distinct_url``; others are unchanged.

    >>> page_url(distinct_url("http://a.test", "layer-1"))
    'http://a.test/'
    """
    return url.partition(_DISTINCT)[0]


def is_distinct(url: str) -> bool:
    """Check whether a lease's URL is of a request with ``dont_filter``, or of one in memory."""
    return _DISTINCT in url


def without_lease(request: Request, lease: Lease | None) -> Request:
    """Return a request without the meta and errback that a lease added to the original.

    Spiders copy requests and their meta (``meta=response.meta``). Such a copy is a separate page,
    not the next step of the lease. A proxy from the environment is removed, too.
    """
    drop = {meta.KEY, "download_slot", "is_start_request"}
    if lease is not None and not _HAS_PROXY.search(lease.payload):
        drop.add("proxy")
    kept = {name: value for name, value in request.meta.items() if name not in drop}
    errback = request.errback
    own = errback.own if isinstance(errback, SettlingErrback) else errback
    return request.replace(meta=kept, errback=own)


def seed_of(request: Request, spider: Spider, fingerprint: bytes, value: float) -> Seed:
    """Return the seed that the frontier stores for a request.

    Args:
        request: A request without a lease.
        spider: Spider with its callbacks.
        fingerprint: Scrapy's fingerprint; distinguishes requests to one URL that are not plain
            GETs.
        value: Value in [0, 1].

    Raises:
        NotSerialisableError: Callback, arguments or meta cannot be written as text.
    """
    url = canonical(request.url) or request.url
    if request.method != "GET" or request.body:
        url = f"{url}{_MARK}{fingerprint.hex()}"
    return Seed(url, value, payload(request, spider), int(request.meta.get("depth", 0)))


def distinct_start(seed: Seed) -> Seed:
    """Return a seed that start requests with other callbacks, arguments or meta do not share.

    They have ``dont_filter``. The next run sends equal requests, whose pages were fetched.
    """
    if not seed.payload:
        return seed
    return replace(seed, url=distinct_url(seed.url, xxh3_64_hexdigest(seed.payload.encode())))


def payload(request: Request, spider: Spider, *, always: bool = False) -> str:
    """Return the text that rebuilds a request: a JSON object, or a literal as a JSON string.

    Args:
        request: The request.
        spider: Spider with its callbacks.
        always: False to return "" for a request that its URL rebuilds.

    Raises:
        NotSerialisableError: The request cannot be represented.
    """
    try:
        record = request.to_dict(spider=spider)
    except ValueError as error:
        raise NotSerialisableError(str(error)) from error
    kept = {k: v for k, v in record["meta"].items() if k not in _OWN_META}
    if not always and _is_plain(request, spider, kept):
        return ""
    record["meta"] = kept
    record["body"] = b64encode(record["body"]).decode()
    record["headers"] = [
        [name.decode("latin-1"), [value.decode("latin-1") for value in values]]
        for name, values in record["headers"].items()
    ]
    with suppress(RecursionError, MemoryError, SyntaxError, ValueError):
        with suppress(TypeError, ValueError):
            text = json.dumps(record, ensure_ascii=False)
            if json.loads(text) == record:
                return text
        if _is_literal(record) and literal_eval(text := repr(record)):  # its nesting is limited
            return json.dumps(text, ensure_ascii=False)
    raise NotSerialisableError("meta or arguments have values of other types than Python's own")


def _is_literal(value: object) -> bool:
    """Check whether a value consists of Python's own types, so that its ``repr`` rebuilds it.

    >>> _is_literal({1: (b"a", None)}), _is_literal([object()])
    (True, False)
    """
    if type(value) is dict:
        return all(map(_is_literal, (*value, *value.values())))
    if type(value) in (list, tuple, set):
        return all(map(_is_literal, cast("Iterable[object]", value)))
    if type(value) is float:
        return isfinite(value)
    return value is None or type(value) in (str, int, bool, bytes)


def _default_callback(spider: Spider) -> Any:  # noqa: ANN401 - a callback
    """Return the callback of requests without one: ``parse``, or that of a Scrapy subclass.

    CrawlSpider, XMLFeedSpider and CSVFeedSpider override ``_parse``.
    """
    own = type(spider)._parse is not Spider._parse  # noqa: SLF001 - Scrapy calls it
    return getattr(spider, "_parse" if own else "parse", None)


def _is_plain(request: Request, spider: Spider, kept: dict[str, Any]) -> bool:
    return (
        request.method == "GET"
        and request.callback in (None, _default_callback(spider))
        and request.errback is None
        and not (request.body or request.headers or request.cookies or request.cb_kwargs or kept)
    )


def _rebuild(record: dict[str, Any], spider: Spider) -> Request:
    record["body"] = b64decode(record["body"])
    record["headers"] = {
        name.encode("latin-1"): [value.encode("latin-1") for value in values]
        for name, values in record["headers"]
    }
    return request_from_dict(record, spider=spider)


class FollowUpQueue:
    """Requests that have no record of their own in the frontier, first come, first served per host.

    A redirect to the same page with a cookie, or of a robots.txt, continues its lease with one more
    request to the host. If the process dies, the lease returns to its queue. URLs without a host,
    such as ``data:`` and ``file:``, have no delay and no robots.txt; a restart loses them.
    """

    def __init__(self, frontier: Frontier) -> None:
        self.frontier = frontier
        self._hosts: dict[str, deque[Request]] = {}
        self._known: set[bytes] = set()

    def __len__(self) -> int:
        return sum(map(len, self._hosts.values()))

    def push(self, request: Request) -> None:
        """Append a request to its host's queue."""
        self._hosts.setdefault(host_of(request.url), deque()).append(request)

    def push_hostless(self, request: Request, fingerprint: bytes) -> bool:
        """Append a request without a host; return False if repeated without ``dont_filter``."""
        if fingerprint in self._known and not request.dont_filter:
            return False
        self._known.add(fingerprint)
        self.push(request)
        return True

    def pop(self) -> tuple[Request, str] | None:
        """Return a request that is allowed now and the host whose slot it has, or None."""
        for host, queue in list(self._hosts.items()):
            if not host or self.frontier.acquire(host):
                request = queue.popleft()
                del self._hosts[host]
                if queue:
                    self._hosts[host] = queue  # at the end, so that hosts take turns
                return request, host
        return None


class Redirects:
    """Handler of redirects.

    Args:
        context: Context of the crawl, with an open frontier.
        followups: Queue of requests that continue their lease.
    """

    def __init__(self, context: CrawlContext, followups: FollowUpQueue) -> None:
        self._crawler, self._book = context.crawler, context.book
        self._continuations = followups
        self._has_no_topic = context.spec.topic is None
        self._hosts = context.hosts
        refuse = link_refusal(context.hosts, context.crawler.settings)
        self._refuse = context.hosts.refuse if self._has_no_topic else refuse

    def follow(self, request: Request, lease: Lease) -> bool:
        """Continue the lease, or end it and queue the target with its value.

        Returns:
            False if the redirect is refused.
        """
        if reason := self._refusal(request, lease):
            self._book.failed(lease.epoch, reason)
            return False
        target, text = self._target(request, lease)
        if target == lease.url:
            self._continuations.push(request)
            return True
        redirects = int(request.meta.get("redirect_times", 1))
        self._crawler.stats.inc_value("topiccrawl/frontier/redirected")
        outcome = Outcome(Ending.REDIRECTED, target=target, redirects=redirects, payload=text)
        self._book.settle(lease.epoch, outcome)
        return True

    def _target(self, request: Request, lease: Lease) -> tuple[str, str | None]:
        """Return URL and payload of the target; None keeps the payload.

        A robots.txt continues its lease: the returned URL is then that of the lease. So does a
        request that JSON cannot represent, or that is recorded separately.
        """
        spider = self._crawler.spider
        assert spider is not None  # noqa: S101 - it sent the request
        if lease.kind is Kind.ROBOTS:
            return lease.url, None
        if role := request.meta.get(meta.ROLE):
            original = without_lease(request, lease)
            return distinct_url(request.url, role), payload(original, spider, always=True)
        if is_distinct(lease.url):
            return lease.url, None
        if request.method == "GET" and not lease.payload:
            return canonical(request.url) or request.url, None
        fingerprint = self._crawler.request_fingerprinter.fingerprint(request)
        try:
            seed = seed_of(without_lease(request, lease), spider, fingerprint, 0.0)
        except NotSerialisableError:
            return lease.url, None
        return seed.url, seed.payload

    def _refusal(self, request: Request, lease: Lease) -> str | None:
        """Return the reason why a redirect is refused, or None; the rules are those of links.

        Seeds and feeds are not links: only the rules of hosts apply to their targets. As in Scrapy,
        ``dont_filter`` and ``allow_offsite`` override the ``allowed_domains`` of a spider without a
        topic.
        """
        url = canonical(request.url) or request.url
        if url == lease.url or lease.kind is Kind.ROBOTS:
            return None
        if self._has_no_topic and (request.meta.get("allow_offsite") or is_distinct(lease.url)):
            return None
        return (self._refuse if lease.evidence else self._hosts.refuse)(url)
