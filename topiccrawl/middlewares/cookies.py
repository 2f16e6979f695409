"""Scrapy's cookies with limits, and without a download of the public suffix list."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from http.cookiejar import DefaultCookiePolicy
from itertools import chain
from typing import TYPE_CHECKING, Any

from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from scrapy.http.cookies import CookieJar
from scrapy.utils.httpobj import urlparse_cached
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Iterable
    from http.cookiejar import Cookie
    from urllib.request import Request as PlainRequest

    from scrapy import Request, Spider
    from tldextract import TLDExtract

LARGEST, MOST, MOST_DOMAINS = 4096, 50, 3000
"""Maximum characters of a cookie and of its attributes, cookies of a domain, and domains; at least
those of RFC 6265."""
LARGEST_HEADER = 16_384
"""Maximum bytes of a Cookie header; servers refuse more, so a larger header is not sent."""
LARGEST_DOMAIN = 2 * LARGEST_HEADER
"""Maximum characters of a domain's cookies with their attributes."""
_HOST_ONLY = "HostOnly"


class _Policy(DefaultCookiePolicy):
    """Policy that returns cookies of a public suffix to their host alone, not its subdomains."""

    @override
    def return_ok_domain(self, cookie: Cookie, request: PlainRequest) -> bool:
        if cookie.has_nonstandard_attr(_HOST_ONLY) and cookie.domain != request.origin_req_host:
            return False
        return super().return_ok_domain(cookie, request)


class OfflineCookiesMiddleware(CookiesMiddleware):
    """Cookies middleware that uses the public suffix list shipped with tldextract.

    A cookie whose domain is a public suffix is kept for the host alone; Scrapy sends it to the
    subdomains, too, which are other sites. Scrapy would download the list at the first cookie. A
    site may set new cookies on each page, so the oldest ones are deleted at the limits.
    """

    @override
    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self.jars: defaultdict[Any, CookieJar] = defaultdict(lambda: CookieJar(_Policy()))

    @override
    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        super().process_request(request)
        if len(request.headers.get("Cookie") or b"") > LARGEST_HEADER:
            del request.headers["Cookie"]

    @override
    def _process_cookies(
        self, cookies: Iterable[Cookie], *, jar: CookieJar, request: Request
    ) -> None:
        host, changed = urlparse_cached(request).hostname, set()
        for cookie in cookies:
            domain = cookie.domain.removeprefix(".")
            if domain and not _suffixes()(domain).domain:
                if domain != host:
                    continue
                cookie.domain = host
                cookie.set_nonstandard_attr(_HOST_ONLY, "")
            own = len(cookie.name) + len(cookie.value or "")
            if max(own, _size(cookie) - own) <= LARGEST:
                jar.set_cookie_if_ok(cookie, request)
                _move_to_end(jar._cookies, cookie)  # noqa: SLF001 - there is no public interface
                changed.add(cookie.domain)
        for domain in changed:
            _evict_oldest(jar._cookies, domain)  # noqa: SLF001


def _move_to_end(known: dict[str, dict[str, dict[str, Cookie]]], cookie: Cookie) -> None:
    """Mark a cookie and its domain as the newest."""
    names = known.get(cookie.domain, {}).get(cookie.path, {})
    if cookie.name in names:
        names[cookie.name] = names.pop(cookie.name)
        known[cookie.domain] = known.pop(cookie.domain)


def _size(cookie: Cookie) -> int:
    """Return the characters of a cookie with its attributes."""
    values = vars(cookie)
    texts = (*values.values(), *chain.from_iterable(values["_rest"].items()))
    return sum(len(text) for text in texts if isinstance(text, str))


def _evict_oldest(known: dict[str, dict[str, dict[str, Cookie]]], domain: str) -> None:
    """Delete the oldest cookies of a domain, and the oldest domains, above the limits."""
    paths = known.get(domain, {})
    sizes = [_size(cookie) for names in paths.values() for cookie in names.values()]
    count, size = len(sizes), sum(sizes)
    while count > MOST or size > LARGEST_DOMAIN:
        path, names = next(iter(paths.items()))
        size -= _size(names.pop(next(iter(names))))
        count -= 1
        if not names:
            del paths[path]
    while len(known) > MOST_DOMAINS:
        del known[next(iter(known))]


@cache
def _suffixes() -> TLDExtract:
    """Return the public suffix list with its private section (domains that offer subdomains)."""
    import tldextract

    return tldextract.TLDExtract(
        cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True
    )
