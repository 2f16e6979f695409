"""Parameters that do not matter: of a site's queries, those without which a page is the same.

``?from=list`` and ``?id=7`` look alike; their effect shows when both forms of a page were read. A
parameter is left out of a site's links where pages were the same with and without it, or with
other values, and never another page or an error. Known session ids and trackers are gone before
(``links/urls.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import xxhash

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SURE = 3
"""Pages that must have been the same, and none another, before a parameter is left out."""

MOST_PAGES = 5_000
"""Pages of a site in memory, at about 150 bytes each; then all are dropped, counts stay."""

MOST_NAMES = 100
"""Parameters of a site that are counted."""


class Parameters:
    """Effects of one site's parameters.

    >>> site = Parameters()
    >>> for n in range(3):
    ...     site.observe(f"http://a.test/{n}.html", f"text {n}")
    ...     site.observe(f"http://a.test/{n}.html?from=list", f"text {n}")
    >>> site.stripped("http://a.test/9.html?from=top&p=2")
    'http://a.test/9.html?p=2'
    """

    def __init__(self) -> None:
        self.counts: dict[str, list[int]] = {}
        self._pages: dict[int, int] = {}

    def observe(self, url: str, text: str) -> None:
        """Record a page: its text or a digest of it, "" for an error."""
        page = _hash(text)
        for name, without in _without(url):
            key = _hash(without)
            known = self._pages.get(key)
            if known is None:
                self._pages[key] = page
            elif text or known != page:  # that both are errors says nothing
                self._count(name, same=known == page)
        self._pages[_hash(url)] = page
        if len(self._pages) > MOST_PAGES:
            self._pages.clear()

    def stripped(self, url: str) -> str:
        """Return the URL without parameters that do not matter."""
        if "?" not in url or not self.counts:
            return url
        base, _, query = url.partition("?")
        kept = [part for part in query.split("&") if not self.idle(part.partition("=")[0])]
        return f"{base}?{'&'.join(kept)}" if kept else base

    def idle(self, name: str) -> bool:
        """Return whether a parameter does not matter."""
        same, other = self.counts.get(name, (0, 0))
        return same >= SURE and not other

    def to_json(self) -> dict[str, Any]:
        """Return plain values for ``from_json``."""
        return dict(self.counts)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Parameters:
        """Return the parameters that ``to_json`` gave; single pages are not kept."""
        site = cls()
        site.counts = {str(name): [int(n) for n in counts] for name, counts in value.items()}
        return site

    def _count(self, name: str, *, same: bool) -> None:
        if name in self.counts or len(self.counts) < MOST_NAMES:
            self.counts.setdefault(name, [0, 0])[not same] += 1


def _without(url: str) -> Iterator[tuple[str, str]]:
    """Each parameter's name, and the URL without it."""
    base, _, query = url.partition("?")
    parts = query.split("&") if query else []
    for place, part in enumerate(parts):
        rest = "&".join(parts[:place] + parts[place + 1 :])
        yield part.partition("=")[0], f"{base}?{rest}" if rest else base


def _hash(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "replace"))
