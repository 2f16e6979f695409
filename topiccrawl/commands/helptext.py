"""Help of commands: translated, and wrapped by the columns of a terminal."""

from __future__ import annotations

import re
from argparse import Action, HelpFormatter

from scrapy.commands import ScrapyHelpFormatter as Headed
from typing_extensions import override

from topiccrawl.messages import columns, message, tr

_ARGPARSE = (
    message("usage: "),
    message("options"),
    message("positional arguments"),
    message("show this help message and exit"),
    message("%(prog)s: error: %(message)s\n"),
    message("argument %(argument_name)s: %(message)s"),
    message("the following arguments are required: %s"),
    message("unrecognized arguments: %s"),
    message("expected one argument"),
    message("invalid choice: %(value)r (choose from %(choices)s)"),
    message("ambiguous option: %(option)s could match %(matches)s"),
)
"""Texts of argparse, which looks them up with gettext."""
_SCRAPY_OPTIONS = (
    message("Global Options"),
    message("log file. if omitted stderr will be used"),
    message("log level (default: INFO)"),
    message("disable logging completely"),
    message("write python cProfile stats to FILE"),
    message("write process ID to FILE"),
    message("set/override setting (may be repeated)"),
    message("enable pdb on failure (uses ipdb if installed)"),
)
"""Help texts of the options that Scrapy adds to each command."""
_WORD = re.compile(r"\s*(?:[^\s\u2e80-\uffef]+|\S)[、。》」，：；！？）”]*")
"""A word, or a character of a script without blanks; with the punctuation behind it."""


class WrappedHelp(HelpFormatter):
    """Help whose lines fit into the terminal, where a Chinese character takes two columns."""

    @override
    def _split_lines(self, text: str, width: int) -> list[str]:
        lines = [""]
        for word in _WORD.findall(" ".join(text.split())):
            if lines[-1] and columns(lines[-1] + word) > width:
                lines.append("")
            lines[-1] += word if lines[-1] else word.lstrip()
        return lines

    @override
    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = self._split_lines(text, width - len(indent))
        return "\n".join(indent + line for line in lines)


class TranslatedHelp(WrappedHelp, Headed):
    """Help in which Scrapy's own texts are translated, too."""

    @override
    def start_section(self, heading: str | None) -> None:
        super().start_section(tr(heading or ""))

    @override
    def _get_help_string(self, action: Action) -> str:
        return tr(action.help or "")
