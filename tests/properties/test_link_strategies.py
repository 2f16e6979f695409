"""Property tests of the link strategies: ranges, lanes, parents in any order."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.links.shares import WordShare
from topiccrawl.links.strategies import NAMES, strategy
from topiccrawl.links.strategies.contract import NORMAL, PRIOR, REJECTED, GroupStats
from topiccrawl.model import Link, Verdict

if TYPE_CHECKING:
    from topiccrawl.links.strategies import LinkStrategy
    from topiccrawl.model import Evidence

SCORER = WordShare("cup", "football", "goal")
TEXTS = st.lists(st.sampled_from(["cup", "goal", "money", "rain"]), max_size=6).map(" ".join)
LINKS = st.builds(
    Link,
    url=st.sampled_from(["http://a.test/cup/1", "http://a.test/news/2", "http://b.test/"]),
    anchor=TEXTS,
    context=TEXTS,
    block=st.sampled_from([-1, -1, 0, 1]),
)
VERDICTS = st.floats(0, 1).map(lambda score: Verdict(score, relevant=score >= 0.1))
PARENTS = st.lists(st.tuples(VERDICTS, LINKS), min_size=1, max_size=6)

every_strategy = pytest.mark.parametrize("name", [*NAMES, "examples.link_strategy.UrlWords"])
few = settings(max_examples=30)  # seven properties, seven strategies


def folded(chosen: LinkStrategy, offers: list[Evidence]) -> Evidence:
    return reduce(chosen.fold, offers, ())


def evidences(chosen: LinkStrategy, parents: list[tuple[Verdict, Link]]) -> list[Evidence]:
    """Evidence of one URL from each parent, each reached through the previous one."""
    found: list[Evidence] = []
    own: Evidence = ()
    for verdict, link in parents:
        (offer,) = chosen.offers(verdict, own, [link])
        own = offer.evidence
        found.append(own)
    return found


@every_strategy
@few
@given(parents=PARENTS)
def test_values_and_lanes_are_in_range(name: str, parents: list[tuple[Verdict, Link]]) -> None:
    chosen = strategy(name, SCORER)
    found = evidences(chosen, parents)
    for evidence in (*found, folded(chosen, found), ()):
        assert 0.0 <= chosen.value(evidence) <= 1.0
        assert chosen.lane(evidence) in {PRIOR, NORMAL, REJECTED}
        assert 0.0 <= (chosen.expected(evidence) or 0.0) <= 1.0
    assert all(len(evidence) == len(chosen.fields) for evidence in found)


@every_strategy
@few
@given(parents=PARENTS, data=st.data())
def test_the_order_of_parents_does_not_matter(
    name: str, parents: list[tuple[Verdict, Link]], data: st.DataObject
) -> None:
    chosen = strategy(name, SCORER)
    found = evidences(chosen, parents)
    shuffled = data.draw(st.permutations(found))
    assert folded(chosen, shuffled) == pytest.approx(folded(chosen, found))


@every_strategy
@few
@given(parents=PARENTS)
def test_another_parent_never_moves_a_url_down_a_lane(
    name: str, parents: list[tuple[Verdict, Link]]
) -> None:
    chosen = strategy(name, SCORER)
    known: Evidence = ()
    lane = REJECTED
    for evidence in evidences(chosen, parents):
        known = chosen.fold(known, evidence)
        assert chosen.lane(known) <= lane
        lane = chosen.lane(known)


@every_strategy
@few
@given(parents=PARENTS)
def test_seed_has_the_highest_value(name: str, parents: list[tuple[Verdict, Link]]) -> None:
    chosen = strategy(name, SCORER)
    assert chosen.value(()) >= chosen.value(folded(chosen, evidences(chosen, parents)))
    assert chosen.lane(()) == PRIOR
    assert chosen.expected(()) is None


@every_strategy
@few
@given(verdict=VERDICTS, links=st.lists(LINKS, max_size=8))
def test_offers_are_in_the_order_of_the_links(
    name: str, verdict: Verdict, links: list[Link]
) -> None:
    offers = strategy(name, SCORER).offers(verdict, (), links)
    assert [(o.url, o.anchor) for o in offers] == [(link.url, link.anchor) for link in links]


@every_strategy
@few
@given(verdict=VERDICTS, link=LINKS)
def test_rescoring_with_the_same_topic_changes_nothing(
    name: str, verdict: Verdict, link: Link
) -> None:
    chosen = strategy(name, SCORER)
    (offer,) = chosen.offers(verdict, (), [link])
    rescored = chosen.rescore(offer.evidence, offer.anchor, offer.context)
    assert rescored == pytest.approx(offer.evidence)
    row = offer.evidence, offer.anchor, offer.context
    assert chosen.rescore_all([row, row]) == [rescored, rescored]


@every_strategy
@few
@given(groups=st.lists(st.tuples(st.integers(0, 10_000), st.floats(0, 1)), min_size=1, max_size=5))
def test_a_bias_is_bounded(name: str, groups: list[tuple[int, float]]) -> None:
    stats = [GroupStats(pages, pages * mean) for pages, mean in groups]
    assert 0.0 <= strategy(name, SCORER).bias(stats) <= 1.0
