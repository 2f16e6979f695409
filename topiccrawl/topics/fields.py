"""Fields of users' files that several kinds of files have."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from topiccrawl.errors import FieldError
from topiccrawl.links.hosts import host_named
from topiccrawl.links.urlrules import UrlRules
from topiccrawl.links.urls import canonical
from topiccrawl.text.normal import fold

LONGEST_NAME = 200


class Part(BaseModel):
    """Base of users' files and of their tables: frozen, without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class NamedPart(Part):
    """Base of what a file describes: a topic, a template."""

    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]

    @property
    def digest(self) -> str:
        """Twelve hex digits that change when anything of it changes."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]

    def version_of(self, fields: set[str]) -> int:
        """Return a number below 2**24 that changes with these fields."""
        text = self.model_dump_json(include=fields)
        return int(hashlib.sha256(text.encode()).hexdigest()[:6], 16)

    @property
    def slug(self) -> str:
        """Unique file name: a readable part of the name, then six hex digits of its hash.

        >>> NamedPart(name="EV / 电动车").slug
        'ev-电动车-40b8fb'
        """
        readable = re.sub(r"[^\w]+", "-", fold(self.name)).strip("-")[:40]
        digits = hashlib.sha256(self.name.encode()).hexdigest()[:6]
        return f"{readable or type(self).__name__.lower()}-{digits}"


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
