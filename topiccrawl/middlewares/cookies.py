"""Scrapy's cookies without a download of the public suffix list: a crawl asks only its sites."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.cookies import CookiesMiddleware
from typing_extensions import override

from topiccrawl.links.urls import host_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from http.cookiejar import Cookie

    from scrapy import Request
    from scrapy.http.cookies import CookieJar
    from tldextract import TLDExtract


class OfflineCookiesMiddleware(CookiesMiddleware):
    """Cookies that name a public suffix as their domain are kept for the host alone, as in Scrapy.

    The list that ships with tldextract decides, instead of one fetched at the first cookie.
    """

    @override
    def _process_cookies(
        self, cookies: Iterable[Cookie], *, jar: CookieJar, request: Request
    ) -> None:
        host = host_of(request.url)
        for cookie in cookies:
            domain = cookie.domain.removeprefix(".")
            if domain and not _suffixes()(domain).domain:
                if domain != host:
                    continue
                cookie.domain = host
            jar.set_cookie_if_ok(cookie, request)


@cache
def _suffixes() -> TLDExtract:
    """The public suffix list, with its private section (domains that give away subdomains)."""
    import tldextract

    return tldextract.TLDExtract(
        cache_dir=None, suffix_list_urls=(), include_psl_private_domains=True
    )
