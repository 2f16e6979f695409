"""Model of pages' genres: train it, and measure it on hosts left out.

    python -m benchmarks.genres FOLDER ... [--write]

Each FOLDER holds pages and truth with a label of their kind (``benchmarks.extract_folders``), for
instance WCXB's development split and fundus' test pages. Collections of ``../shared/data`` are
added, pages that the project makes, and for each article of the folders a page of its site about
itself (``_about``), since no folder has such pages. Six folds without common hosts are judged by
models of the other five. ``--write`` trains on all and writes the coefficients that the package
ships (``topiccrawl/extract/genres.json``); of the pages themselves nothing is kept.
"""

from __future__ import annotations

import argparse
import base64
import json
import sys
from collections import Counter
from math import log1p
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from benchmarks.extract import rows
from benchmarks.extract_folders import labelled
from benchmarks.output import DATA
from lab.demo import generate
from lab.demo.plan import Kind
from tests.quality import newspages
from topiccrawl.extract.extract import features_of
from topiccrawl.extract.genres import Genre
from topiccrawl.text.decode import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from lab.demo import Web

MODEL = Path(__file__).parents[1] / "topiccrawl" / "extract" / "genres.json"
GENRES = {
    "collection": Genre.HUB,
    "listing": Genre.HUB,
    "other": Genre.HUB,
    "documentation": Genre.REFERENCE,
    "government": Genre.SERVICE,
}
"""Genres of labels with another name."""

COLLECTIONS = ("zhnews", "news_en", "okc", "linuxcn")
"""Collections of ``../shared/data``; a page without label is an article if it has categories."""

KEPT = 0.988
"""Share of the folders' articles that the limit keeps, judged on hosts left out."""

STRENGTH = 0.05
"""``C`` of the regression: smaller is smoother."""

WEIGHTS = {
    ("zhnews", Genre.ARTICLE): 0.05,
    ("zhnews", Genre.HUB): 0.5,
    ("okc", Genre.ARTICLE): 0.05,
    ("okc", Genre.HUB): 0.1,
    ("linuxcn", Genre.ARTICLE): 0.02,
    ("linuxcn", Genre.HUB): 0.1,
    ("made", Genre.ARTICLE): 0.05,
    ("made", Genre.HUB): 0.1,
    ("about", Genre.SERVICE): 0.2,
}
"""Weight of a page by its collection and genre, else 1: thousands of pages of one site say little
about others."""

FOLDS, OK = 6, 200
ABOUT_TITLE = 14
"""Characters of the headline of a page about its site."""

MADE = range(301, 304)
"""Seeds of made webs; no test uses them."""


class Page(NamedTuple):
    """The signs of a page, with its genre and source."""

    collection: str
    host: str
    genre: Genre
    signs: dict[str, float]


class Model(NamedTuple):
    """A regression on scaled signs."""

    scaler: StandardScaler
    regression: LogisticRegression

    def article(self, signs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return each page's probability to be an article."""
        place = list(self.regression.classes_).index(Genre.ARTICLE.value)
        return self.regression.predict_proba(self.scaler.transform(signs))[:, place]


def pages_of(folders: Sequence[Path]) -> Iterator[Page]:
    """Yield the labelled pages of folders and of collections, and made ones."""
    turn = 0
    for folder in folders:
        for one in labelled(folder):
            html = decode(one.data, "text/html; charset=utf-8").text
            page = _page("folder", one.url, html, one.label)
            yield page
            if page.genre is Genre.ARTICLE:
                turn += 1
                yield _about(page, turn)
    for name in COLLECTIONS:
        for row in rows(DATA / f"{name}.web.jsonl.gz"):
            label = row.get("kind") or ("article" if row.get("categories", [1]) else "other")
            html = row.get("body") or decode(base64.b64decode(row["body64"]), row.get("type")).text
            yield _page(name, row["url"], html, label)
    for seed in MADE:
        yield from _made(generate(seed, faults=False))
        for number, one in enumerate(newspages.pages(range(seed, seed + 1))):
            yield _page("made", f"http://made{number}.test/x", one.html, "article")


def _made(web: Web) -> Iterator[Page]:
    for entry in web.plan.entries:
        if entry.kind in (Kind.ARTICLE, Kind.HUB):
            answer = web.answer(entry.url)
            if answer.status == OK and answer.body:
                html = decode(answer.body, "text/html").text
                yield _page("made", entry.url, html, entry.kind.value)


def _about(article: Page, turn: int) -> Page:
    """Return the signs of a page about the site of an article: in its template, without a byline.

    URL, headline or both name it, in turn; every other one has neither day nor type of an article.
    """
    found = {name: 0.0 if name.startswith("url_") else one for name, one in article.signs.items()}
    found |= {"url_about": float(turn % 3 != 0), "title_about": float(turn % 3 != 1)}
    found |= {"url_depth": 1.0, "url_short": float(turn % 2), "title": log1p(ABOUT_TITLE)}
    found |= {"signed": 0.0, "type_article": 0.0}
    if turn % 2:
        found |= {"dated": 0.0, "stated_dates": 0.0, "article": 0.0}
    return Page("about", article.host, Genre.SERVICE, found)


def _page(collection: str, url: str, html: str, label: str) -> Page:
    genre = GENRES.get(label) or Genre(label)
    return Page(collection, urlsplit(url).hostname or "", genre, features_of(html, url))


def fit(signs: NDArray[np.float64], genres: Sequence[str], weights: Sequence[float]) -> Model:
    """Return a model of the pages."""
    scaler = StandardScaler().fit(signs, sample_weight=weights)
    regression = LogisticRegression(C=STRENGTH, max_iter=2_000)
    return Model(scaler, regression.fit(scaler.transform(signs), genres, sample_weight=weights))


def left_out(
    signs: NDArray[np.float64], genres: NDArray[Any], hosts: Sequence[str], weights: Sequence[float]
) -> NDArray[np.float64]:
    """Return each page's probability by a model that saw no page of its host."""
    weighed = np.array(weights)
    found = np.zeros(len(genres))
    for learnt, judged in GroupKFold(FOLDS).split(signs, groups=hosts):
        model = fit(signs[learnt], genres[learnt], weighed[learnt])
        found[judged] = model.article(signs[judged])
    return found


def coefficients(model: Model, names: Sequence[str], limit: float) -> dict[str, Any]:
    """Return a model as plain values, for signs as they are: the scale is in the coefficients."""
    weights = model.regression.coef_ / model.scaler.scale_
    intercepts = model.regression.intercept_ - weights @ model.scaler.mean_
    by_name = {
        name: [round(float(one), 4) for one in weights[:, place]]
        for place, name in enumerate(names)
    }
    return {
        "genres": list(model.regression.classes_),
        "intercepts": [round(float(one), 4) for one in intercepts],
        "weights": by_name,
        "limit": round(limit, 4),
    }


def _print(pages: Sequence[Page], passed: NDArray[np.bool_]) -> None:
    counts: Counter[tuple[str, str]] = Counter((one.collection, one.genre) for one in pages)
    kept = Counter(
        (one.collection, one.genre) for one, well in zip(pages, passed, strict=True) if well
    )
    for (collection, genre), number in sorted(counts.items()):
        share = kept[collection, genre] / number
        sys.stdout.write(f"{collection:12}{genre:10}{number:6}  articles by model {share:.3f}\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, measure and print."""
    parser = argparse.ArgumentParser(prog="benchmarks.genres")
    parser.add_argument("folders", type=Path, nargs="+", help="pages and truth with labels")
    parser.add_argument("--write", action="store_true", help="write the package's model")
    options = parser.parse_args(arguments)
    pages = list(pages_of(options.folders))
    names = list(pages[0].signs)
    signs = np.array([[one.signs[name] for name in names] for one in pages])
    genres = np.array([one.genre.value for one in pages])
    weights = [WEIGHTS.get((one.collection, one.genre), 1.0) for one in pages]
    likely = left_out(signs, genres, [one.host for one in pages], weights)
    sought = [one.collection == "folder" and one.genre is Genre.ARTICLE for one in pages]
    limit = float(np.quantile(likely[sought], 1 - KEPT))
    sys.stdout.write(f"limit {limit:.3f}\n")
    _print(pages, likely >= limit)
    if options.write:
        stored = coefficients(fit(signs, genres, weights), names, limit)
        MODEL.write_text(json.dumps(stored, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
