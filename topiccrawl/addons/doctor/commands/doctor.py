"""``scrapy doctor``: check the environment that a crawl with these settings needs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from typing_extensions import override

from topiccrawl import settings as project
from topiccrawl.commands.terminal import OperatorCommand, say
from topiccrawl.messages import choose_language, message, padded, tr
from topiccrawl.scheduler.findings import Finding, Level

if TYPE_CHECKING:
    import argparse


MARKS = {Level.OK: message("ok"), Level.WARN: message("warn"), Level.FAIL: message("FAIL")}


class Command(OperatorCommand, ScrapyCommand):
    """Check the installation, the settings, the machine and the servers."""

    summary = message("Check versions, servers, folders, clock and ports; show remedies")
    details = message(
        "Runs all checks, or the named ones, with the settings of a crawl. The exit status is"
        " 1 if a crawl would fail, and 0 with warnings only. It connects only to servers of the"
        " settings."
    )

    @override
    def syntax(self) -> str:
        from topiccrawl.addons.doctor.examinations import EXAMINATIONS

        names = [*EXAMINATIONS, *project.TOPICCRAWL_EXAMINATIONS]
        return f"[--json] [{' | '.join(names)}]..."

    @override
    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--json", action="store_true", help=tr("write JSON"))

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        from topiccrawl.addons.doctor.examinations import examine

        if opts.json:  # programs parse it
            choose_language("en")
        findings = list(examine(self.options, args))
        if opts.json:
            say(json.dumps([asdict(finding) for finding in findings], ensure_ascii=False))
        else:
            for finding in findings:
                say(*lines_of(finding))
        if any(finding.level is Level.FAIL for finding in findings):
            self.exitcode = 1


def lines_of(finding: Finding) -> list[str]:
    """Return the printed lines of a finding: its text and the remedy.

    >>> from topiccrawl.scheduler.findings import warn
    >>> lines_of(warn("disk", "1 GB free", "make room"))
    ['warn  disk        1 GB free', '                  -> make room']
    """
    mark, what = padded(MARKS[finding.level], 4), padded(finding.what, 11)
    lines = [f"{mark}  {what} {finding.text}"]
    return [*lines, f"{'':18}-> {finding.remedy}"] if finding.remedy else lines
