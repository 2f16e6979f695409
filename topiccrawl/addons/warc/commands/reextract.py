"""``scrapy reextract FILE...``: extract archived pages again, without fetching them."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.commands.terminal import OperatorCommand, add_topic_option, say
from topiccrawl.errors import ConfigurationError
from topiccrawl.extract.reading import OwnProcess
from topiccrawl.messages import message, tr
from topiccrawl.spiders.reading import pool_of, reader_of
from topiccrawl.storage.choice import storage_of
from topiccrawl.topics import Scorer
from topiccrawl.topics.topic import resolve

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator

    from topiccrawl.addons.warc.archive import Exchange
    from topiccrawl.extract.readers import Readers
    from topiccrawl.model import Article

GROUP = 100
"""Number of articles saved together."""

SAID = 500
"""Pages after which the command says how far it is."""


class Command(OperatorCommand, ScrapyCommand):
    """Extract archived pages again."""

    usage = "[options] <file.warc.gz> ..."
    summary = message("Extract the articles of archived pages again, with the rules of today")

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
        readers = pool_of(self.options, lambda _: None) or OwnProcess(reader_of(self.options))
        again = Reextraction(pages, topic, Scorer(topic), readers)
        asyncio.run(self._store(again.articles(), readers))

    async def _store(
        self, articles: AsyncIterator[Article | None], readers: Readers | OwnProcess
    ) -> None:
        """Store articles as they come; say now and then, and at the end, how far it is."""
        store = storage_of(self.options).articles()
        await store.open()
        fates: Counter[str] = Counter()
        group: list[Article] = []
        pages = 0
        try:
            async for article in articles:
                pages += 1
                group += [article] if article else []
                if len(group) == GROUP or not pages % SAID:
                    fates.update(str(one.fate) for one in await store.save(group))
                    group.clear()
                if not pages % SAID:
                    say(_counted(pages, fates), to=sys.stderr)
            fates.update(str(one.fate) for one in await store.save(group))
        finally:
            await readers.close()
            await store.close()
        say(_counted(pages, fates))


def _counted(pages: int, fates: Counter[str]) -> str:
    counts = ", ".join(f"{number} {fate}" for fate, number in sorted(fates.items()))
    return tr(
        "{pages} pages, {found} articles on topic{counts}",
        pages=pages,
        found=fates.total(),
        counts=f": {counts}" if counts else "",
    )


def _pages(paths: list[Path]) -> dict[str, Exchange]:
    """Return the archived responses by URL, the latest of each."""
    if find_spec("warcio") is None:
        raise ConfigurationError("reading WARC files needs warcio: pip install 'topiccrawl[warc]'")
    from topiccrawl.addons.warc.archive import exchanges

    found: dict[str, Exchange] = {}
    for one in (exchange for path in paths for exchange in exchanges(path)):
        if one.url not in found or one.at >= found[one.url].at:
            found[one.url] = one
    return found
