"""Limits and thresholds of a topic: the tables of a topic file."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from topiccrawl.errors import FieldError
from topiccrawl.topics.fields import Part

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
