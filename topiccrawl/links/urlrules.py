r"""Include and exclude rules of a topic: patterns of the URLs that may be requested.

A pattern is a glob, in which only ``*`` is special and stands for any characters, or a regular
expression after ``re:`` that is searched. Both see host, path and query, percent signs decoded:

| pattern | URLs |
| --- | --- |
| ``/sport/*`` | whose path begins so, on any host |
| ``example.com`` | of this host and those below it |
| ``*.example.com/2026/*`` | of hosts below it, whose path begins so |
| ``re:/20\d\d/\d+`` | in which it is found |
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from topiccrawl.errors import FieldError
from topiccrawl.links.urls import canonical, host_of

if TYPE_CHECKING:
    from collections.abc import Iterable

REGEX = "re:"


class UrlRules:
    """Rules of one topic; a URL that is excluded and included is excluded.

    Args:
        include: Patterns of which a URL needs one; empty: none is needed.
        exclude: Patterns of which it must have none.

    Raises:
        ValueError: A pattern is empty or no regular expression.

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
        """Return why a URL must not be requested, or None."""
        if not self._include and not self._exclude:
            return None
        parts = urlsplit(url)
        seen = f"{host_of(url)}{unquote(parts.path) or '/'}"
        seen = f"{seen}?{unquote(parts.query)}" if parts.query else seen
        if any(pattern.search(seen) for pattern in self._exclude):
            return "url-excluded"
        if self._include and not any(pattern.search(seen) for pattern in self._include):
            return "url-not-included"
        return None


def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern as a regular expression of host, path and query.

    Raises:
        ValueError: It is empty or no regular expression.

    >>> bool(compiled("*.a.test").search("b.a.test/x")), bool(compiled("a.test").search("xa.test/"))
    (True, False)
    """
    text = pattern.strip()
    if text.startswith(REGEX) and text != REGEX:
        try:
            return re.compile(text.removeprefix(REGEX))
        except re.error as error:
            raise FieldError(
                "{pattern!r} is no regular expression: {error}", pattern=pattern, error=error
            ) from error
    host, slash, path = text.removeprefix("http://").removeprefix("https://").partition("/")
    if text == REGEX or not (host or slash):
        raise FieldError(
            "{pattern!r} is no pattern: write /path/*, host/path/* or re:EXPRESSION",
            pattern=pattern,
        )
    begin = rf"^{_glob(_spelled(host))}" if slash and host else r"^[^/]*" if slash else ""
    if not slash:
        return re.compile(rf"^(?:[^/]*\.)?{_glob(_spelled(host))}/")
    return re.compile(rf"{begin}/{_glob(path)}$")


def _glob(text: str) -> str:
    return ".*".join(map(re.escape, text.split("*")))


def _spelled(host: str) -> str:
    """Return a host as canonical URLs spell it; one with a wildcard in lower case."""
    return host.lower() if "*" in host else host_of(canonical(f"http://{host}/") or "") or host
