"""Requests in and out of the frontier: what a record must keep to rebuild a request.

A plain GET that the spider's ``parse`` handles needs nothing but its URL. Anything else (other
method, headers, callback, arguments, meta) is kept as JSON; never pickle. A request that JSON
cannot hold stays in memory, see ``side.py``.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.utils.request import request_from_dict

from topiccrawl import meta
from topiccrawl.frontier.contract import Seed
from topiccrawl.links.urls import canonical

if TYPE_CHECKING:
    from scrapy import Spider

    from topiccrawl.frontier.contract import Lease

_OWN_META = frozenset(
    {meta.KEY, "depth", "download_slot", "download_latency", "is_start_request", "proxy"}
)
_MARK = "#topiccrawl-"


class NotSerialisableError(ValueError):
    """A request that JSON cannot hold."""


def seed_of(request: Request, spider: Spider, fingerprint: bytes, value: float) -> Seed:
    """Return what the frontier keeps of a request.

    Args:
        request: A request not known to the frontier.
        spider: Owner of its callbacks.
        fingerprint: Scrapy's fingerprint; tells apart requests to one URL that are no plain GET.
        value: Value in [0, 1].

    Raises:
        NotSerialisableError: If callback, arguments or meta cannot be written as JSON.
    """
    url = canonical(request.url) or request.url
    if request.method != "GET" or request.body:
        url = f"{url}{_MARK}{fingerprint.hex()}"
    return Seed(url, value, payload(request, spider), int(request.meta.get("depth", 0)))


def payload(request: Request, spider: Spider) -> str:
    """Return the JSON text that rebuilds a request, or "" for a plain GET handled by ``parse``."""
    try:
        record = request.to_dict(spider=spider)
    except ValueError as error:
        raise NotSerialisableError(str(error)) from error
    kept = {k: v for k, v in record["meta"].items() if k not in _OWN_META}
    if _is_plain(request, spider, kept):
        return ""
    record["meta"] = kept
    record["body"] = b64encode(record["body"]).decode()
    record["headers"] = [
        [name.decode("latin-1"), [value.decode("latin-1") for value in values]]
        for name, values in record["headers"].items()
    ]
    try:
        return json.dumps(record, ensure_ascii=False)
    except TypeError as error:
        raise NotSerialisableError(str(error)) from error


def _is_plain(request: Request, spider: Spider, kept: dict[str, Any]) -> bool:
    parse = getattr(spider, "parse", None)
    return (
        request.method == "GET"
        and request.callback in (None, parse)
        and request.errback is None
        and not (request.body or request.headers or request.cookies or request.cb_kwargs or kept)
    )


def request_of(lease: Lease, spider: Spider) -> Request:
    """Return the request that a lease stands for; callbacks are bound to the spider."""
    if not lease.payload:
        return Request(lease.url, callback=getattr(spider, "parse", None))
    record = json.loads(lease.payload)
    record["body"] = b64decode(record["body"])
    record["headers"] = {
        name.encode("latin-1"): [value.encode("latin-1") for value in values]
        for name, values in record["headers"]
    }
    return request_from_dict(record, spider=spider)
