"""Link strategies by name or dotted path: published ones, and the project's own as the default."""

from __future__ import annotations

import pkgutil

from topiccrawl.errors import SettingError, translated
from topiccrawl.links.strategies.baselines import BestFirst, BreadthFirst, FirstCome
from topiccrawl.links.strategies.contract import (
    NORMAL,
    PRIOR,
    REJECTED,
    BaseStrategy,
    GroupStats,
    LinkScorer,
    LinkStrategy,
)
from topiccrawl.links.strategies.link_block import LinkBlock
from topiccrawl.links.strategies.link_texts import MAX_KEPT
from topiccrawl.links.strategies.parameters import StrategyParameters
from topiccrawl.links.strategies.shark import Shark, SharkInlink
from topiccrawl.links.strategies.shark_plus import SharkPlus
from topiccrawl.messages import NameList, message

DEFAULT = "shark-plus"

_BY_NAME: dict[str, type[BaseStrategy]] = {
    one.name: one for one in (BreadthFirst, BestFirst, Shark, SharkInlink, LinkBlock, SharkPlus)
}

NAMES = tuple(_BY_NAME)
"""Names of the built-in strategies."""


def strategy(
    name: str, scorer: LinkScorer | None = None, parameters: StrategyParameters | None = None
) -> LinkStrategy:
    """Create a strategy by name or dotted path.

    Args:
        name: One of ``NAMES``, or the dotted path of a subclass of ``BaseStrategy``, which becomes
            the name of the strategy.
        scorer: Scorer of texts against the topic; None if stored evidence is only read.
        parameters: Parameters of the formulas; None for the defaults.

    Raises:
        SettingError: There is no strategy of this name; the message lists the names.
    """
    if name in _BY_NAME:
        return _BY_NAME[name](scorer, parameters)
    if "." not in name:
        known = NameList(NAMES)
        raise SettingError(
            "Unknown link strategy {name!r}: choose one of {known}, or write a dotted path.",
            name=name,
            known=known,
        )
    text = message("The link strategy {name!r} cannot be loaded: {error}.")
    with translated(SettingError, text, (ImportError, AttributeError, ValueError), name=name):
        found = pkgutil.resolve_name(name)
    if not (isinstance(found, type) and issubclass(found, BaseStrategy)):
        raise SettingError(
            "The link strategy {name!r} is no class derived from BaseStrategy.", name=name
        )
    custom = found(scorer, parameters)
    custom.name = name
    return custom


def stored_strategy(name: str) -> LinkStrategy:
    """Create a strategy by name to read and copy stored evidence without a topic."""
    try:
        return strategy(name)
    except SettingError:  # the class is not installed here
        return FirstCome()


__all__ = [
    "DEFAULT",
    "MAX_KEPT",
    "NAMES",
    "NORMAL",
    "PRIOR",
    "REJECTED",
    "BaseStrategy",
    "FirstCome",
    "GroupStats",
    "LinkScorer",
    "LinkStrategy",
    "StrategyParameters",
    "stored_strategy",
    "strategy",
]
