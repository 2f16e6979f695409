"""Quality of the records extracted from the pages of the demo's companies.

    python -m benchmarks.template [--group judging|tuning] [--seeds 1 2 3] [--companies N] [--json]
    python -m benchmarks.template --crawl ...  # whole crawls: benchmarks.template_crawl

Every contact page of the demo is parsed from its bytes as in a crawl; the values of the page's
first record are compared with the ground truth. ``field_precision``: values
found that are right; ``field_recall``: values on the pages that are found; over all fields. A
telephone number agrees by its digits and extension, a name or address by its letters and digits, an
image is found if its field says that there is one. ``confidence_error``: mean distance between
confidence and share of right values, over ten ranges of confidence (expected calibration error).
The layouts of the group ``judging`` are not those that the extraction was tuned on.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from lab.demo.companies.web import DEFAULT_COMPANIES, CompanyWeb, Expected
from topiccrawl.addons.records.templates.extract import combine, records_of
from topiccrawl.addons.records.templates.template import resolve
from topiccrawl.text.decode import decode
from topiccrawl.text.normal import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.addons.records.record import FoundValue, Record
    from topiccrawl.addons.records.templates.template import Template

TEMPLATE = "软件公司-四川"
FIELDS = {
    "name": "名称",
    "address": "地址",
    "phone": "联系方式",
    "mobile": "联系方式",
    "hotline": "联系方式",
    "fax": "传真",
    "mail": "邮箱",
    "url": "网址",
    "postcode": "邮编",
    "qq": "QQ",
}
"""The template's field of each kind of fact."""
IMAGE = "an image"
_NUMBERS = frozenset({"联系方式", "传真"})
_TEXTS = frozenset({"名称", "地址"})
_RANGES = 10


class Figures(NamedTuple):
    """Figures of the benchmark.

    Attributes:
        field_precision: Share of the values found that are right.
        field_recall: Share of the values on the pages that are found.
        record_exact: Share of the records without any mistake.
        confidence_error: Expected calibration error, in [0, 1].
        pages: Pages read.
        ms_page: Milliseconds a page.
        fields: Right, wrong and missed values by field.
    """

    field_precision: float
    field_recall: float
    record_exact: float
    confidence_error: float
    pages: int
    ms_page: float
    fields: dict[str, tuple[int, ...]]


def truth(expected: Expected) -> set[tuple[str, str]]:
    """Return the values that a record should have, in the form in which they are compared."""
    values = {
        (FIELDS[kind], agreed(FIELDS[kind], value))
        for kind, spellings in expected.values.items()
        for value in spellings
    }
    return values | {(FIELDS[kind], IMAGE) for kind in expected.images}


def agreed(field: str, value: str) -> str:
    """Return a value in the form in which it is compared.

    >>> agreed("传真", "+86 28 8512 3456 ext. 801"), agreed("网址", "http://WWW.a.test/")
    ('862885123456x801', 'www.a.test')
    """
    if field in _NUMBERS:
        number, _, extension = re.sub(r"x(?=\d)", " ext. ", value).partition(" ext. ")
        return re.sub(r"\D", "", number) + (f"x{extension}" if extension else "")
    if field in _TEXTS:
        return re.sub(r"[\W_]", "", fold(value))
    return re.sub(r"^https?://|/$", "", value.lower()) if field == "网址" else value


def values_of(found: Iterable[FoundValue]) -> dict[tuple[str, str], float]:
    """Return the values of a record, in the form in which they are compared, with confidences."""
    return {
        (one.field, IMAGE if one.image else agreed(one.field, one.value)): one.confidence
        for one in found
    }


def read(web: CompanyWeb, expected: Expected, template: Template) -> Record | None:
    """Return the record of the pages of a company; None if there is none."""
    pages = []
    for url in expected.pages:
        answer = web.answer(url)
        html = decode(answer.body, dict(answer.headers)["Content-Type"]).text
        pages.append(records_of(html, url, template))
    records = combine(pages, template)
    return records[0] if records else None


def measure(seeds: Sequence[int], companies: int, group: str | None) -> Figures:
    """Return the figures over the companies of some webs."""
    template = resolve(TEMPLATE)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    beliefs: list[tuple[float, bool]] = []
    exact = pages = 0
    began = time.perf_counter()
    for seed in seeds:
        web = CompanyWeb(seed, companies, group=group)
        for expected in web.expected():
            record = read(web, expected, template)
            right, got = truth(expected), values_of(record.found if record else ())
            pages += len(expected.pages)
            exact += right == got.keys()
            beliefs += [(confidence, value in right) for value, confidence in got.items()]
            for kind, values in (("right", right & got.keys()), ("wrong", got.keys() - right),
                                 ("missed", right - got.keys())):  # fmt: skip
                for field, _ in values:
                    counts[field][kind] += 1
    seconds = time.perf_counter() - began
    kinds = ("right", "wrong", "missed")
    fields = {field: tuple(counts[field][kind] for kind in kinds) for field in template.crawl}
    hits, wrong, missed = (sum(one[at] for one in fields.values()) for at in range(3))
    return Figures(
        field_precision=round(hits / max(1, hits + wrong), 4),
        field_recall=round(hits / max(1, hits + missed), 4),
        record_exact=round(exact / max(1, pages), 4),
        confidence_error=round(calibration(beliefs), 4),
        pages=pages,
        ms_page=round(1000 * seconds / max(1, pages), 2),
        fields=fields,
    )


def calibration(beliefs: Sequence[tuple[float, bool]]) -> float:
    """Expected calibration error: distance of confidence and truth, by ranges, weighted.

    >>> calibration([(0.9, True)] * 9 + [(0.9, False)]) < 1e-9
    True
    """
    ranges: dict[int, list[tuple[float, bool]]] = defaultdict(list)
    for belief in beliefs:
        ranges[min(int(belief[0] * _RANGES), _RANGES - 1)].append(belief)
    gaps = (abs(sum(b[0] for b in some) - sum(b[1] for b in some)) for some in ranges.values())
    return sum(gaps) / max(1, len(beliefs))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures."""
    shown = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shown)
    parser.add_argument("--crawl", action="store_true", help="whole crawls")
    parser.add_argument("--many", type=int, default=0, metavar="SEEDS", help="see template_crawl")
    parser.add_argument("--group", choices=("judging", "tuning", "both"), default="judging")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--companies", type=int, default=DEFAULT_COMPANIES)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if options.crawl:
        from benchmarks import template_crawl  # noqa: PLC0415  (it takes what is agreed from here)

        return template_crawl.main(options)
    group = None if options.group == "both" else options.group
    figures = measure(options.seeds, options.companies, group)
    if options.json:
        print(json.dumps(figures._asdict(), ensure_ascii=False))
        return 0
    for name, value in figures._asdict().items():
        if name != "fields":
            print(f"{name:<18}{value}")
    for field, (hits, wrong, missed) in figures.fields.items():
        print(f"  {field}: {hits} right, {wrong} wrong, {missed} missed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
