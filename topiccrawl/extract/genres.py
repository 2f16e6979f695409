"""Genre of a page: article, live ticker, hub, gallery, product, forum, service, reference, search.

Multinomial logistic regression on page features, trained offline (``benchmarks.genres``) and
shipped as coefficients. Genres without labelled pages (live tickers, galleries, searches) are
detected by metadata, words and features.
"""

from __future__ import annotations

import json
import re
from enum import StrEnum
from functools import cache
from importlib.resources import files
from math import exp, log1p
from typing import TYPE_CHECKING, Any

from topiccrawl.errors import ConfigurationError
from topiccrawl.extract.page_features import ParsedPage, features
from topiccrawl.messages import NameList

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from topiccrawl.extract.blocks import Layout
    from topiccrawl.model import Extracted

MAX_BARE_NAMES = 8
"""Most distinct class and id names on a bare page, including ""."""

MAX_LED = 0.5
"""Share of the paragraphs of a bare page below linked headlines, above which it is a hub."""

MIN_LIVE_CLOCKS = log1p(8)
"""Minimum feature ``clocks`` (times of day in short lines) of a live ticker."""

MIN_IMAGE_SHARE = 0.6
"""Minimum share of images among the images and paragraphs of a gallery."""

_LIST = re.compile(
    r"[^?#]*/(?:page/\d{1,4}|(?:tags?|category|categories|authors?)/[^/?#]+|"
    r"categor(?:y|ies)(?:/[a-z]+(?:-[a-z]+){0,2}){2,3}(?=/)|"
    r"[^/?#-]*(?:-[^/?#-]*){0,2}/(?:19|20)\d\d(?:/(?:0[1-9]|[12]\d|3[01])){1,2}|"
    r"(?:[a-z]{2,4}_)?list(?:[-_][a-z]{1,12})?(?:[-_]?\d{1,6})?(?:[-_]\d{1,6})*(?:\.[a-z]{3,5})?)/?$"
)
"""URLs of the further pages of a list (longer numbers are those of articles), of the articles of a
month or day (without a headline before it), tag, category or author, which may be one article, and
of lists of Chinese publishing systems (``list_2.htm``, ``list-5-2.html``, ``xwzx_list.html``)."""
_COMMENTS = re.compile(r"/(?:comments?|pinglun|gentie)(?:[/._?-]|$)")
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
    """Convert names to genres.

    Raises:
        ConfigurationError: A name is no genre.

    >>> sorted(genres_named(["article", "live"]))
    [<Genre.ARTICLE: 'article'>, <Genre.LIVE: 'live'>]
    """
    try:
        return frozenset(map(Genre, names))
    except ValueError as error:
        known = NameList(Genre)
        raise ConfigurationError(
            "TOPICCRAWL_GENRES: {error}; genres are {known}", error=error, known=known
        ) from error


def is_bare(layout: Layout) -> bool:
    """Return whether a page has too few named elements for genre classification."""
    return len({box.names for box in layout.boxes[1:]}) <= MAX_BARE_NAMES


def genre_of(page: ParsedPage, article: Extracted) -> Genre:
    """Classify the genre of a page.

    A bare page is a hub if it consists of teasers, a forum if its URL names comments, and
    otherwise an article. Any other page is a hub if its URL is that of a list.

    Args:
        page: The page.
        article: What was extracted from its densest text.
    """
    found = features(page, article)
    if is_bare(page.layout):
        if found["body_led"] > MAX_LED:
            return Genre.HUB
        return Genre.FORUM if _COMMENTS.search(page.url) else Genre.ARTICLE
    if _LIST.match(page.url):
        return Genre.HUB
    likely = probabilities_of(found)
    if likely[Genre.ARTICLE] >= _model()["limit"]:
        return _special(found, page) or Genre.ARTICLE
    if found["url_sought"]:
        return Genre.SEARCH
    return max((one for one in likely if one is not Genre.ARTICLE), key=likely.__getitem__)


def probabilities_of(found: Mapping[str, float]) -> dict[Genre, float]:
    """Return the probability of each genre for the features of a page; the sum is 1."""
    model = _model()
    scores = list(model["intercepts"])
    for name, weights in model["weights"].items():
        value = found[name]
        if value:
            for place, weight in enumerate(weights):
                scores[place] += value * weight
    most = max(scores)
    powers = [exp(one - most) for one in scores]
    total = sum(powers)
    shares = [power / total for power in powers]
    return dict(zip(map(Genre, model["genres"]), shares, strict=True))


def _special(found: Mapping[str, float], page: ParsedPage) -> Genre | None:
    """Return LIVE or GALLERY for such pages among those classified as articles, else None."""
    named = f"{page.url} {page.window}"
    if found["type_live"] or (found["clocks"] >= MIN_LIVE_CLOCKS and _LIVE.search(named)):
        return Genre.LIVE
    if found["image_ratio"] >= MIN_IMAGE_SHARE and found["short_body"] and _GALLERY.search(named):
        return Genre.GALLERY
    return None


@cache
def _model() -> dict[str, Any]:
    """Return coefficients by feature and genre, and the minimum probability of an article."""
    text = files(__package__).joinpath("genres.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found
