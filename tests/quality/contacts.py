"""Contact pages written by hand: values that a reader finds, and values that are extracted.

    python -m tests.quality.contacts [SET ...]

writes pages, values, precision and recall of each set, and below it the pages with mistakes.
"""

from __future__ import annotations

import re
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from topiccrawl.addons.records.templates.extract import combine, records_of
from topiccrawl.addons.records.templates.template import Template, resolve
from topiccrawl.text.decode import decode
from topiccrawl.text.normal import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FOLDER = Path(__file__).parent / "contacts"
SETS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh",
)  # fmt: skip
"""Folders of pages, in the order in which they were first extracted."""
SHIPPED = {"zh": "软件公司-四川", "en": "bicycle workshops in Cornwall"}
LIKE_US = {
    "uk": "GB", "in": "IN", "sg": "SG", "au": "AU", "ca": "CA", "ie": "IE", "nz": "NZ",
}  # fmt: skip
"""Templates that differ from the American one only by their region."""

Values = set[tuple[int, str, str]]
"""Number of the record, field, and value in the form that is compared."""


class Page(NamedTuple):
    """A page and the right, wrong and missed values of its records."""

    name: str
    right: Values
    wrong: Values
    missed: Values


def pages(which: str) -> Iterator[Page]:
    """Read every page of a set from its bytes, as a crawl does."""
    truths: dict[str, Any] = tomllib.loads((FOLDER / which / "pages.toml").read_text("utf-8"))
    for name, truth in truths.items():
        records = [dict(one) for one in (truth if isinstance(truth, list) else [truth])]
        encoding = records[0].pop("encoding", "utf-8")
        template = template_of(records[0].pop("template", "zh"))
        files = [FOLDER / which / f"{one}.html" for one in records[0].pop("pages", [name])]
        true = {
            (number, field, _comparable(template, field, value))
            for number, record in enumerate(records)
            for field, values in record.items()
            for value in values
        }
        extracted = _extracted(name.replace("_", "-"), files, encoding, template)
        yield Page(name, true & extracted, extracted - true, true - extracted)


def figures(read: Iterable[Page]) -> tuple[float, float]:
    """Precision and recall of values."""
    right, wrong, missed = (
        sum(map(len, some))
        for some in zip(*((one.right, one.wrong, one.missed) for one in read), strict=True)
    )
    return right / (right + wrong), right / (right + missed)


@cache
def template_of(key: str) -> Template:
    """Template that a page is read with."""
    if key in SHIPPED:
        return resolve(SHIPPED[key])
    own = tomllib.loads((FOLDER / "templates.toml").read_text("utf-8"))
    base = own["us"] | {"region": LIKE_US[key]} if key in LIKE_US else own[key]
    return Template.model_validate(base | {"name": key, "seeds": ["http://seed.example.org/"]})


def _extracted(name: str, files: Iterable[Path], encoding: str, template: Template) -> Values:
    found = []
    for file in files:
        body = file.read_text("utf-8").encode(encoding)
        url = f"http://{name}.example.org/{file.stem}.html"
        found.append(records_of(decode(body, None).text, url, template))
    return {
        (number, one.field, "image:" if one.image else _comparable(template, one.field, one.value))
        for number, record in enumerate(combine(found, template))
        for one in record.found
    }


def _comparable(template: Template, field: str, value: str) -> str:
    kind = template.crawl[field].kind
    if value == "image:":
        return value
    if kind == "telephone":
        number, _, extension = value.partition(" ext. ")
        digits = re.sub(r"\D", "", number)
        return digits.removeprefix("86") + (f"x{extension}" if extension else "")
    if kind in {"name", "address", "text"}:
        return re.sub(r"[\W_]", "", fold(value))
    if kind == "postcode":
        return re.sub(r"\W", "", value)
    return re.sub(r"^https?://|/$", "", value.lower()) if kind == "url" else value


def lines_of(which: str) -> Iterator[str]:
    """Figures of a set, and the wrong and missed values of its pages."""
    read = list(pages(which))
    precision, recall = figures(read)
    values = sum(len(one.right) + len(one.missed) for one in read)
    yield f"{which:8} {len(read):4} pages {values:5} values  {precision:.3f}  {recall:.3f}"
    for one in read:
        for what, some in (("wrong", one.wrong), ("missed", one.missed)):
            for record, field, value in sorted(some):
                yield f"    {one.name}, record {record}: {what} {field} {value}"


if __name__ == "__main__":
    for name in sys.argv[1:] or SETS:
        sys.stdout.writelines(f"{line}\n" for line in lines_of(name))
