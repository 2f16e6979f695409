"""Organisations in a page's structured data: JSON-LD, microdata of schema.org, hCards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from topiccrawl.addons.records.templates.values.value import shown
from topiccrawl.extract.metadata import linked_data
from topiccrawl.text.normal import has_han, normalise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborHTMLParser, LexborNode

_NESTED = ("publisher", "about", "mainEntity", "@graph")
"""Fields of JSON-LD objects that may contain an organisation."""
_NO_SUBJECT = frozenset({"website", "webpage", "searchaction", "breadcrumblist", "listitem",
                         "imageobject", "article", "newsarticle", "product", "offer", "person",
                         "contactpoint", "postaladdress", "contactpage", "aboutpage", "review",
                         "blogposting", "collectionpage", "event", "question",
                         "faqpage"})  # fmt: skip
_FACTS = {"telephone": "telephone", "faxNumber": "fax", "email": "mail", "url": "url"}
_CARD_PARTS = (
    ("streetAddress", "street-address", "p-street-address"),
    ("addressLocality", "locality", "p-locality"),
    ("addressRegion", "region", "p-region"),
    ("postalCode", "postal-code", "p-postal-code"),
)
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
    kinds = node.get("@type", "")
    names = {
        str(kind).rpartition("/")[2].lower()
        for kind in (kinds if isinstance(kinds, list) else [kinds])
    }
    return (
        bool(names - {""}) and names.isdisjoint(_NO_SUBJECT) and isinstance(node.get("name"), str)
    )


def _subject(node: dict[str, Any]) -> Subject:
    facts = [(kind, text) for key, kind in _FACTS.items() for text in _texts(node.get(key))]
    for point in _as_list(node.get("contactPoint")):
        if isinstance(point, dict):
            facts += [
                (kind, text) for key, kind in _FACTS.items() for text in _texts(point.get(key))
            ]
    for address in _as_list(node.get("address")):
        facts += _address(address)
    name = node.get("legalName") if isinstance(node.get("legalName"), str) else node["name"]
    return Subject(shown(normalise(str(name))), tuple(dict.fromkeys(facts)), "json-ld")


def _as_list(value: Any) -> list[Any]:  # noqa: ANN401  (JSON)
    return value if isinstance(value, list) else [] if value is None else [value]


def _texts(value: Any) -> list[str]:  # noqa: ANN401  (JSON)
    return [normalise(one) for one in _as_list(value) if isinstance(one, str) and one.strip()]


def _address(value: Any) -> list[tuple[str, str]]:  # noqa: ANN401  (JSON)
    if isinstance(value, str):
        return [("address", normalise(value))]
    if not isinstance(value, dict):
        return []
    parts = {key: text for key in _PARTS for text in _texts(value.get(key))[:1]}
    return _join_address(parts)


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
        for kind, classes in (("mail", (".email", ".u-email")), ("url", (".url", ".u-url"))):
            linked = [one for one in card.css(", ".join(classes)) if one.tag == "a"]
            facts += [(kind, _href(one)) for one in linked if _href(one)]
        parts = {
            key: text for key, *classes in _CARD_PARTS for text in _by_class(card, *classes)[:1]
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
