"""Quality and speed of reprint detection: ``python -m benchmarks.dedup [--json [FILE]]``.

(a) Pairs that a reader labelled ``same``, ``different`` or ``part`` (``--pairs`` with
``--articles``); ``same`` with and without those of a Jaccard below 0.5, where the label is lenient.
(b) Reprints made by stated edits (``benchmarks.reprints``) from the articles of ``--articles``, or
of the demo web if there are none. (c) Speed and memory at ``--number`` articles: the last
``--texts`` of them have generated texts; the earlier ones are keys only, drawn uniformly like
hashes. ``articles_per_s`` looks up and enters; ``verified_per_s`` also reads the texts found from a
file, compares them and writes new ones; ``with_features_per_s`` also computes the keys of the text.
(d) ``--scan`` articles: reprints that a comparison with every stored article finds and the index
does not (``scan_missed``).

They are compared with SimHash, and with MinHash LSH if datasketch is installed.
"""

from __future__ import annotations

import json
import math
import random
import re
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from benchmarks.dedup_methods import Detector, Indexed, detectors
from benchmarks.extract import rows
from benchmarks.output import DATA, columns, command_line, show
from benchmarks.reprints import distinct, follow_ups, stream
from benchmarks.score import Words
from lab.demo import generate
from lab.demo.plan import Kind
from topiccrawl.dedup.factory import NAMES, find_duplicates, load_detector
from topiccrawl.model import Article
from topiccrawl.text.digest import digest_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from benchmarks.reprints import Case
    from topiccrawl.dedup import DuplicateDetector

LENIENT = 0.5
"""Jaccard below which the label ``same`` is lenient."""

NUMBER = 1_000_000
"""Number of articles for timing the default method."""

TEXTS = 10_000
"""Number of these that have a text, and number of articles for timing other methods."""

BATCH = 1_000

REPRINTED = 0.1
"""Share of reprints among the generated articles."""

_WORDS = 260
_ARTICLES = re.compile(r"^(\d+)-(\d+)-(\d+)")

Figures = dict[str, float]


def read_articles(path: Path) -> dict[str, Article]:
    """Return articles by id, from lines with ``url``, ``title``, ``datetime`` and ``body``."""
    found = {}
    for row in rows(path):
        body = "\n".join(filter(None, (part.strip() for part in row["body"].split("\n"))))
        found[row["id"]] = Article(
            row["url"], row["title"], body, site=urlsplit(row["url"]).netloc,
            published=_iso(row["datetime"]), digest=digest_of(body),
        )  # fmt: skip
    return found


def demo_articles(seed: int = 1, pages: int = 1500) -> list[Article]:
    """Return the articles of a demo web that are not reprints."""
    truths = (
        truth for truth in generate(seed, pages=pages).truth.values()
        if truth.kind == Kind.ARTICLE and not truth.reprint_of
    )  # fmt: skip
    return [
        Article(one.url, one.title, one.body, published=one.published, digest=digest_of(one.body))
        for one in truths
    ]


def judge_pairs(path: Path, articles: dict[str, Article], make: Callable[[], Detector]) -> Figures:
    """Return the shares of labelled pairs that a detector joins, and the number of false ones."""
    joined: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for pair in rows(path):
        detector = make()
        two = [articles[pair[one]] for one in ("a", "b")]
        urls = [detector.see(article, detector.prepare(article)) for article in two]
        for name in _classes(pair):
            seen[name] += 1
            joined[name] += urls[1] is not None
    return {
        "hard_negatives_merged": joined["different"],
        "pairs_same_firm": round(joined["firm"] / max(1, seen["firm"]), 3),
        "pairs_same_all": round(joined["same"] / max(1, seen["same"]), 3),
        "pairs_same_strict": round(joined["strict"] / max(1, seen["strict"]), 3),
        "pairs_part": round(joined["part"] / max(1, seen["part"]), 3),
    }


def _classes(pair: dict[str, Any]) -> Iterator[str]:
    yield pair["label"]
    if pair["label"] == "same" and pair.get("firm", True):
        yield "firm"
    if pair["label"] == "same" and pair.get("jaccard", 1.0) >= LENIENT:
        yield "strict"


def judge_stream(cases: Sequence[Case], detector: Detector) -> Figures:
    """Return precision, recall, recall by edit, and hard negatives that count as reprints."""
    story: dict[str, tuple[str, ...]] = {}
    count: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for case in cases:
        url = detector.see(case.article, detector.prepare(case.article))
        count[f"edit/{case.edit}"] += bool(case.stories)
        count["reprints"] += bool(case.stories)
        if url is None:
            story[case.article.url] = case.stories or (case.article.url,)
            continue
        count["attributed"] += 1
        count["negatives"] += case.is_negative
        if set(story[url]) & set(case.stories):
            right["all"] += 1
            right[f"edit/{case.edit}"] += 1
    recalls = {
        f"recall_{name[5:]}": round(right[name] / count[name], 4)
        for name in sorted(count) if name.startswith("edit/") and count[name]
    }  # fmt: skip
    return {
        "precision": round(right["all"] / max(1, count["attributed"]), 4),
        "recall": round(right["all"] / max(1, count["reprints"]), 4),
        "made_negatives_merged": count["negatives"],
        **recalls,
    }


def compare_with_scan(
    articles: Sequence[Article], method: Callable[[], DuplicateDetector]
) -> Figures:
    """Return how many reprints a scan of all articles finds, and how many the index misses."""
    urls = [
        {copy.url for copy, _ in find_duplicates(articles, method(), scan=scan)}
        for scan in (True, False)
    ]
    return {"scan_found": len(urls[0]), "scan_missed": len(urls[0] - urls[1])}


def judge_follow_ups(
    pairs: Iterable[tuple[Article, Article]], method: DuplicateDetector
) -> Figures:
    """Return the shares of follow-ups that are merged with the older story, and linked to it."""
    counts: Counter[str] = Counter()
    for old, later in pairs:
        match = method.judge(later, [old])
        counts["all"] += 1
        counts["merged"] += match is not None and not match.follows
        counts["linked"] += match is not None and match.follows
    return {
        f"follow_ups_{name}": round(counts[name] / max(1, counts["all"]), 4)
        for name in ("merged", "linked")
    }


class MadeUp:
    """Articles of words drawn by their frequency in Chinese; equal numbers give equal texts."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._words = Words(random.Random(seed))  # noqa: S311

    def article(self, number: int) -> Article:
        """Return a new text, or, once in ten, most of the text of one of the thousand before it."""
        rng = random.Random(self._seed + number)  # noqa: S311
        if number > 1 and rng.random() < REPRINTED:
            body = self._body(max(1, number - rng.randint(1, 1000)))
            body = body[len(body) // rng.randint(5, 9) :]
        else:
            body = self._body(number)
        return Article(
            f"http://site{number % 500}.test/{number}.html",
            body[:20],
            body,
            site=f"site{number % 500}.test",
            digest=digest_of(body),
        )

    def _body(self, number: int) -> str:
        self._words.dice = rng = random.Random(-number)  # noqa: S311
        words = self._words.vocabulary(_WORDS)
        marks = [
            f"{rng.randint(1, 999)}，" if place % 20 == 19 else "" for place in range(_WORDS)  # noqa: PLR2004
        ]  # fmt: skip
        return "".join(part for pair in zip(words, marks, strict=True) for part in pair)


class Spool:
    """Texts in a file, as in the store, so that only the index is measured in RAM.

    Args:
        file: File of the texts.
        before: Articles before the first text; for these, ``get`` returns one of the texts.
    """

    def __init__(self, file: IO[bytes], before: int = 0) -> None:
        self._file = file
        self._before = before
        self._ends = [0]

    def add(self, article: Article) -> int:
        """Store an article; return its number."""
        data = json.dumps([article.url, article.body, article.site, article.digest]).encode()
        self._file.seek(self._ends[-1])
        self._file.write(data)
        self._ends.append(self._ends[-1] + len(data))
        return self._before + len(self._ends) - 1

    def get(self, number: int) -> Article:
        """Return the article with a number."""
        kept = len(self._ends) - 1
        if not kept:
            return Article("", "", "")
        number = number - self._before if number > self._before else number % max(1, kept) + 1
        self._file.seek(self._ends[number - 1])
        data = self._file.read(self._ends[number] - self._ends[number - 1])
        url, body, site, digest = json.loads(data)
        return Article(url, "", body, site=site, digest=digest)


def time_detector(detector: Detector, number: int) -> Figures:
    """Return articles per second and bytes per article at ``number`` generated articles."""
    made = MadeUp(7)
    resident = _resident()
    preparing = seeing = 0.0
    found = 0
    for at in range(1, number + 1):
        article = made.article(at)
        begin = time.process_time()
        prepared = detector.prepare(article)
        between = time.process_time()
        found += detector.see(article, prepared) is not None
        preparing += between - begin
        seeing += time.process_time() - between
    size = detector.bytes()
    size = _resident() - resident if math.isnan(size) else size
    return {
        "articles_per_s": round(number / seeing),
        "with_features_per_s": round(number / (seeing + preparing)),
        "bytes_article": round(size / max(1, number - found)),
        "found": round(found / number, 4),
    }


def time_indexed(name: str, number: int, texts: int) -> Figures:
    """Return the same for a method of the project, with an index of ``number`` articles."""
    with tempfile.TemporaryFile() as file:
        detector = Indexed(load_detector(name), Spool(file, number - texts))
        drawn = np.random.default_rng(7)
        width = len(detector.prepare(MadeUp(7).article(1)))
        for base in range(0, number - texts, BATCH):
            size = min(BATCH, number - texts - base)
            batch = drawn.integers(0, 2**32, (size, width)).tolist()
            for at, keys in enumerate(batch, base + 1):
                detector.find(keys)
                detector.add(at, keys)
        alone, size = detector.seconds, detector.index.bytes
        figures = time_detector(detector, texts)
    figures["verified_per_s"] = figures["articles_per_s"]
    figures["articles_per_s"] = round(number / detector.seconds)
    figures["articles_per_s_with_texts"] = round(texts / (detector.seconds - alone))
    figures["bytes_article"] = round(max(size, detector.index.bytes) / number)
    return figures


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def _iso(text: str) -> str:
    found = _ARTICLES.match(text)
    return f"{int(found[1]):04}-{int(found[2]):02}-{int(found[3]):02}" if found else ""


def measure(options: argparse.Namespace) -> dict[str, Figures]:
    """Return the figures of each method."""
    known = read_articles(options.articles) if options.articles else {}
    cases = stream(distinct(known.values() or demo_articles()), seed=1)
    later = list(follow_ups(distinct(known.values() or demo_articles()), seed=1))
    figures: dict[str, Figures] = {}
    for name, make in detectors().items():
        figures[name] = judge_stream(cases, make())
        if options.pairs and known:
            figures[name] |= judge_pairs(options.pairs, known, make)
        if name in NAMES:
            figures[name] |= judge_follow_ups(later, load_detector(name))
        if options.scan and name in NAMES:
            some = [case.article for case in cases[: options.scan]]
            figures[name] |= compare_with_scan(some, partial(load_detector, name))
        if not options.number:
            continue
        texts = min(options.texts, options.number)
        if name in NAMES:
            number = options.number if name == NAMES[0] else texts
            figures[name] |= time_indexed(name, number, texts)
        else:
            figures[name] |= time_detector(make(), texts)
        sys.stderr.write(f"{name}: {figures[name]}\n")
    return figures


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = command_line(__doc__, number=NUMBER, scan=1000, texts=TEXTS)
    articles, pairs = DATA / "chinanews2020.jsonl.gz", DATA / "chinanews2020.pairs.jsonl.gz"
    found = articles.exists() and pairs.exists()
    parser.add_argument("--articles", type=Path, default=articles if found else None)
    parser.add_argument("--pairs", type=Path, default=pairs if found else None)
    parser.add_argument("--demo", action="store_true", help="the demo web's articles only")
    options = parser.parse_args(arguments)
    if options.demo:
        options.articles = options.pairs = None
    elif not found and options.articles is None:
        sys.stderr.write(f"{articles}: not there; the demo web's own articles are used\n")
    figures = measure(options)
    default, *others = figures
    flat = dict(figures[default])
    flat |= {f"{key}.{name}": value for name in others for key, value in figures[name].items()}
    names = dict.fromkeys(name for found in figures.values() for name in found)
    table = {name: [found.get(name, math.nan) for found in figures.values()] for name in names}
    show(flat, options.json, columns(figures, table, ",.4g"))


if __name__ == "__main__":
    main()
