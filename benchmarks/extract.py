"""Quality of article extraction, compared with the libraries alone.

    python -m benchmarks.extract [--truth FILE ... --pages FILE ... | --folder DIR ...]
                                 [--sample N] [--bare] [--libraries NAME ...] [--json FILE]

Folders hold pages and truth as published (``benchmarks.extract_folders``): fundus' test pages,
WCXB. Files are JSON lines, gzipped. Pages: ``url``, ``body64`` (bytes as served), ``type``
(header), ``kind`` (article/other) if labelled. Truth: ``url``, ``body``, and ``title``,
``date`` if known. Without arguments: zhnews and news_en of ``../shared/data``.

Body: multisets of 4-grams of tokens (a Chinese character, else a word), precision and recall per
page, averaged; F1 of the averages, as in the article extraction benchmark of Scrapinghub, so that
its figures compare. An article not recognised counts as an empty body. Title: letters and digits
agree. Date: the day agrees. ``--bare`` removes JSON-LD, OpenGraph and other meta elements from
every page first, for all libraries.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.extract_folders import labelled
from benchmarks.extract_libraries import libraries
from benchmarks.output import DATA, command_line, show
from topiccrawl.extract.body import LIBRARY_ERRORS
from topiccrawl.extract.extract import extract
from topiccrawl.text.decode import decode
from topiccrawl.text.digest import fold

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Sequence

    from topiccrawl.model import Extracted

GRAM = 4
_META = re.compile(
    r"<meta\b[^>]*>|<script\b[^>]*application/ld\+json[^>]*>.*?</script\s*>",
    re.IGNORECASE | re.DOTALL,
)
_MICRODATA = re.compile(
    r"""\s(?:itemprop|itemtype|itemscope|datetime|pubdate|property)(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+))?(?=[\s/>])""",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+")


class Sample(NamedTuple):
    """A decoded page and its truth; ``truth`` is empty without labels."""

    url: str
    html: str
    kind: str
    truth: dict[str, Any]


class Quality(NamedTuple):
    """Averages over pages."""

    precision: float
    recall: float
    ms_page: float

    @property
    def f1(self) -> float:
        """Harmonic mean of the two averages."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def grams(text: str) -> Counter[tuple[str, ...]]:
    """The 4-grams of a text without soft hyphens; a shorter text is one gram.

    >>> len(grams("今天晴朗，明天有雨"))
    5
    """
    tokens = _TOKEN.findall(text.replace("\xad", ""))
    if not tokens:
        return Counter()
    places = range(max(1, len(tokens) - GRAM + 1))
    return Counter(tuple(tokens[place : place + GRAM]) for place in places)


def agreement(true: str, found: str) -> tuple[float, float]:
    """Precision and recall of a found text.

    >>> agreement("今天晴朗，明天有雨", "今天晴朗")
    (1.0, 0.2)
    >>> agreement("今天晴朗", "")
    (0.0, 0.0)
    """
    expected, given = grams(true), grams(found)
    if not expected and not given:
        return 1.0, 1.0
    common = (expected & given).total()
    return common / max(1, given.total()), common / max(1, expected.total())


def load(
    truths: Sequence[Path], pages: Sequence[Path], every: int, *, bare: bool = False
) -> list[Sample]:
    """A sample of the pages, with their truth; ``bare`` without their metadata."""
    known = {row["url"]: row for path in truths for row in rows(path)}
    found = [row for path in pages for row in rows(path)]
    return [
        Sample(
            row["url"], _html(base64.b64decode(row["body64"]), row.get("type"), bare=bare),
            row.get("kind", ""), known.get(row["url"], {}),
        )
        for row in found[::every]
    ]  # fmt: skip


def judge(samples: Sequence[Sample], body: Callable[[Sample], str]) -> Quality:
    """Quality of one way to find bodies, over the pages whose body is known."""
    known = [sample for sample in samples if sample.truth]
    begin = time.perf_counter()
    found = [body(sample) for sample in known]
    spent = time.perf_counter() - begin
    pairs = [agreement(s.truth["body"], text) for s, text in zip(known, found, strict=True)]
    number = len(pairs) or 1
    precision, recall = (sum(pair[side] for pair in pairs) / number for side in (0, 1))
    return Quality(precision, recall, 1000 * spent / number)


def details(samples: Sequence[Sample]) -> dict[str, float]:
    """Title, date and recognition, as shares."""
    found = [(sample, extract(sample.html, sample.url)) for sample in samples]
    articles = [(s, e) for s, e in found if s.kind == "article"]
    others = [(s, e) for s, e in found if s.kind == "other"]
    passed = sum(e is not None for _, e in articles)
    wrong = sum(e is not None for _, e in others)
    figures = {
        "title_accuracy": _share([_same_title(s, e) for s, e in found if s.truth.get("title")]),
        "date_accuracy": _share([_same_day(s, e) for s, e in found if s.truth.get("date")]),
        "article_recall": passed / len(articles) if articles else None,
        "article_precision": passed / (passed + wrong) if others and passed else None,
        "others_stored": wrong / len(others) if others else None,
        "truth_recall": _share([e is not None for s, e in found if s.truth]),
    }
    return {name: value for name, value in figures.items() if value is not None}


def measure(samples: Sequence[Sample], only: Sequence[str] = ()) -> dict[str, float]:
    """Return all figures of a collection by name, with all libraries or ``only`` some."""
    found, absent = libraries()
    ways: dict[str, Callable[[Sample], str]] = {"": ours}
    ways |= {f".{name}": guarded(body) for name, body in found.items() if name in (only or found)}
    for name in absent:
        sys.stdout.write(f"{name}: not installed, left out\n")
    figures = {}
    for suffix, way in ways.items():
        quality = judge(samples, way)
        figures[f"body_f1{suffix}"] = quality.f1
        figures[f"body_precision{suffix}"] = quality.precision
        figures[f"body_recall{suffix}"] = quality.recall
        figures[f"ms_page{suffix}"] = quality.ms_page
    return {**figures, **details(samples)}


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a collection."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _html(data: bytes, kind: str | None, *, bare: bool) -> str:
    html = decode(data, kind).text
    return without_metadata(html) if bare else html


def without_metadata(html: str) -> str:
    """A page without JSON-LD, meta elements, and attributes of microdata.

    >>> without_metadata('<meta name="a" content="b"><p itemprop="c">d</p>')
    '<p>d</p>'
    """
    return _MICRODATA.sub("", _META.sub("", html))


def ours(sample: Sample) -> str:
    """Return the body by topiccrawl, "" for a page that it does not recognize as an article."""
    found = extract(sample.html, sample.url)
    return "" if found is None else found.body


def guarded(extractor: Callable[[str], str]) -> Callable[[Sample], str]:
    """Return a library's extractor; a page on which it fails counts as an empty body."""

    def body(sample: Sample) -> str:
        try:
            return extractor(sample.html)
        except (*LIBRARY_ERRORS, OSError):
            return ""

    return body


def _same_title(sample: Sample, found: Extracted | None) -> bool:
    return found is not None and fold(found.title) == fold(sample.truth["title"])


def _same_day(sample: Sample, found: Extracted | None) -> bool:
    return found is not None and found.published[:10] == sample.truth["date"][:10]


def _share(values: list[bool]) -> float | None:
    return sum(values) / len(values) if values else None


def folder(path: Path, every: int, *, bare: bool = False) -> list[Sample]:
    """A sample of the pages below a folder; the bodies of articles alone are compared."""
    kinds = {"article": "article"}
    return [
        Sample(
            one.url, _html(one.data, "text/html; charset=utf-8", bare=bare),
            kinds.get(one.label, "other"), one.truth if one.label in kinds else {},
        )
        for one in list(labelled(path))[::every]
    ]  # fmt: skip


def _collections(options: argparse.Namespace) -> dict[str, list[Sample]]:
    if options.folder:
        return {
            path.resolve().name: folder(path, options.sample, bare=options.bare)
            for path in options.folder
        }
    if options.pages:
        return {"": load(options.truth, options.pages, options.sample, bare=options.bare)}
    names = ("zhnews", "news_en")
    missing = [name for name in names if not (DATA / f"{name}.web.jsonl.gz").exists()]
    if missing:
        sys.exit(f"{DATA} lacks {', '.join(missing)}: name files with --truth and --pages")
    truths, pages = ([DATA / f"{n}.{kind}.jsonl.gz" for n in names] for kind in ("truth", "web"))
    return {
        name: load([truth], [page], options.sample, bare=options.bare)
        for name, truth, page in zip(names, truths, pages, strict=True)
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = command_line(__doc__, sample=1)
    parser.add_argument("--truth", type=Path, nargs="+", default=[])
    parser.add_argument("--pages", type=Path, nargs="+", default=[])
    parser.add_argument("--folder", type=Path, nargs="+", default=[], help="pages and truth")
    parser.add_argument("--libraries", nargs="+", default=[], help="compare with these only")
    parser.add_argument("--bare", action="store_true", help="without the pages' metadata")
    options = parser.parse_args(arguments)
    results = {
        name: measure(samples, options.libraries) for name, samples in _collections(options).items()
    }
    rows_ = (
        f"{name:10}{figure:34}{value:10.4f}"
        for name, figures in results.items()
        for figure, value in figures.items()
    )
    # one collection: its names plain; several: each under its collection
    show(results.get("", results), options.json, "\n".join(rows_))


if __name__ == "__main__":
    main()
