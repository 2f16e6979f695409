"""``scrapy parse URL`` of Scrapy, with a temporary state and the links of the page."""

from __future__ import annotations

from typing import Any

from itemadapter import ItemAdapter
from scrapy.commands.parse import Command as ScrapyParse
from typing_extensions import override

from topiccrawl.commands.isolation import IsolatedCommand
from topiccrawl.model import Findings

_LANES = ("prior", "normal", "error")


class ParseCommand(IsolatedCommand, ScrapyParse):
    """Scrapy's command with a temporary state."""

    @override
    def add_items(self, lvl: int, new_items: list[Any]) -> None:
        super().add_items(lvl, list(map(shown, new_items)))


def shown(item: Any) -> Any:  # noqa: ANN401 - whatever a spider yields
    """Convert an output of a callback for printing: ``Findings`` become dictionaries.

    >>> from topiccrawl.model import Offer
    >>> shown(Findings(0.5, (Offer("http://a.test/1", 0, (), "新闻"),)))["links"]
    [{'url': 'http://a.test/1', 'queue': 'prior', 'anchor': '新闻'}]
    """
    if isinstance(item, Findings):
        links = [
            {"url": one.url, "queue": _LANES[one.lane], "anchor": one.anchor} for one in item.offers
        ]
        return {"relevance": item.relevance, "relevant": item.relevant, "links": links}
    return item if ItemAdapter.is_item(item) else {type(item).__name__: str(item)}
