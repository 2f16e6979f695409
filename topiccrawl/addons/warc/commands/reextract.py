"""``scrapy reextract FILE...``: extract the articles of archived pages with the current rules."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.addons.warc.collection import require_warcio
from topiccrawl.commands.terminal import OperatorCommand, add_topic_option, say
from topiccrawl.errors import ConfigurationError
from topiccrawl.extract.reading import LocalReader
from topiccrawl.messages import NameList, localize, message, tr
from topiccrawl.spiders.reading import pool_of, reader_of
from topiccrawl.storage.factory import closed_after, opened, storage_of
from topiccrawl.topics import Scorer, SiteWords
from topiccrawl.topics.topic import resolve

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator

    from topiccrawl.addons.warc.archive import LatestPages
    from topiccrawl.addons.warc.reextraction import FilesDone
    from topiccrawl.model import Article
    from topiccrawl.storage.contract import ArticleStore

BATCH = 100
"""Number of articles saved together."""

REPORT_PAGES = 500
"""Number of pages after which the command reports its progress."""

PAGES = "pages"
"""Key of the number of pages in the counts."""


class Command(OperatorCommand, ScrapyCommand):
    """Extract the articles of archived pages."""

    usage = "[options] <file.warc.gz or folder> ..."
    summary = message("Extract the articles of archived pages again, with the current rules")
    details = message(
        "Extract the articles of archived pages again, with the current rules. After an"
        " interruption, the same command continues with the first file that was not finished."
    )

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add_topic_option(parser)
        text = tr("extract all files, also those finished before an interruption")
        parser.add_argument("--fresh", action="store_true", help=text)

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise UsageError
        require_warcio(args[0])
        from topiccrawl.addons.warc.archive import LatestPages
        from topiccrawl.addons.warc.reextraction import FilesDone

        topic = resolve(opts.topic or self.last_crawl(None).topic)
        pages = LatestPages([path for name in args for path in _files(Path(name))])
        scorer = Scorer(topic)
        if self.options.getbool("TOPICCRAWL_SITE_WORDS"):
            scorer.sites = SiteWords()
        path = self.folder / "reextract.json"
        done = FilesDone(path, topic, scorer.sites, fresh=opts.fresh)
        asyncio.run(self._extract(pages, scorer, done))

    async def _extract(self, pages: LatestPages, scorer: Scorer, done: FilesDone) -> None:
        """Extract file by file, and report the progress."""
        from topiccrawl.addons.warc.reextraction import Reextraction

        counts: Counter[str] = Counter()
        readers = pool_of(self.options, lambda _: None) or LocalReader(reader_of(self.options))
        async with closed_after(readers), opened(storage_of(self.options).articles()) as store:
            links = self.options.getbool("TOPICCRAWL_LINK_RELEVANCE")
            known = store if links else None
            extraction = Reextraction(pages.get, scorer, readers, known)
            for path in pages.by_file:
                if path in done:
                    say(tr("{path}: finished before the interruption", path=path), to=sys.stderr)
                    continue
                async with aclosing(extraction.articles(pages.of(path))) as articles:
                    await self._store(articles, store, counts)
                done.add(path)
            done.end()
        say(_summary(counts))

    @staticmethod
    async def _store(
        articles: AsyncIterator[Article | None], store: ArticleStore, counts: Counter[str]
    ) -> None:
        """Store the articles of a file in batches; count its pages and the results."""
        batch: list[Article] = []
        async for article in articles:
            counts[PAGES] += 1
            batch += [article] if article else []
            if len(batch) == BATCH or not counts[PAGES] % REPORT_PAGES:
                counts.update(str(one.fate) for one in await store.save(batch))
                batch.clear()
            if not counts[PAGES] % REPORT_PAGES:
                say(_summary(counts), to=sys.stderr)
        counts.update(str(one.fate) for one in await store.save(batch))


def _files(path: Path) -> list[Path]:
    """Return a file, or the WARC files of a folder in the order of their names."""
    if not path.is_dir():
        return [path]
    found = sorted({*path.glob("*.warc"), *path.glob("*.warc.gz")})
    if not found:
        raise ConfigurationError("{path}: the folder has no WARC file", path=path)
    return found


def _summary(counts: Counter[str]) -> str:
    fates = {fate: number for fate, number in sorted(counts.items()) if fate != PAGES}
    text = NameList(f"{number} {fate}" for fate, number in fates.items())
    return tr(
        "{pages} pages, {found} articles on topic{counts}",
        pages=counts[PAGES],
        found=sum(fates.values()),
        counts=f": {localize(text)}" if text else "",
    )
