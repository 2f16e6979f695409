"""Genre of a page: article, live ticker, hub, gallery, product, forum, service, reference, search.

A multinomial logistic regression over a page's signs, trained without a network beforehand
(``benchmarks.genres``) and shipped as coefficients. Genres of which no labelled pages exist (live
tickers, galleries, searches) are recognised by what such pages state and by their shape.
"""

from __future__ import annotations

import json
import re
from enum import StrEnum
from functools import cache
from importlib.resources import files
from math import exp, log1p
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.errors import ConfigurationError
from topiccrawl.extract.page_features import PageFacts, page_features

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from topiccrawl.extract.blocks import Layout
    from topiccrawl.extract.metadata import Metadata

NAMED = 8
"""Most names of classes and ids on a bare page, "" included."""

LIVE_TIMES = log1p(8)
"""Sign ``clocks`` of a live ticker: times of day on lines of their own."""

PICTURES = 0.6
"""Least share of pictures in pictures and paragraphs of a gallery."""

_LIVE = re.compile(
    r"\blive\b.{0,20}(?:blog|ticker|updates?)|\bliveblog|liveticker|/live/|文字直播|图文直播",
    re.IGNORECASE,
)
_GALLERY = re.compile(
    r"\b(?:galler(?:y|ies)|slideshow|in pictures|photos?:)|组图|图集|高清图", re.IGNORECASE
)


class Genre(StrEnum):
    """Genres of pages."""

    ARTICLE = "article"
    LIVE = "live"
    HUB = "hub"
    GALLERY = "gallery"
    PRODUCT = "product"
    FORUM = "forum"
    SERVICE = "service"
    REFERENCE = "reference"  # documentation, encyclopedias
    SEARCH = "search"


def genres_named(names: Iterable[str]) -> frozenset[Genre]:
    """Return the genres of these names.

    Raises:
        ConfigurationError: A name is that of no genre.

    >>> sorted(genres_named(["article", "live"]))
    [<Genre.ARTICLE: 'article'>, <Genre.LIVE: 'live'>]
    """
    try:
        return frozenset(map(Genre, names))
    except ValueError as error:
        known = ", ".join(Genre)
        raise ConfigurationError(
            "TOPICCRAWL_GENRES: {error}; genres are {known}", error=error, known=known
        ) from error


class _Model(NamedTuple):
    """Coefficients by sign, one for each genre; points from which a page is an article."""

    genres: tuple[Genre, ...]
    intercepts: tuple[float, ...]
    weights: Mapping[str, tuple[float, ...]]
    limit: float


def is_bare(layout: Layout) -> bool:
    """Return whether a page has too few named elements to judge its genre; no site's page has."""
    return len({box.names for box in layout.boxes[1:]}) <= NAMED


def genre_of(layout: Layout, chosen: Sequence[int], metadata: Metadata, page: PageFacts) -> Genre:
    """Return a page's genre; a bare page counts as an article.

    Args:
        layout: The whole page.
        chosen: Numbers of the blocks of its body.
        metadata: Its metadata.
        page: What else is known of it.
    """
    if is_bare(layout):
        return Genre.ARTICLE
    found = page_features(layout, chosen, metadata, page)
    likely = shares(found)
    if likely[Genre.ARTICLE] >= _model().limit:
        return _special(found, page) or Genre.ARTICLE
    if found["url_sought"]:
        return Genre.SEARCH
    return max((one for one in likely if one is not Genre.ARTICLE), key=likely.__getitem__)


def shares(found: Mapping[str, float]) -> dict[Genre, float]:
    """Return the probability of each genre for a page's signs; they sum up to 1."""
    model = _model()
    points = list(model.intercepts)
    for name, weights in model.weights.items():
        value = found[name]
        if value:
            for place, weight in enumerate(weights):
                points[place] += value * weight
    most = max(points)
    powers = [exp(one - most) for one in points]
    total = sum(powers)
    return {one: power / total for one, power in zip(model.genres, powers, strict=True)}


def _special(found: Mapping[str, float], page: PageFacts) -> Genre | None:
    """Return the genre of a page that reads like an article and is a live ticker or a gallery."""
    named = f"{page.url} {page.window}"
    if found["type_live"] or (found["clocks"] >= LIVE_TIMES and _LIVE.search(named)):
        return Genre.LIVE
    if found["image_ratio"] >= PICTURES and found["short_body"] and _GALLERY.search(named):
        return Genre.GALLERY
    return None


@cache
def _model() -> _Model:
    stored = json.loads(files(__package__).joinpath("genres.json").read_text("utf-8"))
    return _Model(
        tuple(map(Genre, stored["genres"])),
        tuple(stored["intercepts"]),
        {name: tuple(weights) for name, weights in stored["weights"].items()},
        stored["limit"],
    )
