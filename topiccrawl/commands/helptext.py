"""Help of commands: translated, and wrapped by the columns of a terminal."""

from __future__ import annotations

import re
from argparse import Action, HelpFormatter

from scrapy.commands import ScrapyHelpFormatter as Headed
from typing_extensions import override

from topiccrawl.messages import columns, tr

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
