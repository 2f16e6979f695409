"""Fields of users' files that several kinds of files have."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from topiccrawl.errors import FieldError
from topiccrawl.links.hosts import host_named
from topiccrawl.links.urlrules import UrlRules
from topiccrawl.links.urls import canonical


def _canonical(seeds: tuple[str, ...]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for seed in seeds:
        url = canonical(seed)
        if url is None:
            raise FieldError("{seed!r} is no http or https URL: write https://host/path", seed=seed)
        found[url] = None
    return tuple(found)


def _bare(hosts: tuple[str, ...]) -> tuple[str, ...]:
    named = tuple(map(host_named, hosts))
    for host, name in zip(hosts, named, strict=True):
        if not name:
            raise FieldError(
                "{host!r} is no host: write news.example.com, without scheme, port or path",
                host=host,
            )
    return named


def _compiling(patterns: tuple[str, ...]) -> tuple[str, ...]:
    UrlRules(patterns)
    return patterns


Seeds = Annotated[tuple[str, ...], AfterValidator(_canonical)]
"""Field of URLs to begin with: made canonical, each once."""

Hosts = Annotated[tuple[str, ...], AfterValidator(_bare)]
"""Field of hosts or domains, as canonical URLs spell them."""

Patterns = Annotated[tuple[str, ...], AfterValidator(_compiling)]
"""Field of URL patterns (``links.urlrules``)."""
