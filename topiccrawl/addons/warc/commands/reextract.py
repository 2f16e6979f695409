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
from topiccrawl.extract.reading import LocalReader
from topiccrawl.messages import message, tr
from topiccrawl.spiders.reading import pool_of, reader_of
from topiccrawl.storage.factory import storage_of
from topiccrawl.topics import Scorer
from topiccrawl.topics.topic import resolve

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator

    from topiccrawl.addons.warc.archive import LatestPages
    from topiccrawl.addons.warc.reextraction import FilesDone, Reextraction
    from topiccrawl.extract.readers import Readers
    from topiccrawl.model import Article
    from topiccrawl.storage.contract import ArticleStore

GROUP = 100
"""Number of articles saved together."""

SAID = 500
"""Pages after which the command says how far it is."""

PAGES = "pages"
"""Name of the number of pages beside those of the articles' fates."""


class Command(OperatorCommand, ScrapyCommand):
    """Extract archived pages again."""

    usage = "[options] <file.warc.gz> ..."
    summary = message("Extract the articles of archived pages again, with the rules of today")
    details = message(
        "Extract the articles of archived pages again, with the rules of today. After an"
        " interruption the same command goes on with the first file that was not done."
    )

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add_topic_option(parser)
        parser.add_argument(
            "--fresh", action="store_true",
            help=tr("extract all files, also those done before an interruption"),
        )  # fmt: skip

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise UsageError
        if find_spec("warcio") is None:
            raise ConfigurationError(
                "reading WARC files needs warcio: pip install 'topiccrawl[warc]'"
            )
        from topiccrawl.addons.warc.archive import LatestPages
        from topiccrawl.addons.warc.reextraction import FilesDone, Reextraction

        topic = resolve(opts.topic or self.last_crawl(None).topic)
        pages = LatestPages([Path(name) for name in args])
        readers = pool_of(self.options, lambda _: None) or LocalReader(reader_of(self.options))
        again = Reextraction(pages, topic, Scorer(topic), readers)
        done = FilesDone(self.folder / "reextract.json", topic, fresh=opts.fresh)
        asyncio.run(self._extract(pages, again, done, readers))

    async def _extract(
        self,
        pages: LatestPages,
        again: Reextraction,
        done: FilesDone,
        readers: Readers | LocalReader,
    ) -> None:
        """Extract file by file; say now and then, and at the end, how far it is."""
        store = storage_of(self.options).articles()
        await store.open()
        counts: Counter[str] = Counter()
        try:
            for path in pages.by_file:
                if path in done:
                    say(tr("{path}: done before the interruption", path=path), to=sys.stderr)
                    continue
                await self._store(again.articles(pages.of(path)), store, counts)
                done.add(path)
            done.end()
        finally:
            await readers.close()
            await store.close()
        say(_counted(counts))

    @staticmethod
    async def _store(
        articles: AsyncIterator[Article | None], store: ArticleStore, counts: Counter[str]
    ) -> None:
        """Store the articles of a file as they come; count its pages and their fates."""
        group: list[Article] = []
        async for article in articles:
            counts[PAGES] += 1
            group += [article] if article else []
            if len(group) == GROUP or not counts[PAGES] % SAID:
                counts.update(str(one.fate) for one in await store.save(group))
                group.clear()
            if not counts[PAGES] % SAID:
                say(_counted(counts), to=sys.stderr)
        counts.update(str(one.fate) for one in await store.save(group))


def _counted(counts: Counter[str]) -> str:
    fates = {fate: number for fate, number in sorted(counts.items()) if fate != PAGES}
    said = ", ".join(f"{number} {fate}" for fate, number in fates.items())
    return tr(
        "{pages} pages, {found} articles on topic{counts}",
        pages=counts[PAGES],
        found=sum(fates.values()),
        counts=f": {said}" if said else "",
    )
