"""SearXNG, a self-hosted search engine with a JSON API; the recommended provider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from topiccrawl.discovery.contract import Answer, Blocked, Changed, Fetched, Hit, Results
from topiccrawl.discovery.pages import number_in, parse_json, unique, unusual, with_query
from topiccrawl.links.urls import canonical

if TYPE_CHECKING:
    from collections.abc import Iterator


_FORBIDDEN, _LIMITED = 403, 429
_FORMATS = "add json to search.formats in its settings.yml and restart it"
_LIMITER = "set server.limiter to false in its settings.yml, or allow this host in its limiter"
_ENGINES = "choose other engines in its settings.yml, or wait until they respond again"


class SearXNG:
    """SearXNG instance, queried by ``GET /search?format=json``.

    Args:
        base: URL of the instance, such as ``http://localhost:8888``.
    """

    name = "searxng"
    searches = True

    def __init__(self, base: str) -> None:
        self.base = base.rstrip("/").removesuffix("/search")

    def start(self, query: str) -> Results:
        """See ``SeedProvider.start``."""
        values = {"q": query, "format": "json", "pageno": 1}
        return Results((), (f"{self.base}/search?{urlencode(values)}",))

    def read(self, page: Fetched) -> Answer:
        """See ``SeedProvider.read``; ``Blocked`` if no result and engines did not respond."""
        if page.status == _FORBIDDEN:
            return Blocked("searxng: JSON responses are disabled (403)", _FORMATS)
        if page.status == _LIMITED:
            return Blocked("searxng: its limiter rejects requests (429)", _LIMITER)
        if (answer := unusual(page, "see the log of the instance")) is not None:
            return answer
        found = parse_json(page.text)
        if not isinstance(found, dict) or not isinstance(found.get("results"), list):
            return Changed("searxng: unexpected response format", f"check the address; {_FORMATS}")
        hits = unique(_hits(found["results"]))
        if not hits:
            return _no_results(found.get("unresponsive_engines"))
        following = with_query(page.url, pageno=number_in(page.url, "pageno", 1) + 1)
        return Results(hits, (following,))


def _hits(results: list[Any]) -> Iterator[Hit]:
    for result in results:
        url = canonical(str(result.get("url") or "")) if isinstance(result, dict) else None
        if url is not None:
            yield Hit(url, str(result.get("title") or ""))


def _no_results(silent: Any) -> Results | Blocked:  # noqa: ANN401  (a foreign document)
    """Return empty results, or ``Blocked`` if engines did not respond."""
    names = [": ".join(map(str, one)) for one in silent if one] if isinstance(silent, list) else []
    if not names:
        return Results()
    return Blocked(f"searxng: its engines do not respond ({'; '.join(names)})", _ENGINES)
