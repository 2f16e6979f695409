"""Folders of pages and truth, in the formats of published extraction benchmarks.

A pair is ``NAME.html`` (or ``.htm``, also ``.gz``) and ``NAME.json``, anywhere below the folder.
The names of the truth's values are those of the common collections (``_NAMES``); they may be in
a nested object. Folders with ``meta.info`` files are those of fundus: one JSON of a publisher has
the truth of its pages, a version of the parser for each.
"""

from __future__ import annotations

import gzip
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# fmt: off
_NAMES = {
    "url": ("url",),
    "body": ("body", "articleBody", "main_content", "content", "text"),
    "title": ("title", "headline"),
    "date": ("date", "publish_date", "publishing_date", "datePublished", "published"),
    "author": ("author", "authors"),
    "label": ("page_type", "label", "kind"),
}
"""Names of a truth's values."""
# fmt: on

_PAGE = re.compile(r"\.html?(?:\.gz)?$")
_VERSIONED = re.compile(r"_\d{4}_\d\d_\d\d$")


class Labelled(NamedTuple):
    """A page with its truth; bodies of pages other than articles are not compared.

    Attributes:
        url: Its address, made from its file's name where none is known.
        data: Bytes as served.
        label: Kind of page, ``article`` where the collection has no others.
        truth: ``body``, ``title``, ``date`` and ``author``, "" where unknown.
    """

    url: str
    data: bytes
    label: str
    truth: dict[str, str]


def labelled(folder: Path) -> Iterator[Labelled]:
    """Yield the pages below a folder whose truth is known, in the order of their names."""
    if any(folder.rglob("meta.info")):
        yield from _publishers(folder)
        return
    truths = {path.stem: path for path in sorted(folder.rglob("*.json"))}
    for path in sorted(folder.rglob("*")):
        name = _PAGE.sub("", path.name)
        if name != path.name and name in truths:
            yield _labelled(path, json.loads(truths[name].read_text("utf-8")))


def _labelled(path: Path, values: dict[str, Any], url: str = "") -> Labelled:
    flat = _flat(values)
    found = {key: next((flat[name] for name in names if flat.get(name)), "")
             for key, names in _NAMES.items()}  # fmt: skip
    truth = {key: _text(found[key]) for key in ("body", "title", "date", "author")}
    data = path.read_bytes()
    data = gzip.decompress(data) if path.name.endswith(".gz") else data
    named = url or _text(found["url"]) or f"http://{_PAGE.sub('', path.name)}.test/page"
    return Labelled(named, data, _text(found["label"]) or "article", truth)


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values with those of inner objects; a body's own parts stay together."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict) and "primary" in value:
            flat[key] = value["primary"]
        elif isinstance(value, dict) and "sections" not in value:
            flat |= {name: one for name, one in _flat(value).items() if name not in flat}
        else:
            flat[key] = value
    return flat


def _text(value: object) -> str:
    if isinstance(value, dict):  # a body of fundus
        parts = [value.get("summary", [])]
        for one in value.get("sections", []):
            parts += [one.get("headline", []), one.get("paragraphs", [])]
        return "\n".join(text for part in parts for text in part)
    if isinstance(value, list):
        return " ".join(map(_text, value))
    return value if isinstance(value, str) else ""


def _publishers(folder: Path) -> Iterator[Labelled]:
    for path in sorted(folder.rglob("*.json")):
        described = path.with_name("meta.info")
        if not described.exists():
            continue
        meta = json.loads(described.read_text("utf-8"))
        pages = [
            name
            for name in meta
            if _VERSIONED.sub("", _PAGE.sub("", name)) == path.stem
        ]  # fmt: skip
        versions = json.loads(path.read_text("utf-8"))
        pages.sort(key=lambda name: meta[name]["crawl_date"])
        names = sorted(versions, key=lambda name: [int(part) for part in name[1:].split("_")])
        if len(pages) == len(names):  # else it is unknown which page a version belongs to
            for page, version in zip(pages, names, strict=True):
                yield _labelled(path.with_name(page), versions[version], meta[page]["url"])
