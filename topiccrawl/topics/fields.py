"""Field types and base models shared by topic files and templates."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from topiccrawl.errors import FieldError
from topiccrawl.links.hosts import normalize_host
from topiccrawl.links.urlrules import UrlRules
from topiccrawl.links.urls import canonical
from topiccrawl.text.normal import fold

MAX_NAME_LENGTH = 200


class Part(BaseModel):
    """Base model of user files and their tables: frozen, without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class NamedPart(Part):
    """Base model of a topic or a template."""

    name: Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH)]

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that identify the content."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:12]

    def version_of(self, fields: set[str]) -> int:
        """Return a number below 2**24 that identifies the values of these fields."""
        text = self.model_dump_json(include=fields)
        return int(hashlib.sha256(text.encode()).hexdigest()[:6], 16)

    @property
    def slug(self) -> str:
        """Unique file name: a readable part of the name and six hexadecimal digits of its hash.

        >>> NamedPart(name="EV / 电动车").slug
        'ev-电动车-40b8fb'
        """
        readable = re.sub(r"[^\w]+", "-", fold(self.name)).strip("-")[:40]
        digits = hashlib.sha256(self.name.encode()).hexdigest()[:6]
        return f"{readable or type(self).__name__.lower()}-{digits}"


def _canonicalize(seeds: tuple[str, ...]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for seed in seeds:
        url = canonical(seed)
        if url is None:
            raise FieldError("{seed!r} is no http or https URL: write https://host/path", seed=seed)
        found[url] = None
    return tuple(found)


def _normalize_hosts(hosts: tuple[str, ...]) -> tuple[str, ...]:
    named = tuple(map(normalize_host, hosts))
    for host, name in zip(hosts, named, strict=True):
        if not name:
            raise FieldError(
                "{host!r} is no host: write news.example.com, without scheme, port or path",
                host=host,
            )
    return named


def _validate_patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    UrlRules(patterns)
    return patterns


Seeds = Annotated[tuple[str, ...], AfterValidator(_canonicalize)]
"""Field type of seed URLs: canonical and distinct."""

Hosts = Annotated[tuple[str, ...], AfterValidator(_normalize_hosts)]
"""Field type of hosts or domains, in the form of canonical URLs."""

Patterns = Annotated[tuple[str, ...], AfterValidator(_validate_patterns)]
"""Field type of URL patterns (``links.urlrules``)."""
