"""Who is who: identities of URLs, hosts and origins.

A key is 4 bytes of its host and 8 of its URL: links of one page lie side by side in the store.
"""

from __future__ import annotations

from xxhash import xxh3_64_digest

KEY_BYTES = 12
DEFAULT_PORTS = {"http": "80", "https": "443"}


def split_origin(url: str) -> tuple[str, str]:
    """Scheme with its colon, and network location, as they stand in the URL.

    >>> split_origin("http://News.cn:8080/a?b=/")
    ('http:', 'News.cn:8080')
    """
    scheme, _, rest = url.partition("//")
    for mark in "/?#":
        rest = rest.partition(mark)[0]
    return scheme, rest


def host_of(netloc: str) -> str:
    """Lower-case host name of a network location, without user and port.

    >>> host_of("u:p@News.CN:8080"), host_of("[::1]:80")
    ('news.cn', '[::1]')
    """
    place = netloc.rpartition("@")[2].lower()
    if place.startswith("["):
        return place.partition("]")[0] + "]"
    return place.partition(":")[0]


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL: what one robots.txt speaks for.

    >>> origin_of("https://News.cn:443/a"), origin_of("http://news.cn:8080/")
    ('https://news.cn', 'http://news.cn:8080')
    """
    scheme, netloc = split_origin(url)
    scheme = scheme.rstrip(":").lower()
    place = netloc.rpartition("@")[2].lower()
    host = host_of(netloc)
    port = place[len(host) :].lstrip(":")
    if port and port != DEFAULT_PORTS.get(scheme):
        return f"{scheme}://{host}:{port}"
    return f"{scheme}://{host}"


def host_digest(host: str) -> bytes:
    """The four bytes of a host name that begin the keys of its URLs."""
    return xxh3_64_digest(host.encode())[:4]


def key_of(url: str) -> bytes:
    """Key of a canonical URL, 12 bytes.

    >>> len(key_of("http://news.cn/"))
    12
    """
    return host_digest(host_of(split_origin(url)[1])) + xxh3_64_digest(url.encode())
