"""Crawl strategies by name: the published ones as published, the project's own as the default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topiccrawl.errors import SettingError
from topiccrawl.links.strategies.baselines import BestFirst, BreadthFirst, FirstCome
from topiccrawl.links.strategies.contract import LinkScorer, LinkStrategy
from topiccrawl.links.strategies.link_block import LinkBlock
from topiccrawl.links.strategies.parameters import StrategyParameters
from topiccrawl.links.strategies.shark import Shark
from topiccrawl.links.strategies.shark_inlink import SharkInlink
from topiccrawl.links.strategies.shark_plus import SharkPlus

if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT = "shark-plus"

_BY_NAME: dict[str, Callable[[LinkScorer, StrategyParameters], LinkStrategy]] = {
    BreadthFirst.name: BreadthFirst,
    BestFirst.name: BestFirst,
    Shark.name: Shark,
    SharkInlink.name: SharkInlink,
    LinkBlock.name: LinkBlock,
    SharkPlus.name: SharkPlus,
}

NAMES = tuple(_BY_NAME)
"""Names of all strategies."""


def strategy(
    name: str, scorer: LinkScorer, parameters: StrategyParameters | None = None
) -> LinkStrategy:
    """Return the strategy of that name.

    Raises:
        SettingError: The name is unknown; the message lists the valid ones.
    """
    if name not in _BY_NAME:
        raise SettingError(f"Unknown link strategy {name!r}: choose one of {', '.join(NAMES)}.")
    return _BY_NAME[name](scorer, parameters or StrategyParameters())


__all__ = [
    "DEFAULT",
    "NAMES",
    "FirstCome",
    "LinkScorer",
    "LinkStrategy",
    "StrategyParameters",
    "strategy",
]
