"""Frontiers to run the contract suite over: each named here makes, closes and opens one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

import pytest

from tests.contracts.strategies import Plain
from topiccrawl.frontier.contract import Frontier, Limits, Politeness, Strategy
from topiccrawl.frontier.embedded import EmbeddedFrontier

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUICK = Politeness(delay=0.0, jitter=0.0, adaptive=False, robots=False, concurrency=100)


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now

    def __iadd__(self, seconds: float) -> Self:
        self.now += seconds
        return self


class Make(Protocol):
    """Opens the test's frontier; called again after ``close``, it opens the same state."""

    clock: Clock

    def __call__(
        self,
        politeness: Politeness = QUICK,
        limits: Limits = ...,
        strategy: Strategy | None = None,
        share: tuple[int, int] | None = None,
    ) -> Frontier: ...


class MakeEmbedded:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = Clock()
        self.opened: list[EmbeddedFrontier] = []

    def __call__(
        self,
        politeness: Politeness = QUICK,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        strategy: Strategy | None = None,
        share: tuple[int, int] | None = None,
    ) -> Frontier:
        frontier = EmbeddedFrontier(
            self.folder,
            strategy or Plain(),
            politeness,
            limits,
            clock=self.clock,
            share=share,
            sync="never",
        )
        self.opened.append(frontier)
        return frontier


@pytest.fixture(params=["embedded"])
def make(tmp_path: Path) -> Iterator[Make]:
    maker = MakeEmbedded(tmp_path / "frontier")
    yield maker
    for frontier in maker.opened:
        frontier.close()


@pytest.fixture(params=["embedded"])
def elsewhere(tmp_path: Path, make: Make) -> Iterator[Make]:
    """A second, empty frontier, of each implementation, on the same clock."""
    maker = MakeEmbedded(tmp_path / "elsewhere")
    maker.clock = make.clock
    yield maker
    for frontier in maker.opened:
        frontier.close()
