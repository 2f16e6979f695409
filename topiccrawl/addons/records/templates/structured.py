"""Organisations in a page's structured data: JSON-LD, microdata of schema.org, hCards."""

from __future__ import annotations

import json
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from topiccrawl.addons.records.templates.values.plain import shown
from topiccrawl.text.normal import has_han, normalise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborHTMLParser, LexborNode

MOST_NODES = 500
"""Maximum number of JSON-LD objects examined per script."""
_NO_SUBJECT = frozenset({"website", "webpage", "searchaction", "breadcrumblist", "listitem",
                         "imageobject", "article", "newsarticle", "product", "offer", "person",
                         "contactpoint", "postaladdress", "contactpage", "aboutpage", "review",
                         "blogposting", "collectionpage", "event", "question",
                         "faqpage"})  # fmt: skip
_FACTS = {"telephone": "telephone", "faxNumber": "fax", "email": "mail", "url": "url"}
_PARTS = {
    "streetAddress": "street-address",
    "addressLocality": "locality",
    "addressRegion": "region",
    "postalCode": "postal-code",
}
"""Parts of an address, and their classes in hCards."""
MOST_CARDS = 20
"""Maximum number of hCards examined per page."""


class Subject(NamedTuple):
    """An organisation or place in the structured data of a page.

    Attributes:
        name: Legal name if given, otherwise the name.
        facts: Pairs of a kind (of a template, or ``fax``) and a text, in order.
        where: ``json-ld``, or ``microdata`` (also for hCards).
    """

    name: str
    facts: tuple[tuple[str, str], ...]
    where: str


def subjects(scripts: tuple[str, ...], tree: LexborHTMLParser) -> list[Subject]:
    """Return the organisations of a page; invalid JSON is skipped.

    >>> from selectolax.lexbor import LexborHTMLParser
    >>> script = '{"@type": "Organization", "name": "A", "address": {"streetAddress": "1 Quay"}}'
    >>> subjects((script,), LexborHTMLParser(""))
    [Subject(name='A', facts=(('address', '1 Quay'),), where='json-ld')]
    """
    found = [subject for script in scripts for subject in _of_script(script)]
    return [*found, *_of_microdata(tree), *_of_cards(tree)]


def _of_script(script: str) -> Iterator[Subject]:
    try:
        data = json.loads(script.strip().rstrip(";"), strict=False)
    except (ValueError, RecursionError):
        return
    todo: deque[Any] = deque([data])
    for _ in range(MOST_NODES):
        node = todo.popleft() if todo else None
        if isinstance(node, list):
            todo.extend(node)
        elif isinstance(node, dict):
            if _is_subject(node):
                yield _subject(node)
            todo += [
                node[key] for key in ("@graph", "mainEntity", "about", "publisher") if key in node
            ]


def _is_subject(node: dict[str, Any]) -> bool:
    kinds = {str(kind).rpartition("/")[2].lower() for kind in _as_list(node.get("@type"))}
    organisation = bool(kinds - {""}) and kinds.isdisjoint(_NO_SUBJECT)
    return organisation and isinstance(node.get("name"), str)


def _subject(node: dict[str, Any]) -> Subject:
    points = [node, *(one for one in _as_list(node.get("contactPoint")) if isinstance(one, dict))]
    facts = [
        (kind, text)
        for point in points
        for key, kind in _FACTS.items()
        for text in _texts(point.get(key))
    ]
    for address in _as_list(node.get("address")):
        if isinstance(address, str):
            facts.append(("address", normalise(address)))
        elif isinstance(address, dict):
            facts += _join_address(
                {key: text for key in _PARTS for text in _texts(address.get(key))[:1]}
            )
    name = node.get("legalName") if isinstance(node.get("legalName"), str) else node["name"]
    return Subject(shown(normalise(str(name))), tuple(dict.fromkeys(facts)), "json-ld")


def _as_list(value: Any) -> list[Any]:  # noqa: ANN401  (JSON)
    return value if isinstance(value, list) else [] if value is None else [value]


def _texts(value: Any) -> list[str]:  # noqa: ANN401  (JSON)
    return [normalise(one) for one in _as_list(value) if isinstance(one, str) and one.strip()]


def _join_address(parts: dict[str, str]) -> list[tuple[str, str]]:
    """Join the parts of an address, in Chinese from the largest to the smallest."""
    code = parts.pop("postalCode", "")
    facts = [("postcode", code)] if code else []
    street = parts.get("streetAddress", "")
    if not parts:
        return facts
    if any(map(has_han, parts.values())):
        text = street
        for key in ("addressLocality", "addressRegion"):
            part = parts.get(key, "")
            text = text if part in text else part + text
    else:
        text = ", ".join([*parts.values(), *([code] if code else [])])
    return [("address", text), *facts]


def _of_microdata(tree: LexborHTMLParser) -> Iterator[Subject]:
    for node in tree.css("[itemscope][itemtype*='schema.org']"):
        kind = (node.attributes.get("itemtype") or "").rpartition("/")[2].lower()
        if kind in _NO_SUBJECT:
            continue
        own = [one for one in node.css("[itemprop]") if _item_id(one) == node.mem_id]
        props = [(one.attributes.get("itemprop") or "", _content(one)) for one in own]
        names = [text for prop, text in props if prop in {"legalName", "name"} and text]
        if not names:
            continue
        facts = [(_FACTS[prop], text) for prop, text in props if prop in _FACTS and text]
        parts = {prop: text for prop, text in reversed(props) if prop in _PARTS and text}
        whole = [text for prop, text in props if prop == "address" and text]
        ordered = {key: parts[key] for key in _PARTS if key in parts}
        facts += _join_address(ordered) if ordered else [("address", text) for text in whole[:1]]
        yield Subject(names[0], tuple(dict.fromkeys(facts)), "microdata")


def _of_cards(tree: LexborHTMLParser) -> Iterator[Subject]:
    """Yield the organisations of hCards, in which class names identify the values."""
    for card in tree.css(".vcard, .h-card")[:MOST_CARDS]:
        names = _by_class(card, "org", "p-org", "p-name", "fn")
        if not names:
            continue
        facts: list[tuple[str, str]] = []
        for phone in card.css(".tel, .p-tel"):
            kinds, values = _by_class(phone, "type"), _by_class(phone, "value")
            fax = any("fax" in kind.lower() for kind in kinds)
            facts += [("fax" if fax else "telephone", text) for text in values or [_content(phone)]]
        for kind, links in (("mail", "a.email, a.u-email"), ("url", "a.url, a.u-url")):
            facts += [(kind, href) for one in card.css(links) if (href := _href(one))]
        parts = {
            key: text
            for key, name in _PARTS.items()
            for text in _by_class(card, name, f"p-{name}")[:1]
        }
        yield Subject(names[0], tuple(dict.fromkeys(facts + _join_address(parts))), "microdata")


def _by_class(node: LexborNode, *classes: str) -> list[str]:
    """Return the texts of the elements of the first class found."""
    for name in classes:
        if texts := [text for one in node.css(f".{name}") if (text := _content(one))]:
            return texts
    return []


def _href(node: LexborNode) -> str:
    return (node.attributes.get("href") or "").removeprefix("mailto:").partition("?")[0]


def _item_id(node: LexborNode) -> int:
    """Return the id of an element's item; addresses and contact points count as their parent's."""
    around = node.parent
    while around is not None:
        values = around.attributes
        kind = (values.get("itemtype") or "").rpartition("/")[2].lower()
        if "itemscope" in values and kind not in {"postaladdress", "contactpoint"}:
            return around.mem_id
        around = around.parent
    return 0


def _content(node: LexborNode) -> str:
    values = node.attributes
    written = values.get("content") or node.text() or values.get("href") or ""
    return shown(normalise(written)).removeprefix("mailto:").removeprefix("tel:")
