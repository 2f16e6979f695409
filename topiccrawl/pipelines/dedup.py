"""Drops reprints, so that feeds and later pipelines get each story once."""

from __future__ import annotations

from scrapy.exceptions import DropItem

from topiccrawl.model import Article


class DedupPipeline:
    """Drops articles that ``StorePipeline`` recorded as reprints.

    Its order is after ``StorePipeline``, which decides; a dropped reprint is stored already.
    Without this pipeline in ITEM_PIPELINES, feeds contain reprints too, with ``reprint_of``.
    """

    async def process_item(self, item: object) -> object:
        """Return the item unless it is a reprint.

        Raises:
            DropItem: With the URL of the story it reprints.
        """
        if isinstance(item, Article) and item.reprint_of:
            raise DropItem(f"duplicate: {item.url} reprints {item.reprint_of}")
        return item
