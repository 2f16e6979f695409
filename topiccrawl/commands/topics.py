"""``scrapy topics list|show``: which topics there are, and how one is understood."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError
from typing_extensions import override

from topiccrawl.terminal import OperatorCommand, say
from topiccrawl.topic import available, resolve

if TYPE_CHECKING:
    import argparse

    from topiccrawl.topic import Topic


class Command(OperatorCommand):
    """List topic files, or show how a topic is read."""

    @override
    def syntax(self) -> str:
        return "list | show <topic>"

    @override
    def short_desc(self) -> str:
        return "List topic files, or show how a topic (file, name, words, sentence) is understood"

    @override
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        match args:
            case ["list"] | []:
                say(*(f"{name:<28} {where}" for name, where in available()))
            case ["show", argument]:
                say(*describe(resolve(argument)))
            case _:
                raise UsageError


def describe(topic: Topic) -> list[str]:
    """Return the lines that show a topic."""
    return [
        topic.name,
        *(f"  term       {term} × {weight:g}" for term, weight in topic.terms.items()),
        *(f"  synonyms   {term}: {', '.join(words)}" for term, words in topic.synonyms.items()),
        *(f"  not        {term} × {weight:g}" for term, weight in topic.negative.items()),
        *(f"  seed       {seed}" for seed in topic.seeds),
        *(f"  only host  {host}" for host in topic.allowed_hosts),
        *(f"  no host    {host}" for host in topic.denied_hosts),
    ]
