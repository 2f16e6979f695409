"""Terminal commands for the operator: `scrapy why`, `scrapy topics` and others.

Scrapy imports this package before it builds the parser of a command, whose texts are translated.
"""

from __future__ import annotations

from topiccrawl.messages import message, translate_argparse

ARGPARSE = (
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

translate_argparse()
