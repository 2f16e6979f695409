"""Canonical form, host, site and words of URLs.

All functions accept any string and never raise. Tens of thousands of links are canonicalized per
second, so clean URLs are matched by one regular expression and only other URLs are parsed.

Rules of :func:`canonical`:

- fragments are removed, since servers do not receive them; ``#!`` too (it needs a browser);
- user names and passwords are removed;
- session ids and click trackers (:data:`SESSION_NAMES`, :data:`TRACKER_NAMES`) are removed, since
  they give one page many URLs; ``sid`` and similar names only if the value looks random, and
  ``sessionid`` not with a short number, because many sites use them for stories, sections or talks;
- percent-encoded bytes keep their values (GBK remains GBK) and get one spelling;
- the order of query parameters is kept, since some servers depend on it.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from ipaddress import IPv6Address
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import SplitResult, quote_from_bytes, unquote, urlsplit

import idna

from topiccrawl.text.decode import codec_of, percent_decoded

if TYPE_CHECKING:
    from tldextract import TLDExtract

MAX_URL = 4_096
"""Most characters of a canonical URL. URLs of news sites are far shorter."""

SESSION_NAMES = (
    "jsessionid", "phpsessid", "phpsession", "sessionid", "session_id", "sessid", "cfid", "cftoken",
    "zenid", "oscsid", "asp.net_sessionid",
)  # fmt: skip
"""Query parameters (and ``;jsessionid=`` in paths) that only identify a visitor."""

TRACKER_NAMES = (
    "spm", "scm", "gclid", "fbclid", "msclkid", "yclid", "dclid", "igshid", "mc_cid", "mc_eid",
    "_ga", "hmsr", "hmpl", "hmcu", "hmkw", "hmci", "bd_vid", "qhclickid", "nsukey",
    "isappinstalled", "share_token", "pvid",
)  # fmt: skip
"""Query parameters that only track a visitor's referrer, in addition to ``utm_…``."""

_RANDOM = r"(?:(?=[^&]*[0-9])(?=[^&]*[A-Za-z])[0-9A-Za-z]{10,}|[0-9A-Za-z_-]{24,})"
_SHORT_SESSION = rf"(?:sid|session|sess)={_RANDOM}"
_NAMES = "|".join(map(re.escape, SESSION_NAMES + TRACKER_NAMES))
_NUMBERED = r"session_?id=[0-9]{1,4}(?:&|$)"  # a conference, a parliament: ids are longer
_NAMED = rf"(?!{_NUMBERED})(?:{_NAMES}|utm_[a-z_]*)(?:=[^&]*)?"
_REMOVED = rf"(?:{_NAMED}|aspsessionid[a-z]*=[^&]*|{_SHORT_SESSION})"
_HAS_REMOVED = re.compile(rf"[?&]{_REMOVED}(?=&|$)", re.IGNORECASE | re.ASCII)
_REMOVED_PARAM = re.compile(_REMOVED, re.IGNORECASE | re.ASCII)
_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sessionid|sid)=[^/;]*", re.IGNORECASE)

_LABELS = r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*"
_CHARS = r"A-Za-z0-9\-._~!$&'()*+,=:@"
_CLEAN = re.compile(
    rf"https?://{_LABELS}(?:/(?!\.\.?(?:[/?]|\Z))[{_CHARS}]*)+(?:\?[{_CHARS};/?]+)?", re.ASCII
)
_PARTS = re.compile(
    r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?", re.ASCII | re.DOTALL
)
_ABSOLUTE = ("http://", "https://")
_HTTP = re.compile(r"(https?):/*", re.IGNORECASE)
_HOST = re.compile(_LABELS, re.ASCII)
_PLAIN_HOST = re.compile(r"https?://([a-z0-9._-]+)/")  # matches nearly all URLs
_AFTER_HOST = re.compile(r"[/?#\\]")
_SAFE_PATH = re.compile(rf"[{_CHARS};/]*", re.ASCII)
_SAFE_QUERY = re.compile(rf"[{_CHARS};/?]*", re.ASCII)
_UNSAFE_PATH = re.compile(rf"%[0-9A-Fa-f]{{2}}|%|[^%{_CHARS};/]+", re.ASCII)
_UNSAFE_QUERY = re.compile(rf"%[0-9A-Fa-f]{{2}}|%|[^%{_CHARS};/?]+", re.ASCII)
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_CONTROLS = "".join(map(chr, range(33)))
_NEWLINES = str.maketrans("", "", "\t\r\n")
_PORTS = {"http": 80, "https": 443}
_LAST_PORT = 65_535
_LONGEST_HOST = 254  # limit of DNS, with a trailing dot; IDNA is slow for longer names

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[0-9]+|[^\W\d_]+")
_DIGITS = re.compile(r"[0-9]+")


class _Base(NamedTuple):
    """A page's URL, parsed once for all its links."""

    scheme: str
    origin: str
    path: str
    directory: str
    query: str | None


def canonical(url: str, base: str | None = None, encoding: str = "utf-8") -> str | None:
    """Return the canonical form of a URL: absolute http(s), no fragment; None if impossible.

    Idempotent; never raises. Scheme and host in lower case, IDNA, without default port; dot
    segments resolved; percent-encoding in one spelling; query order kept; session ids and
    trackers removed.

    Args:
        url: URL as written in the page; surrounding blanks and line breaks are ignored.
        base: Base of relative URLs; without a base a relative URL gives None.
        encoding: Encoding of the page, in which browsers send non-ASCII letters of a query.

    >>> canonical("HTTP://News.Example.COM:80/a/../b.html?id=7&utm_source=x#top")
    'http://news.example.com/b.html?id=7'
    >>> canonical("../2.html", "http://example.com/news/a/1.html")
    'http://example.com/news/2.html'
    >>> canonical("/s?w=%c4%e3", "http://example.com/"), canonical("javascript:void(0)")
    ('http://example.com/s?w=%C4%E3', None)
    """
    if not isinstance(url, str):
        raise TypeError(f"a URL is text, not {type(url).__name__}")
    if len(url) > MAX_URL:
        url = url.strip(_CONTROLS)
        if len(url) > MAX_URL:
            return None
    absolute = url if base is None else _resolve_plain(url, base)
    if _is_clean(absolute):
        return absolute
    return _canonicalize(url, None if url.startswith(_ABSOLUTE) else base, encoding)


@lru_cache(maxsize=32_768)
def _is_clean(url: str) -> bool:
    """Return whether a URL is canonical; cached, since menus repeat on every page."""
    if len(url) > MAX_URL or not _CLEAN.fullmatch(url):
        return False
    return "?" not in url or not _HAS_REMOVED.search(url)


def _resolve_plain(url: str, base: str) -> str:
    """Resolve plain references to absolute URLs; return others unchanged."""
    if url.startswith(_ABSOLUTE) or not url:
        return url
    parsed = _base(base)
    if parsed is None or ":" in url:
        return url
    if url[0] == "/":
        return url if url[1:2] in {"/", "\\"} else parsed.origin + url
    return parsed.origin + parsed.directory + url if url[0].isalnum() else url


@lru_cache(maxsize=1024)
def _base(base: str) -> _Base | None:
    address = canonical(base)
    if address is None:
        return None
    scheme, authority, path, query = _parts(address)
    return _Base(scheme or "", f"{scheme}://{authority}", path, path[: path.rfind("/") + 1], query)


def _parts(text: str) -> tuple[str | None, str | None, str, str | None]:
    match = _PARTS.match(text)
    return match.groups() if match else (None, None, text, None)  # type: ignore[return-value]


@lru_cache(maxsize=16_384)
def _canonicalize(url: str, base: str | None, encoding: str) -> str | None:
    """Compute the canonical form by parsing the URL."""
    text = _browser_slashes(url.strip(_CONTROLS).translate(_NEWLINES))
    parsed = _base(base) if base is not None else None
    scheme, authority, path, query = _parts(_absolute_scheme(text, parsed))
    if scheme is None:
        if parsed is None:
            return None
        scheme = parsed.scheme
        if authority is None:
            authority = parsed.origin.partition("://")[2]
            path, query = _resolve(path, query, parsed)
    origin = _authority(scheme.lower(), authority or "")
    if origin is None:
        return None
    result = f"{origin}{_path(path)}{_query(query, encoding)}"
    return result if len(result) <= MAX_URL else None


def _browser_slashes(text: str) -> str:
    """Replace backslashes before the query by slashes, as browsers do."""
    if "\\" not in text:
        return text
    end = min((i for i in (text.find("?"), text.find("#")) if i >= 0), default=len(text))
    return text[:end].replace("\\", "/") + text[end:]


def _absolute_scheme(text: str, parsed: _Base | None) -> str:
    """Resolve ``http:x``, ``http:/x`` and ``http:///x`` as browsers do."""
    match = _HTTP.match(text)
    if match is None:
        return text
    rest = text[match.end() :]
    if parsed and not match.group().endswith("//") and match.group(1).lower() == parsed.scheme:
        return text[len(parsed.scheme) + 1 :]
    return f"{match.group(1)}://{rest}"


def _resolve(path: str, query: str | None, parsed: _Base) -> tuple[str, str | None]:
    """Return path and query of a reference without authority (RFC 3986, 5.2.2)."""
    if not path:
        return parsed.path, parsed.query if query is None else query
    return (path if path[0] == "/" else parsed.directory + path), query


@lru_cache(maxsize=4096)
def _authority(scheme: str, authority: str) -> str | None:
    """Return ``scheme://host[:port]``, or None for other schemes and invalid hosts."""
    if scheme not in _PORTS:
        return None
    text = authority.rpartition("@")[2]
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text, ""
    if port and (not port.isascii() or not port.isdigit() or int(port) > _LAST_PORT):
        return None
    name = _ipv6(host) if host.startswith("[") else _host(host)
    if name is None:
        return None
    port_suffix = "" if not port or int(port) == _PORTS[scheme] else f":{int(port)}"
    return f"{scheme}://{name}{port_suffix}"


def _ipv6(host: str) -> str | None:
    try:
        return f"[{IPv6Address(host[1:-1]).compressed}]" if host.endswith("]") else None
    except ValueError:
        return None


def _host(host: str) -> str | None:
    name = (unquote(host) if "%" in host else host).lower()
    if len(name) > _LONGEST_HOST:
        return None
    if not name.isascii():
        try:
            name = _encode_idna(name)
        except UnicodeError:
            return None
    name = name.removesuffix(".")
    return name if _HOST.fullmatch(name) else None


def _encode_idna(name: str) -> str:
    """Encode a host name for DNS by IDNA 2008 (UTS 46), which keeps the letter ß.

    Names with symbols are invalid in IDNA 2008 but still registered; they are encoded by IDNA 2003.
    """
    try:
        return idna.encode(name, uts46=True).decode("ascii").lower()
    except idna.IDNAError:
        return name.encode("idna").decode("ascii").lower()


def _path(path: str) -> str:
    if not _SAFE_PATH.fullmatch(path):
        path = _UNSAFE_PATH.sub(_respell, path)
    if ";" in path:
        path = _PATH_SESSION.sub("", path)
    if "/." in path:
        path = _remove_dot_segments(path)
    return path if path[:1] == "/" else f"/{path}"


def _remove_dot_segments(path: str) -> str:
    kept: list[str] = []
    *parents, last = path.split("/")[1:]
    for part in (*parents, last):
        if part == "..":
            del kept[-1:]
        elif part != ".":
            kept.append(part)
    if last in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)


def _query(query: str | None, encoding: str) -> str:
    """Return the canonical query with its question mark, or ""."""
    if not query:
        return ""
    if not _SAFE_QUERY.fullmatch(query):
        codec = codec_of(encoding) or "utf-8"
        query = _UNSAFE_QUERY.sub(lambda match: _respell(match, codec, "xmlcharrefreplace"), query)
    if _HAS_REMOVED.search(f"?{query}"):
        query = "&".join(p for p in query.split("&") if not _REMOVED_PARAM.fullmatch(p))
    return f"?{query}" if query else ""


def _respell(match: re.Match[str], codec: str = "utf-8", errors: str = "replace") -> str:
    """Return a percent triplet or a run of unsafe characters in canonical spelling."""
    text = match.group()
    if text[0] == "%" and len(text) > 1:
        letter = chr(int(text[1:], 16))
        return letter if letter in _UNRESERVED else text.upper()
    return quote_from_bytes(text.encode(codec, errors), safe="")


def host_of(url: str) -> str:
    """Return the host of a URL in lower case, without port; "" if it has none.

    >>> host_of("http://news.example.com:8080/a"), host_of("mailto:x")
    ('news.example.com', '')
    """
    if plain := _PLAIN_HOST.match(url):
        return plain[1]
    text = origin_of(url).partition("://")[2]
    if text[:1] == "[":
        return text[: text.find("]") + 1]
    return text.partition(":")[0]


def origin_of(url: str) -> str:
    """Return the origin (scheme, host and port) of a URL; "" if it has no host.

    >>> origin_of("https://example.com:8443/a/b?c")
    'https://example.com:8443'
    """
    scheme, mark, rest = url.partition("://")
    text = _AFTER_HOST.split(rest, maxsplit=1)[0].rpartition("@")[2].lower()
    return f"{scheme.lower()}://{text}" if mark and text else ""


def split_url(url: str) -> SplitResult:
    """Split any text into the parts of a URL; those of an invalid URL are empty.

    >>> split_url("http://a.cn/b?c").path, split_url("http://[a.cn/b").path
    ('/b', '')
    """
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def is_home(url: str) -> bool:
    """Check whether a URL or reference leads to the root of a site.

    >>> is_home("http://a.cn/"), is_home("/"), is_home("http://a.cn/b"), is_home("http://[a.cn/")
    (True, True, False, False)
    """
    parts = split_url(url)
    return parts.path in ("", "/") and not parts.query and bool(parts.path or parts.netloc)


def site_of(url: str) -> str:
    """Return the registrable domain of a URL or a bare host; the host itself if it has none.

    Uses the public suffix list that ships with tldextract, without network or disk cache. A name
    under no public suffix gives its last two labels. An IP address or a single label gives itself.

    >>> site_of("http://sports.news.sina.com.cn/x"), site_of("http://127.0.0.1:80/")
    ('sina.com.cn', '127.0.0.1')
    """
    return _site(host_of(url) if "://" in url else url.lower())


@lru_cache(maxsize=65_536)
def _site(host: str) -> str:
    if host[:1] == "[" or _DIGITS.fullmatch(host.replace(".", "")):
        return host
    domain = _suffixes().extract_str(host).top_domain_under_public_suffix
    return domain or ".".join(host.split(".")[-2:])


@cache
def _suffixes() -> TLDExtract:
    """Return the public suffix list; loaded on first use, since loading is slow."""
    import tldextract

    return tldextract.TLDExtract(cache_dir=None, suffix_list_urls=())


def words(url: str) -> list[str]:
    """Return the words of path and query in lower case, percent-decoded (UTF-8, else GB18030).

    Digits form separate words, so ``covid19`` and dates are split. Runs of Chinese are not split.

    >>> words("http://example.com/sport/CupFinal_2016/t0112.html?w=%d7%e3%c7%f2")
    ['sport', 'cup', 'final', '2016', 't', '0112', 'html', 'w', '足球']
    """
    rest = url.partition("://")[2].partition("/")[2] if "://" in url else url
    if "%" in rest:
        rest = percent_decoded(rest)
    return [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", rest))]
