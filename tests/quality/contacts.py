"""Contact pages written by hand: what a reader takes from each, and what the extraction takes."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from topiccrawl.templates.extract import combine, records_of
from topiccrawl.templates.template import resolve
from topiccrawl.text.decode import decode
from topiccrawl.text.normal import fold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from topiccrawl.templates.template import Template

FOLDER = Path(__file__).parent / "contacts"
TEMPLATES = {"zh": "软件公司-四川", "en": "bicycle workshops in Cornwall"}

Values = set[tuple[int, str, str]]
"""The number of the record, the field, the value as it is compared."""


class Page(NamedTuple):
    """A page and the values, of its records in their order, that are right, wrong and missed."""

    name: str
    right: Values
    wrong: Values
    missed: Values


def pages() -> Iterator[Page]:
    """Every page, read as a crawl would read it, from its bytes."""
    truths: dict[str, Any] = tomllib.loads((FOLDER / "pages.toml").read_text("utf-8"))
    for name, told in truths.items():
        records = [dict(one) for one in (told if isinstance(told, list) else [told])]
        encoding = records[0].pop("encoding", "utf-8")
        template = resolve(TEMPLATES[records[0].pop("template", "zh")])
        true = {
            (number, field, _agreed(template, field, value))
            for number, record in enumerate(records)
            for field, values in record.items()
            for value in values
        }
        said = _said(name, encoding, template)
        yield Page(name, true & said, said - true, true - said)


def _said(name: str, encoding: str, template: Template) -> Values:
    body = (FOLDER / f"{name}.html").read_text("utf-8").encode(encoding)
    url = f"http://{name.replace('_', '-')}.example.org/contact.html"
    records = combine([records_of(decode(body, None).text, url, template)], template)
    return {
        (number, one.field, "image:" if one.image else _agreed(template, one.field, one.value))
        for number, record in enumerate(records)
        for one in record.found
    }


def _agreed(template: Template, field: str, value: str) -> str:
    kind = template.crawl[field].kind
    if value == "image:":
        return value
    if kind == "telephone":
        number, _, extension = value.partition(" ext. ")
        digits = re.sub(r"\D", "", number)
        return digits.removeprefix("86") + (f"x{extension}" if extension else "")
    if kind in {"name", "address", "text"}:
        return re.sub(r"[\W_]", "", fold(value))
    return re.sub(r"^https?://|/$", "", value.lower()) if kind == "url" else value
