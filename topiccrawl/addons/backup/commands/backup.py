"""``scrapy backup FILE``: copy the data folder into one file, even while crawls run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.addons.backup.archive import MODES, backup
from topiccrawl.commands.terminal import OperatorCommand, say
from topiccrawl.messages import NameList, message, tr
from topiccrawl.scheduler.hosttimes import FOLDER

if TYPE_CHECKING:
    import argparse


class Command(OperatorCommand, ScrapyCommand):
    """Copy the whole data folder, with queues and articles, even while crawls run."""

    usage = "FILE"
    summary = message("Copy the data folder into one file, even while crawls run")

    @override
    def long_desc(self) -> str:
        return tr(
            "FILE ends in {names}. `restore` unpacks it, and the same crawl command continues. Not "
            "included: data in Redis or MongoDB, JOBDIR or WARC_DIR outside the data folder, and "
            "other backups in it.",
            names=NameList(MODES),
        )

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError
        file = Path(args[0])
        number = backup(self.folder, file, FOLDER)
        values = {"file": file, "number": number, "size": file.stat().st_size / 1e6}
        say(tr("{file}: {number} files of {folder}, {size:.1f} MB", folder=self.folder, **values))
