"""``scrapy reextract FILE...``: extract archived pages again, without fetching them."""

from __future__ import annotations

import asyncio
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.commands.terminal import OperatorCommand, add_topic_option, say
from topiccrawl.errors import ConfigurationError
from topiccrawl.storage.choice import storage_of
from topiccrawl.text.messages import tr
from topiccrawl.topics import Scorer
from topiccrawl.topics.topic import resolve

if TYPE_CHECKING:
    import argparse

    from topiccrawl.addons.warc.archive import Exchange
    from topiccrawl.model import Article

GROUP = 100
"""Number of articles saved together."""


class Command(OperatorCommand, ScrapyCommand):
    """Extract archived pages again."""

    @override
    def syntax(self) -> str:
        return "[options] <file.warc.gz> ..."

    @override
    def short_desc(self) -> str:
        return tr("Extract the articles of archived pages again, with the rules of today")

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add_topic_option(parser)

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise UsageError
        from topiccrawl.addons.warc.reextraction import Reextraction

        topic = resolve(opts.topic or self.last_crawl(None).topic)
        pages = _pages([Path(name) for name in args])
        found = list(Reextraction(pages, topic, Scorer(topic)).articles())
        fates = asyncio.run(self._save(found))
        counts = ", ".join(f"{number} {fate}" for fate, number in sorted(fates.items()))
        say(
            tr(
                "{pages} pages, {found} articles on topic{counts}",
                pages=len(pages),
                found=len(found),
                counts=f": {counts}" if counts else "",
            )
        )

    async def _save(self, found: list[Article]) -> Counter[str]:
        store = storage_of(self.options).articles()
        await store.open()
        fates: Counter[str] = Counter()
        try:
            for begin in range(0, len(found), GROUP):
                saved = await store.save(found[begin : begin + GROUP])
                fates.update(str(one.fate) for one in saved)
        finally:
            await store.close()
        return fates


def _pages(paths: list[Path]) -> dict[str, Exchange]:
    """Return the archived responses by URL, the latest of each."""
    if find_spec("warcio") is None:
        raise ConfigurationError(
            tr("reading WARC files needs warcio: pip install 'topiccrawl[warc]'")
        )
    from topiccrawl.addons.warc.archive import exchanges

    found: dict[str, Exchange] = {}
    for one in (exchange for path in paths for exchange in exchanges(path)):
        if one.url not in found or one.at >= found[one.url].at:
            found[one.url] = one
    return found
