"""Found values with their evidence, and the records made of them."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Found(NamedTuple):
    """A value and its evidence.

    Attributes:
        field: The template's field.
        value: Normalized value: ``+86 28 8512 3456 ext. 801``; the URL of the image if ``image``.
        text: The value as written in the page.
        confidence: Probability that it is right, in [0, 1].
        where: Kind of place: ``line``, ``table``, ``json-ld`` ... (``weights.WEIGHTS``).
        url: URL of the page.
        snippet: Text around it, at most ``SNIPPET`` characters.
        image: The page shows it as an image, so that the value itself is unknown.
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
    """Values that pages give for one subject.

    Attributes:
        template: Name of the template.
        name: Name of the subject; "" if no page gives it.
        found: Its values, in the order of the template's fields, the most certain first.
        urls: The pages they come from, in the order they were read.
    """

    template: str
    name: str
    found: tuple[Found, ...] = ()
    urls: tuple[str, ...] = ()

    def values(self, field: str) -> tuple[str, ...]:
        """Return the values of a field, the most certain first, without images.

        >>> Record("t", "甲", (Found("QQ", "10001"), Found("QQ", "http://a.test/q.gif", image=True))
        ...        ).values("QQ")
        ('10001',)
        """
        return tuple(one.value for one in self.found if one.field == field and not one.image)

    @property
    def digest(self) -> str:
        """Twelve hex digits that change when a value or the name changes, not with the evidence."""
        values = sorted({(one.field, one.value) for one in self.found})
        said = json.dumps([self.template, self.name, values], ensure_ascii=False)
        return hashlib.sha256(said.encode()).hexdigest()[:12]

    def as_dict(self) -> dict[str, Any]:
        """Return the record as JSON values; ``from_dict`` is the inverse."""
        return {
            "template": self.template,
            "name": self.name,
            "found": [one._asdict() for one in self.found],
            "urls": list(self.urls),
        }

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Record:
        """Return the record of the values of ``as_dict``.

        >>> record = Record("t", "甲", (Found("QQ", "10001"),), ("http://a.test/",))
        >>> Record.from_dict(record.as_dict()) == record
        True
        """
        found = tuple(Found(**one) for one in values["found"])
        return Record(values["template"], values["name"], found, tuple(values["urls"]))
