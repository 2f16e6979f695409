"""``scrapy restore FILE``: unpack a backup into a data folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.addons.backup.archive import restore
from topiccrawl.commands.terminal import OperatorCommand, say
from topiccrawl.messages import message, tr

if TYPE_CHECKING:
    import argparse


class Command(OperatorCommand, ScrapyCommand):
    """Unpack a backup into a new or empty data folder."""

    usage = "FILE"
    summary = message("Unpack a backup into a new data folder to continue its crawls")

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError
        number = restore(Path(args[0]), self.folder)
        say(tr("{folder}: {number} files", folder=self.folder, number=number))
