"""Organisations in a page's structured data: JSON-LD, microdata of schema.org, hCards."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from topiccrawl.addons.records.templates.values.value import shown
from topiccrawl.extract.metadata import kinds_of, linked_data
from topiccrawl.text.normal import has_han, normalise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from selectolax.lexbor import LexborHTMLParser, LexborNode

_NESTED = ("publisher", "about", "mainEntity", "@graph")
"""Fields of JSON-LD objects that may contain an organisation."""
_NO_SUBJECT = frozenset({"website", "webpage", "searchaction", "breadcrumblist", "listitem",
                         "imageobject", "article", "newsarticle", "product", "offer", "person",
                         "contactpoint", "postaladdress", "contactpage", "aboutpage", "review",
                         "blogposting", "collectionpage", "event", "question",
                         "faqpage"})  # fmt: skip
_FACTS = {"telephone": "telephone", "faxNumber": "fax", "email": "mail", "url": "url"}
_CLASSES = {
    "org": "legalName", "fn": "name", "tel": "telephone", "email": "email", "url": "url",
    "street-address": "streetAddress", "locality": "addressLocality", "region": "addressRegion",
    "postal-code": "postalCode",
}  # fmt: skip
"""Properties of schema.org by the classes of hCards."""
_CLASSES |= {f"{prefix}-{name}": prop for name, prop in _CLASSES.items() for prefix in "pu"}
_CLASSES["p-name"] = "name"  # without its prefix, it also names persons
_LINKED = {"email": "mailto:", "url": "http"}
"""Properties whose value is the address of a link rather than its text, and its beginning."""
_SCHEME = re.compile(r"\A(?:mailto|tel):", re.IGNORECASE)
MOST_CARDS = 20
"""Maximum number of hCards examined per page."""
_PARTS = ("streetAddress", "addressLocality", "addressRegion", "postalCode")


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


def subjects(tree: LexborHTMLParser) -> list[Subject]:
    """Return the organisations of a page; invalid JSON is skipped.

    >>> from selectolax.lexbor import LexborHTMLParser
    >>> data = '{"@type": "Organization", "name": "A", "address": {"streetAddress": "1 Quay"}}'
    >>> subjects(LexborHTMLParser(f'<script type="application/ld+json">{data}</script>'))
    [Subject(name='A', facts=(('address', '1 Quay'),), where='json-ld')]
    """
    found = [_subject(node) for node in linked_data(tree, _NESTED) if _is_subject(node)]
    return [*found, *_of_microdata(tree), *_of_cards(tree)]


def _is_subject(node: dict[str, Any]) -> bool:
    names = {kind.rpartition("/")[2].lower() for kind in kinds_of([node])} - {""}
    named = isinstance(node.get("name"), str)
    return bool(names) and names.isdisjoint(_NO_SUBJECT) and named


def _subject(node: dict[str, Any]) -> Subject:
    points = [one for one in _as_list(node.get("contactPoint")) if isinstance(one, dict)]
    facts = [
        (kind, text)
        for source in (node, *points)
        for key, kind in _FACTS.items()
        for text in _texts(source.get(key))
    ]
    for address in _as_list(node.get("address")):
        facts += _join_address(_parts_of(address))
    name = node.get("legalName") if isinstance(node.get("legalName"), str) else node["name"]
    return Subject(shown(normalise(str(name))), tuple(dict.fromkeys(facts)), "json-ld")


def _as_list(value: Any) -> list[Any]:  # noqa: ANN401  (JSON)
    return value if isinstance(value, list) else [] if value is None else [value]


def _texts(value: Any) -> list[str]:  # noqa: ANN401  (JSON)
    return [normalise(one) for one in _as_list(value) if isinstance(one, str) and one.strip()]


def _parts_of(address: Any) -> dict[str, str]:  # noqa: ANN401  (JSON)
    """Return the parts of an address; a text is a street."""
    given = {_PARTS[0]: address} if isinstance(address, str) else address
    if not isinstance(given, dict):
        return {}
    return {key: text for key in _PARTS for text in _texts(given.get(key))[:1]}


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
        if kind not in _NO_SUBJECT:
            own = [one for one in node.css("[itemprop]") if _item_id(one) == node.mem_id]
            props = [(one.attributes.get("itemprop") or "", one) for one in own]
            yield from _item([(prop, _content(one, prop)) for prop, one in props])


def _of_cards(tree: LexborHTMLParser) -> Iterator[Subject]:
    """Yield the organisations of hCards, in which class names identify the values."""
    for card in tree.css(".vcard, .h-card")[:MOST_CARDS]:
        props: list[tuple[str, str]] = []
        for node in card.css("[class]"):
            words = (node.attributes.get("class") or "").split()
            for prop in dict.fromkeys(_CLASSES[word] for word in words if word in _CLASSES):
                values = node.css(".value") if prop == "telephone" else []
                kind = "faxNumber" if prop == "telephone" and _is_fax(node) else prop
                props += [(kind, _content(one, prop)) for one in values or [node]]
        yield from _item(props)


def _is_fax(phone: LexborNode) -> bool:
    return any("fax" in kind.text().lower() for kind in phone.css(".type"))


def _item(props: Sequence[tuple[str, str]]) -> Iterator[Subject]:
    """Yield the organisation with these properties of schema.org, if it has a name."""
    first = {prop: text for prop, text in reversed(props) if text}
    if not (name := first.get("legalName") or first.get("name")):
        return
    facts = [(_FACTS[prop], text) for prop, text in props if prop in _FACTS and text]
    parts = {key: first[key] for key in _PARTS if key in first}
    facts += _join_address(parts or _parts_of(first.get("address")))
    yield Subject(name, tuple(dict.fromkeys(facts)), "microdata")


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


def _content(node: LexborNode, prop: str) -> str:
    values = node.attributes
    linked = values.get("href") or ""
    own = prop in _LINKED and linked.lower().startswith(_LINKED[prop])
    written = values.get("content") or (own and linked) or node.text() or linked
    text = _SCHEME.sub("", shown(normalise(written)))
    return text.partition("?")[0] if prop == "email" else text
