r"""Include and exclude rules of a topic: patterns of the URLs that may be requested.

A pattern is a glob, in which only ``*`` is special and matches any characters, or a regular
expression with the prefix ``re:``, which is searched. Both are matched against host, path and
query, percent-decoded:

| pattern | matching URLs |
| --- | --- |
| ``/sport/*`` | paths that begin with ``/sport/``, on any host |
| ``example.com`` | the host and its subdomains |
| ``*.example.com/2026/*`` | paths that begin with ``/2026/``, on subdomains |
| ``re:/20\d\d/\d+`` | URLs in which the expression is found |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from topiccrawl.errors import FieldError, translated
from topiccrawl.links.urls import canonical, host_of
from topiccrawl.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterable

REGEX = "re:"


class UrlRules:
    """Include and exclude rules of one topic; exclude wins.

    Args:
        include: Patterns, of which a URL must match at least one; empty allows all.
        exclude: Patterns, none of which a URL may match.

    Raises:
        ValueError: A pattern is empty or an invalid regular expression.

    >>> rules = UrlRules(["a.test/news/*", "b.test"], ["*/video/*"])
    >>> rules.refuse("http://a.test/news/1"), rules.refuse("http://a.test/news/video/1")
    (None, 'url-excluded')
    >>> rules.refuse("http://a.test/about"), rules.refuse("http://www.b.test/about")
    ('url-not-included', None)
    """

    def __init__(self, include: Iterable[str] = (), exclude: Iterable[str] = ()) -> None:
        self._include = tuple(map(compiled, include))
        self._exclude = tuple(map(compiled, exclude))

    def refuse(self, url: str) -> str | None:
        """Return the reason why a URL must not be requested, or None."""
        parts = urlsplit(url)
        target = f"{host_of(url)}{unquote(parts.path) or '/'}"
        target = f"{target}?{unquote(parts.query)}" if parts.query else target
        if any(pattern.search(target) for pattern in self._exclude):
            return "url-excluded"
        if self._include and not any(pattern.search(target) for pattern in self._include):
            return "url-not-included"
        return None


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern to a regular expression for host, path and query.

    Raises:
        ValueError: The pattern is empty or an invalid regular expression.

    >>> bool(compiled("*.a.test").search("b.a.test/x")), bool(compiled("a.test").search("xa.test/"))
    (True, False)
    """
    text = pattern.strip()
    if text.startswith(REGEX) and text != REGEX:
        invalid = message("{pattern!r} is no regular expression: {error}")
        with translated(FieldError, invalid, (re.error,), pattern=pattern):
            return re.compile(text.removeprefix(REGEX))
    host, slash, path = text.removeprefix("http://").removeprefix("https://").partition("/")
    if text == REGEX or not (host or slash):
        raise FieldError(
            "{pattern!r} is no pattern: write /path/*, host/path/* or re:EXPRESSION",
            pattern=pattern,
        )
    start = rf"^{_glob(_normalized(host))}" if slash and host else r"^[^/]*" if slash else ""
    if not slash:
        return re.compile(rf"^(?:[^/]*\.)?{_glob(_normalized(host))}/")
    return re.compile(rf"{start}/{_glob(path)}$")


def _glob(text: str) -> str:
    return ".*".join(map(re.escape, text.split("*")))


def _normalized(host: str) -> str:
    """Return a host in canonical form; a host with a wildcard in lower case."""
    return host.lower() if "*" in host else host_of(canonical(f"http://{host}/") or "") or host
