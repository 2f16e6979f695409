"""Cookies of sites that set many."""

from __future__ import annotations

from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from topiccrawl.middlewares.cookies import LARGEST, MOST, MOST_DOMAINS, OfflineCookiesMiddleware


def middleware() -> OfflineCookiesMiddleware:
    return OfflineCookiesMiddleware.from_crawler(get_crawler())


def answer(cookies: OfflineCookiesMiddleware, url: str, *lines: str) -> None:
    cookies.process_response(Request(url), Response(url, headers={"Set-Cookie": [*lines]}))


def sent(cookies: OfflineCookiesMiddleware, url: str) -> bytes:
    request = Request(url)
    cookies.process_request(request)
    return request.headers.get("Cookie") or b""


def kept(cookies: OfflineCookiesMiddleware) -> int:
    return sum(len([*jar]) for jar in cookies.jars.values())


def test_a_domain_keeps_its_newest_cookies_whatever_their_paths() -> None:
    cookies = middleware()
    for number in range(3 * MOST):
        answer(cookies, f"http://a.test/{number}/x", f"c{number}=1; Path=/{number}")
    answer(cookies, "http://a.test/", "session=2; Path=/")
    assert kept(cookies) == MOST
    assert (
        sum(len(paths) for jar in cookies.jars.values() for paths in jar._cookies.values()) == MOST
    )
    assert sent(cookies, "http://a.test/0/x") == b"session=2"
    newest = 3 * MOST - 1
    assert sent(cookies, f"http://a.test/{newest}/x") == f"c{newest}=1; session=2".encode()


def test_a_cookie_that_is_set_again_is_the_newest() -> None:
    cookies = middleware()
    for number in range(2 * MOST):
        answer(cookies, "http://a.test/", f"c{number}=1", "session=2")
    assert b"session=2" in sent(cookies, "http://a.test/")
    for number in range(MOST_DOMAINS + 5):
        answer(cookies, f"http://a{number}.test/", "a=1")
        answer(cookies, "http://a.test/", "session=3")
    assert b"session=3" in sent(cookies, "http://a.test/")


def test_a_large_cookie_is_not_kept() -> None:
    cookies = middleware()
    answer(cookies, "http://a.test/", f"a={'x' * LARGEST}", "b=1")
    assert sent(cookies, "http://a.test/") == b"b=1"


def test_domains_with_cookies_are_bounded() -> None:
    cookies = middleware()
    for number in range(MOST_DOMAINS + 5):
        answer(cookies, f"http://a{number}.test/", "a=1")
    assert kept(cookies) == MOST_DOMAINS
    assert sent(cookies, "http://a4.test/") == b""
    assert sent(cookies, "http://a5.test/") == b"a=1"


def test_a_request_with_more_cookies_than_servers_take_is_sent_without() -> None:
    cookies = middleware()
    answer(cookies, "http://a.test/", *(f"c{n}={'x' * 1000}" for n in range(20)))
    answer(cookies, "http://b.test/", *(f"c{n}={'x' * 1000}" for n in range(10)))
    assert sent(cookies, "http://a.test/") == b""
    assert len(sent(cookies, "http://b.test/")) > 10_000


def test_a_cookie_for_a_public_suffix_or_another_site_stays_away() -> None:
    cookies = middleware()
    answer(cookies, "http://a.com.cn/", "a=1; Domain=.com.cn", "b=1; Domain=b.com.cn", "c=1")
    assert sent(cookies, "http://b.com.cn/") == b""
    assert sent(cookies, "http://a.com.cn/") == b"c=1"
