"""Tests of the limits of cookies: number, size and domains."""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from topiccrawl.middlewares.cookies import LARGEST, MOST, MOST_DOMAINS, OfflineCookiesMiddleware


def middleware() -> OfflineCookiesMiddleware:
    return OfflineCookiesMiddleware.from_crawler(get_crawler())


def receive(cookies: OfflineCookiesMiddleware, url: str, *lines: str) -> None:
    cookies.process_response(Request(url), Response(url, headers={"Set-Cookie": [*lines]}))


def sent_cookies(cookies: OfflineCookiesMiddleware, url: str) -> bytes:
    request = Request(url)
    cookies.process_request(request)
    return request.headers.get("Cookie") or b""


def stored_count(cookies: OfflineCookiesMiddleware) -> int:
    return sum(len([*jar]) for jar in cookies.jars.values())


def test_domain_keeps_its_newest_cookies_of_all_paths() -> None:
    cookies = middleware()
    for number in range(3 * MOST):
        receive(cookies, f"http://a.test/{number}/x", f"c{number}=1; Path=/{number}")
    receive(cookies, "http://a.test/", "session=2; Path=/")
    assert stored_count(cookies) == MOST
    assert (
        sum(len(paths) for jar in cookies.jars.values() for paths in jar._cookies.values()) == MOST
    )
    assert sent_cookies(cookies, "http://a.test/0/x") == b"session=2"
    newest = 3 * MOST - 1
    assert sent_cookies(cookies, f"http://a.test/{newest}/x") == f"c{newest}=1; session=2".encode()


def test_cookie_set_again_counts_as_newest() -> None:
    cookies = middleware()
    for number in range(2 * MOST):
        receive(cookies, "http://a.test/", f"c{number}=1", "session=2")
    assert b"session=2" in sent_cookies(cookies, "http://a.test/")
    for number in range(MOST_DOMAINS + 5):
        receive(cookies, f"http://a{number}.test/", "a=1")
        receive(cookies, "http://a.test/", "session=3")
    assert b"session=3" in sent_cookies(cookies, "http://a.test/")


def test_large_cookie_is_not_stored() -> None:
    cookies = middleware()
    large = "x" * LARGEST
    receive(cookies, "http://a.test/", f"a={large}", f"c=1; Own={large}", f"d=1; {large}", "b=1")
    assert sent_cookies(cookies, "http://a.test/") == b"b=1"


def test_cookie_that_browsers_store_is_stored() -> None:
    cookies, value = middleware(), "x" * (LARGEST - 1)
    receive(cookies, f"http://a.test/{'p' * 1000}/", f"a={value}")
    receive(cookies, "http://a.test/", f"b={value}; Path=/; Domain=a.test; HttpOnly; SameSite=Lax")
    sent = sent_cookies(cookies, f"http://a.test/{'p' * 1000}/x")
    assert sent == f"a={value}; b={value}".encode()


def test_size_of_the_cookies_of_a_domain_is_limited() -> None:
    cookies = middleware()
    for number in range(20):
        receive(cookies, "http://a.test/", f"c{number}=1; Own={'x' * 4000}")
    assert sent_cookies(cookies, "http://a.test/") == b"; ".join(
        b"c%d=1" % n for n in range(12, 20)
    )


def test_number_of_domains_with_cookies_is_limited() -> None:
    cookies = middleware()
    for number in range(MOST_DOMAINS + 5):
        receive(cookies, f"http://a{number}.test/", "a=1")
    assert stored_count(cookies) == MOST_DOMAINS
    assert sent_cookies(cookies, "http://a4.test/") == b""
    assert sent_cookies(cookies, "http://a5.test/") == b"a=1"


def test_oversized_cookie_header_is_not_sent() -> None:
    cookies = middleware()
    receive(cookies, "http://a.test/", *(f"c{n}={'x' * 1000}" for n in range(20)))
    receive(cookies, "http://b.test/", *(f"c{n}={'x' * 1000}" for n in range(10)))
    assert sent_cookies(cookies, "http://a.test/") == b""
    assert len(sent_cookies(cookies, "http://b.test/")) > 10_000


def test_cookie_of_a_public_suffix_or_another_site_is_refused() -> None:
    cookies = middleware()
    receive(cookies, "http://a.com.cn/", "a=1; Domain=.com.cn", "b=1; Domain=b.com.cn", "c=1")
    assert sent_cookies(cookies, "http://b.com.cn/") == b""
    assert sent_cookies(cookies, "http://a.com.cn/") == b"c=1"
    receive(cookies, "http://github.io/", "own=1; Domain=github.io")
    assert sent_cookies(cookies, "http://github.io/") == b"own=1"


def test_cookie_of_a_public_suffix_is_not_sent_to_the_sites_below_it() -> None:
    cookies = middleware()
    receive(cookies, "http://github.io/", "own=1; Domain=github.io", "plain=1")
    receive(cookies, "http://www.a.test/", "site=1; Domain=a.test")
    assert sent_cookies(cookies, "http://other.github.io/") == b""
    assert sent_cookies(cookies, "http://GitHub.io:80/") == b"own=1; plain=1"
    assert sent_cookies(cookies, "http://news.a.test/") == b"site=1"
