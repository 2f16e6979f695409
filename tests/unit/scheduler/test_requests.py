"""Tests of the serialisation of requests in the frontier."""

from __future__ import annotations

from datetime import date
from typing import Any, NamedTuple

import pytest
from scrapy import Field, FormRequest, Item, Request, Spider
from scrapy.spiders import CrawlSpider, CSVFeedSpider, XMLFeedSpider
from typing_extensions import override

from topiccrawl.model import Lease
from topiccrawl.scheduler import meta
from topiccrawl.scheduler.requests import (
    DistinctRequests,
    NotSerialisableError,
    seed_of,
    without_lease,
)

ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)
NESTED: Any = ()
for _ in range(300):
    NESTED = (NESTED,)


class Pair(NamedTuple):
    one: int
    two: int


class Story(Item):
    url = Field()


class Reader(Spider):
    name = "reader"

    @override
    def parse(self, response: Any, **_: Any) -> None: ...

    def parse_other(self, response: Any, page: int = 0) -> None: ...

    def failed(self, failure: Any) -> None: ...


def restored(request: Request, spider: Spider) -> Request:
    seed = seed_of(request, spider, b"\x01\x02", 1.0)
    lease = Lease(seed.url, b"key", 1, payload=seed.payload)
    return DistinctRequests("run").request_of(lease, spider)


def test_plain_get_is_stored_without_a_payload() -> None:
    spider = Reader()
    request = Request("http://a.test/x?b=1#top", callback=spider.parse)
    seed = seed_of(request, spider, b"\x01", 1.0)
    assert (seed.url, seed.payload) == ("http://a.test/x?b=1", "")
    assert restored(request, spider).callback == spider.parse


@pytest.mark.parametrize("kind", [CrawlSpider, CSVFeedSpider, XMLFeedSpider])
def test_start_url_of_scrapy_spiders_keeps_their_callback(kind: type[Spider]) -> None:
    spider = kind("own")
    again = restored(Request("http://a.test/x"), spider)
    assert again.callback == spider._parse


def test_stored_request_is_restored_unchanged() -> None:
    spider = Reader()
    request = FormRequest(
        "http://a.test/search",
        formdata={"q": "新能源"},
        headers={"X-A": ["1", "2"]},
        cookies={"c": "d"},
        callback=spider.parse_other,
        errback=spider.failed,
        cb_kwargs={"page": 3},
        meta={"mine": [1, {"a": None}], "depth": 4},
        priority=5,
    )
    again = restored(request, spider)
    for name in (
        "url",
        "method",
        "body",
        "cookies",
        "callback",
        "errback",
        "cb_kwargs",
        "priority",
    ):
        assert getattr(again, name) == getattr(request, name), name
    assert again.headers == request.headers
    assert again.meta == {"mine": [1, {"a": None}]}


@pytest.mark.parametrize(
    "value", [(1, 2), {1: "a", None: [()]}, b"\xff", {"a", "b"}, [True, 1, 1.0, float("inf")]]
)
def test_values_keep_their_types(value: object) -> None:
    spider = Reader()
    request = Request(
        "http://a.test/", callback=spider.parse, cb_kwargs={"one": value}, meta={"two": [value]}
    )
    again = restored(request, spider)
    assert repr((again.cb_kwargs, again.meta)) == repr((request.cb_kwargs, request.meta))


def test_copy_drops_the_proxy_of_the_environment_only() -> None:
    spider = Reader()
    for extra, keeps in (({}, False), ({"proxy": "http://p.test/"}, True)):
        request = Request("http://a.test/", meta={"ids": (1,), **extra})
        seed = seed_of(request, spider, b"\x01", 1.0)
        copied = request.replace(meta={**request.meta, "proxy": "http://p.test/"})
        lease = Lease(seed.url, b"key", 1, payload=seed.payload)
        assert ("proxy" in without_lease(copied, lease).meta) is keeps


def test_requests_differ_by_method() -> None:
    spider = Reader()
    get = seed_of(Request("http://a.test/"), spider, b"\x01", 1.0)
    post = seed_of(Request("http://a.test/", method="POST"), spider, b"\x02", 1.0)
    assert get.url != post.url


@pytest.mark.parametrize(
    "request_",
    [
        Request("http://a.test/", callback=print),
        Request("http://a.test/", meta={"open": object()}),
        Request("http://a.test/", cb_kwargs={"at": (date(2026, 1, 2),)}),
        Request("http://a.test/", cb_kwargs={"pair": Pair(1, 2)}),
        Request("http://a.test/", meta={"item": Story(url="http://a.test/")}),
        Request("http://a.test/", meta={"no literal": (float("inf"),)}),
        Request("http://a.test/", cb_kwargs={"endless": ENDLESS}),
        Request("http://a.test/", cb_kwargs={"nested": NESTED}),
        Request("http://a.test/", meta={"no digits": 10**5000}),
    ],
)
def test_unserializable_request_is_refused(request_: Request) -> None:
    with pytest.raises(NotSerialisableError):
        seed_of(request_, Reader(), b"\x01", 1.0)


def test_unfiltered_request_has_a_distinct_url_until_restored() -> None:
    spider, requests = Reader(), DistinctRequests("run")
    request = Request("http://a.test/x", callback=spider.parse, dont_filter=True)
    first, second = (requests.seed(request, spider, 1.0) for _ in range(2))
    assert len({first.url, second.url, "http://a.test/x"}) == 3
    again = requests.request_of(Lease(first.url, b"key", 1, payload=first.payload), spider)
    assert (again.url, again.callback) == ("http://a.test/x", spider.parse)


def test_unserializable_request_is_kept_in_memory() -> None:
    spider, requests = Reader(), DistinctRequests("run")
    request = Request("http://a.test/x", callback=print)
    seed = requests.seed(request, spider, 1.0)
    lease = Lease(seed.url, b"key", 1, payload=seed.payload)
    assert requests.request_of(lease, spider) is request
    with pytest.raises(ValueError, match="earlier process"):
        DistinctRequests("next").request_of(lease, spider)
    requests.discard(lease)
    with pytest.raises(ValueError, match="earlier process"):
        requests.request_of(lease, spider)


def test_equal_unserializable_requests_have_one_seed_until_the_run_ends() -> None:
    spider, requests = Reader(), DistinctRequests("run")
    request = Request("http://a.test/x", callback=print)
    first, again = (requests.seed(request.copy(), spider, 1.0, b"\x01") for _ in range(2))
    assert first == again != requests.seed(request, spider, 1.0)
    assert DistinctRequests("next").seed(request, spider, 1.0, b"\x01") != first


def test_unfiltered_unserializable_request_is_forgotten_once_it_ended() -> None:
    spider, requests = Reader(), DistinctRequests("run")
    for url in ("http://a.test/x", "http://a.test/y"):
        request = Request(url, callback=print, dont_filter=True, meta={meta.ROLE: "layer-1"})
        seed = requests.seed(request, spider, 1.0)
        lease = Lease(seed.url, b"key", 1, payload=seed.payload)
        assert requests.request_of(lease, spider) is request
        requests.discard(lease)


def test_lease_number_of_a_request_ignores_invalid_values() -> None:
    request = Request("http://a.test/", meta={meta.KEY: 3})
    assert meta.lease_number(request.replace(url="http://b.test/")) == 3
    for invalid in (None, "3", {"token": 3}):
        assert meta.lease_number(Request("http://a.test/", meta={meta.KEY: invalid})) == 0
    assert meta.lease_number(None) == 0
