"""Articles, verdicts on duplicates, and records: results from texts, without a crawl."""

from __future__ import annotations

import base64
import tomllib
from typing import TYPE_CHECKING, Any

from benchmarks.baseline.orders import DATA, ROOT, digest
from benchmarks.dedup import read_articles
from benchmarks.dedup_methods import Indexed
from benchmarks.extract import agreement, rows
from benchmarks.template import TEMPLATE, read, truth, values_of
from lab.demo.companies.web import CompanyWeb
from tests.quality import contacts, newspages
from topiccrawl.addons.records.templates.template import resolve
from topiccrawl.dedup.factory import load_detector
from topiccrawl.extract.extract import extract
from topiccrawl.model import Article
from topiccrawl.text.decode import decode
from topiccrawl.text.digest import digest_of

if TYPE_CHECKING:
    from topiccrawl.model import Extracted

NONE = "-"
"""Mark of a page that is not recognised as an article."""
SEEDS, COMPANIES = (1, 2, 3), 60


def made_articles() -> dict[str, Any]:
    """Return a hash for each generated page, by layout and seed."""
    pages = newspages.pages(range(2))
    numbers = [f"{one.layout} {number % 2}" for number, one in enumerate(pages)]
    found = (extract(one.html, "http://news.site.test/x") for one in pages)
    return {name: _hash(one) for name, one in zip(numbers, found, strict=True)}


def recorded_articles(name: str) -> dict[str, Any]:
    """Return a hash for each page of a collection, by number, and the quality of the bodies."""
    true = {one["url"]: one["body"] for one in rows(DATA / f"{name}.truth.jsonl.gz")}
    hashes: dict[str, str] = {}
    shares: list[tuple[float, float]] = []
    for number, row in enumerate(rows(DATA / f"{name}.web.jsonl.gz"), 1):
        html = decode(base64.b64decode(row["body64"]), row.get("type")).text
        found = extract(html, row["url"])
        hashes[f"{number:04}"] = _hash(found)
        if row["url"] in true:
            shares.append(agreement(true[row["url"]], found.body if found else ""))
    precision, recall = (sum(share[side] for share in shares) / len(shares) for side in (0, 1))
    number = sum(one != NONE for one in hashes.values())
    figures = f"{number} of {len(hashes)}, body precision {precision:.4f}, recall {recall:.4f}"
    return {"articles": figures, "pages": hashes}


def made_duplicates() -> dict[str, Any]:
    """Return the verdicts on the pairs written for the project, by number and kind."""
    pairs = tomllib.loads((ROOT / "tests/quality/pairs.toml").read_text("utf-8"))["pair"]
    return {
        f"{number:03} {pair['kind']}": _verdicts(
            *(_article(side, pair[f"title_{side}"], pair[side].strip()) for side in "ab")
        )
        for number, pair in enumerate(pairs, 1)
    }


def recorded_duplicates() -> dict[str, Any]:
    """Return the verdicts on the labelled pairs of chinanews, by number and label."""
    articles = read_articles(DATA / "chinanews2020.jsonl.gz")
    pairs = rows(DATA / "chinanews2020.pairs.jsonl.gz")
    return {
        f"{number:03} {pair['label']}": _verdicts(articles[pair["a"]], articles[pair["b"]])
        for number, pair in enumerate(pairs, 1)
    }


def made_records() -> dict[str, Any]:
    """Return a hash for the record of each company of the template benchmark, by seed and number.

    Values, in their spelling, and confidences to two digits are in it.
    """
    template = resolve(TEMPLATE)
    records: dict[str, Any] = {}
    right = found = true = 0
    for seed in SEEDS:
        web = CompanyWeb(seed, COMPANIES, group="judging")
        hashes = []
        for expected in web.expected():
            record = read(web, expected, template)
            some = record.found if record else ()
            values = (f"{one.field}={one.value}~{one.confidence:.2f}" for one in some)
            hashes.append(digest(*sorted(values)))
            wanted, got = truth(expected), values_of(some).keys()
            right, found, true = right + len(wanted & got), found + len(got), true + len(wanted)
        records[f"seed {seed}"] = {f"{n:03}": one for n, one in enumerate(hashes, 1)}
    return {**records, "values": f"{right} right of {found} found and {true} there"}


def written_records() -> dict[str, Any]:
    """Return a hash for the values of each contact page written by hand, by set and name."""
    return {
        which: {page.name: digest(*map(str, sorted(page.right | page.wrong)))
                for page in contacts.pages(which)}
        for which in contacts.SETS
    }  # fmt: skip


def _hash(found: Extracted | None) -> str:
    if found is None:
        return NONE
    return digest(found.title, found.body, found.published, found.author, found.source)


def _verdicts(one: Article, other: Article) -> str:
    """Return whether two articles are one story, compared in both orders."""
    joined = _joined(one, other), _joined(other, one)
    return {(True, True): "same", (False, False): "different"}.get(joined, "by order")


def _joined(first: Article, second: Article) -> bool:
    detector = Indexed(load_detector())
    detector.see(first, detector.prepare(first))
    return detector.see(second, detector.prepare(second)) is not None


def _article(side: str, title: str, body: str) -> Article:
    digest = digest_of(body)
    return Article(f"http://{side}.test/", title, body, site=f"{side}.test", digest=digest)
