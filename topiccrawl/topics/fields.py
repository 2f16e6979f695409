"""Field types and base models of topic files and templates; tables of topic files."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

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

Score = Annotated[float, Field(ge=0, le=1)]


class Thresholds(Part):
    """Thresholds of section 3 of the methods, in [0, 1]; None for the default.

    Attributes:
        lower_limit: Relevance from which a page is relevant.
        upper_limit: Relevance above which all links of a page enter priorQueue.
        min_prior: Potential score from which a link enters priorQueue.
        min_normal: Potential score below which a link enters the errorQueue.
        anchor_threshold: Anchor similarity above which the context is not used.
    """

    lower_limit: Score | None = None
    upper_limit: Score | None = None
    min_prior: Score | None = None
    min_normal: Score | None = None
    anchor_threshold: Score | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Thresholds:
        for low, high in (("lower_limit", "upper_limit"), ("min_normal", "min_prior")):
            a, b = getattr(self, low), getattr(self, high)
            if a is not None and b is not None and a > b:
                raise FieldError(
                    "{low} {a:g} is larger than {high} {b:g}: swap the values",
                    low=low,
                    a=a,
                    high=high,
                    b=b,
                )
        return self


class Budget(Part):
    """Limits of a topic's crawl; None keeps the setting of the crawl, 0 is no limit.

    Attributes:
        pages: Most responses in one run (CLOSESPIDER_PAGECOUNT).
        depth: Most links from the nearest seed (DEPTH_LIMIT).
        host_pages: Most pages fetched per host (TOPICCRAWL_HOST_PAGES).
    """

    pages: Annotated[int, Field(ge=0)] | None = None
    depth: Annotated[int, Field(ge=0)] | None = None
    host_pages: Annotated[int, Field(ge=0)] | None = None

    def settings(self) -> dict[str, int]:
        """Return the limits as Scrapy settings."""
        named = {
            "CLOSESPIDER_PAGECOUNT": self.pages,
            "DEPTH_LIMIT": self.depth,
            "TOPICCRAWL_HOST_PAGES": self.host_pages,
        }
        return {name: bound for name, bound in named.items() if bound is not None}
