"""What was found: values with their evidence, and the record that they make."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Found(NamedTuple):
    """A value and why it was taken.

    Attributes:
        field: The template's field.
        value: In one spelling for equal values: ``+86 28 8512 3456 ext. 801``; the address of
            the image where ``image``.
        text: As it is written in the page.
        confidence: How likely it is right, in [0, 1].
        where: How it stands: ``line``, ``table``, ``json-ld`` ... (``weights.WEIGHTS``).
        url: The page.
        snippet: Text around it, at most ``SNIPPET`` characters.
        image: Whether the page shows it as an image, so that the value itself is not known.
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
    """What pages say of one subject.

    Attributes:
        template: Name of the template.
        name: What the subject is called; "" where no page says it.
        found: Its values, in the order of the template's fields, the most certain first.
        urls: The pages they come from, in the order of reading.
    """

    template: str
    name: str
    found: tuple[Found, ...] = ()
    urls: tuple[str, ...] = ()

    def values(self, field: str) -> tuple[str, ...]:
        """The values of a field, the most certain first; images are none.

        >>> Record("t", "甲", (Found("QQ", "10001"), Found("QQ", "http://a.test/q.gif", image=True))
        ...        ).values("QQ")
        ('10001',)
        """
        return tuple(one.value for one in self.found if one.field == field and not one.image)

    @property
    def digest(self) -> str:
        """Twelve hex digits that change when a value changes, not with its evidence."""
        values = sorted({(one.field, one.value) for one in self.found})
        said = json.dumps([self.template, self.name, values], ensure_ascii=False)
        return hashlib.sha256(said.encode()).hexdigest()[:12]

    def as_dict(self) -> dict[str, Any]:
        """The record as JSON has it; ``from_dict`` makes the same record of it."""
        return {
            "template": self.template,
            "name": self.name,
            "found": [one._asdict() for one in self.found],
            "urls": list(self.urls),
        }

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Record:
        """The record that ``as_dict`` gave.

        >>> record = Record("t", "甲", (Found("QQ", "10001"),), ("http://a.test/",))
        >>> Record.from_dict(record.as_dict()) == record
        True
        """
        found = tuple(Found(**one) for one in values["found"])
        return Record(values["template"], values["name"], found, tuple(values["urls"]))
