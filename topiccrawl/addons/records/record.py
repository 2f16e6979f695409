"""Extracted values with their evidence, and the records built from them."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class FoundValue(NamedTuple):
    """An extracted value and its evidence.

    Attributes:
        field: Name of the template's field.
        value: Normalized value: ``+86 28 8512 3456 ext. 801``; the URL of the image if ``image``.
        text: The value as written in the page.
        confidence: Estimated probability that the value is correct, in [0, 1].
        where: Kind of place in the page: ``line``, ``table``, ``json-ld`` ... (keys of
            ``weights.WEIGHTS``).
        url: URL of the page.
        snippet: Text around the value, at most ``SNIPPET`` characters.
        image: Whether the page shows the value as an image; its text is unknown then.
    """

    field: str
    value: str
    text: str = ""
    confidence: float = 0.0
    where: str = ""
    url: str = ""
    snippet: str = ""
    image: bool = False


class Record(NamedTuple):
    """Values extracted for one entity.

    Attributes:
        template: Name of the template.
        name: Name of the entity; "" if unknown.
        found: Values in the order of the template's fields, by descending confidence.
        urls: URLs of the source pages, in the order they were parsed.
    """

    template: str
    name: str
    found: tuple[FoundValue, ...] = ()
    urls: tuple[str, ...] = ()

    def values(self, field: str) -> tuple[str, ...]:
        """Return the values of a field by descending confidence, without images.

        >>> image = FoundValue("QQ", "http://a.test/q.gif", image=True)
        >>> Record("t", "甲", (FoundValue("QQ", "10001"), image)).values("QQ")
        ('10001',)
        """
        return tuple(one.value for one in self.found if one.field == field and not one.image)

    @property
    def digest(self) -> str:
        """Twelve hex digits of a hash of name and values; evidence does not change them."""
        values = sorted({(one.field, one.value) for one in self.found})
        text = json.dumps([self.template, self.name, values], ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def as_dict(self) -> dict[str, Any]:
        """Return the record as JSON values; ``from_dict`` is the inverse."""
        return {**self._asdict(), "found": [one._asdict() for one in self.found]}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Record:
        """Return the record for a result of ``as_dict``.

        >>> record = Record("t", "甲", (FoundValue("QQ", "10001"),), ("http://a.test/",))
        >>> Record.from_dict(record.as_dict()) == record
        True
        """
        found = tuple(FoundValue(**one) for one in values["found"])
        return Record(values["template"], values["name"], found, tuple(values["urls"]))
