"""``scrapy parse URL`` of Scrapy, with a temporary state and the links that were found."""

from __future__ import annotations

from typing import Any

from itemadapter import ItemAdapter
from scrapy.commands.parse import Command as ScrapyParse
from typing_extensions import override

from topiccrawl.commands.isolation import Apart
from topiccrawl.model import Findings

_LANES = ("prior", "normal", "error")


class ParseCommand(Apart, ScrapyParse):
    """Scrapy's own, with a state that is deleted."""

    @override
    def add_items(self, lvl: int, new_items: list[Any]) -> None:
        super().add_items(lvl, list(map(shown, new_items)))


def shown(item: Any) -> Any:  # noqa: ANN401 - whatever a spider yields
    """Return what is shown of a callback's output: items as they are, ``Findings`` as a dictionary.

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
