"""Tests of the link strategies: formulas computed by hand, lanes, merging of parents."""

from __future__ import annotations

import pytest

from tests.contracts.strategies import Best
from tests.unit.links.shares import WordShare
from topiccrawl.errors import SettingError
from topiccrawl.links.strategies import DEFAULT, NAMES, FirstCome, StrategyParameters, strategy
from topiccrawl.links.strategies.contract import LEARNT, NORMAL, PRIOR, REJECTED, GroupStats
from topiccrawl.links.strategies.link_texts import MAX_KEPT, block_texts, score_links
from topiccrawl.model import Evidence, Link, Verdict

TOPIC = WordShare("cup", "football")
ANCHOR_HALF = Link("http://a.test/1", "cup news", "nothing to see")  # anchor .5, context 0
CONTEXT_HALF = Link("http://a.test/2", "more", "football tonight")  # anchor 0, context .5
BLOCK = (
    Link("http://a.test/3", "cup", "Sport", 0),  # block: "Sport cup money" = 1/3
    Link("http://a.test/4", "money", "Sport", 0),
)
RELEVANT = Verdict(0.4, relevant=True)
IRRELEVANT = Verdict(0.05, relevant=False)
NOTHING = Verdict(0.0, relevant=False)


def evidence_of(
    name: str, link: Link, verdict: Verdict, own: Evidence = (), **numbers: float
) -> Evidence:
    chosen = strategy(name, TOPIC, StrategyParameters(**numbers))  # type: ignore[arg-type]
    (offer,) = chosen.offers(verdict, own, [link])
    return offer.evidence


def test_unknown_strategy_is_refused_with_the_available_names() -> None:
    assert set(NAMES) == {"bfs", "best-first", "shark", "shark-inlink", "link-block", "shark-plus"}
    assert DEFAULT in NAMES
    with pytest.raises(SettingError, match=r"'sharc'.*bfs, best-first, shark"):
        strategy("sharc", TOPIC)
    with pytest.raises(SettingError, match="No module named 'nowhere'"):
        strategy("nowhere.Strategy", TOPIC)
    with pytest.raises(SettingError, match="Missing"):
        strategy("tests.contracts.strategies.Missing", TOPIC)
    with pytest.raises(SettingError, match="BaseStrategy"):
        strategy("os.abort", TOPIC)


def test_a_strategy_by_dotted_path_has_the_path_as_its_name() -> None:
    path = "tests.contracts.strategies.Best"
    assert strategy(path, TOPIC).name == strategy(path).name == path
    assert Best.name == "best"


@pytest.mark.parametrize(
    "wrong", [{"shark_decay": 1.1}, {"inlink_full": 0.0}, {"prior_share": 0}, {"min_prior": -0.1}]
)
def test_parameter_out_of_range_is_refused_by_name(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingError, match=f"{next(iter(wrong))} = "):
        StrategyParameters(**wrong)  # type: ignore[arg-type]


def test_breadth_first_counts_links_from_the_seed() -> None:
    bfs = strategy("bfs", TOPIC)
    (first,) = bfs.offers(NOTHING, (), [ANCHOR_HALF])
    (second,) = bfs.offers(RELEVANT, first.evidence, [ANCHOR_HALF])
    assert (first.evidence, second.evidence) == ((1.0,), (2.0,))
    assert bfs.value(()) > bfs.value(first.evidence) > bfs.value(second.evidence)
    assert bfs.fold(second.evidence, first.evidence) == first.evidence


def test_best_first_uses_the_best_parents_relevance() -> None:
    best = strategy("best-first", TOPIC)
    (offer,) = best.offers(RELEVANT, (), [CONTEXT_HALF])
    assert best.value(best.fold((0.1,), offer.evidence)) == 0.4


def test_shark_matches_the_published_formula() -> None:
    # inherited = .5 * .4 = .2; anchor .5 > 0, so context 1;
    # neighbourhood = .8 * .5 + .2 * 1 = .6; score = .5 * .2 + .5 * .6 = .4
    assert evidence_of("shark", ANCHOR_HALF, RELEVANT) == pytest.approx((0.4, 0.2, 9))
    # anchor 0: neighbourhood = .8 * 0 + .2 * .5 = .1; score = .5 * .2 + .5 * .1 = .15
    assert evidence_of("shark", CONTEXT_HALF, RELEVANT) == pytest.approx((0.15, 0.2, 9))
    # sim(p) = 0: inherited = .5 * inherited(p) = .5 * .2 = .1; score = .5 * .1 + .5 * .1 = .1
    assert evidence_of("shark", CONTEXT_HALF, NOTHING, (0.4, 0.2, 9.0)) == pytest.approx(
        (0.1, 0.1, 8)
    )


def test_shark_depth_is_limited_and_reset_by_a_relevant_page() -> None:
    shark = strategy("shark", TOPIC, StrategyParameters(depth_bound=2))
    evidence: Evidence = ()
    lanes = []
    for verdict in (NOTHING, NOTHING, NOTHING, RELEVANT):
        (offer,) = shark.offers(verdict, evidence, [CONTEXT_HALF])
        evidence = offer.evidence
        lanes.append(offer.lane)
    assert lanes == [PRIOR, PRIOR, REJECTED, PRIOR]
    assert shark.lane(shark.fold((0.5, 0.0, -1.0), (0.1, 0.0, 0.0))) == PRIOR
    unlimited = strategy("shark", TOPIC, StrategyParameters(depth_bound=0))
    (offer,) = unlimited.offers(NOTHING, (0.1, 0.1, 0.0), [CONTEXT_HALF])
    assert offer.lane == PRIOR


def test_improved_shark_matches_the_published_formula() -> None:
    # inherited = .6 * .4 = .24; anchor .5 > .3, so context 1
    # potential = .85 * .24 + .15 * 1 = .354
    potential, *rest = evidence_of("shark-inlink", ANCHOR_HALF, RELEVANT)
    assert [potential, *rest] == pytest.approx([0.354, 1, 0.24, PRIOR])
    # value = .85 * .354 + .15 * 1 / 10 = .3159; with 4 parents .15 * 4 / 10 = .06: .3609
    inlink = strategy("shark-inlink", TOPIC)
    assert inlink.value((0.354, 1.0, 0.24, 0.0)) == pytest.approx(0.3159)
    assert inlink.value((0.354, 4.0, 0.24, 0.0)) == pytest.approx(0.3609)
    assert inlink.value((0.354, 10.0, 0.24, 0.0)) == inlink.value((0.354, 99.0, 0.24, 0.0))


def test_improved_shark_inherits_through_irrelevant_pages() -> None:
    # p irrelevant: inherited = .6 * inherited(p) = .6 * .24 = .144
    # anchor 0: context .5; potential = .85 * .144 + .15 * .5 = .1974
    own = (0.354, 1.0, 0.24, 0.0)
    assert evidence_of("shark-inlink", CONTEXT_HALF, IRRELEVANT, own)[:3] == pytest.approx(
        (0.1974, 1, 0.144)
    )
    assert evidence_of("shark-inlink", CONTEXT_HALF, IRRELEVANT)[2] == 0.0


@pytest.mark.parametrize(
    ("verdict", "link", "lane"),
    [
        # above upperLimit (.3): priorQueue whatever the link says
        (Verdict(0.31, relevant=True), Link("http://a.test/x", "money", ""), PRIOR),
        # between the limits: a keyword in the anchor, or in the URL
        (
            Verdict(0.2, relevant=True),
            Link("http://a.test/x", "about the great cup", ""),
            PRIOR,
        ),
        (Verdict(0.2, relevant=True), Link("http://a.test/football/x", "money", ""), PRIOR),
        # neither: potential = .85 * .6 * .2 = .102 >= minPrior .1, and .85 * .6 * .15 = .0765
        (Verdict(0.2, relevant=True), Link("http://a.test/x", "money", ""), PRIOR),
        (Verdict(0.15, relevant=True), Link("http://a.test/x", "money", ""), NORMAL),
        # at upperLimit is between the limits: .85 * .6 * .3 = .153
        (Verdict(0.3, relevant=True), Link("http://a.test/x", "money", ""), PRIOR),
        # irrelevant page: a keyword does not help, the potential does: .15 * 1 = .15
        (IRRELEVANT, Link("http://a.test/x", "far away from any cup", ""), NORMAL),
        (IRRELEVANT, Link("http://a.test/x", "cup", ""), PRIOR),
        (IRRELEVANT, Link("http://a.test/x", "money", ""), NORMAL),
    ],
)
def test_improved_shark_chooses_the_lane(verdict: Verdict, link: Link, lane: int) -> None:
    chosen = strategy("shark-inlink", TOPIC, StrategyParameters(upper_limit=0.3))
    (offer,) = chosen.offers(verdict, (), [link])
    assert offer.lane == lane


def test_link_below_min_normal_is_rejected_until_a_better_parent() -> None:
    strict = strategy("shark-inlink", TOPIC, StrategyParameters(min_normal=0.05))
    (poor,) = strict.offers(NOTHING, (), [Link("http://a.test/x", "money", "")])
    (good,) = strict.offers(RELEVANT, (), [Link("http://a.test/x", "cup", "")])
    assert poor.lane == strict.lane(poor.evidence) == REJECTED
    assert strict.lane(strict.fold(poor.evidence, good.evidence)) == PRIOR
    assert strict.lane(strict.fold(good.evidence, poor.evidence)) == PRIOR


def test_lane_shares_follow_the_settings() -> None:
    assert strategy("shark-inlink", TOPIC).share == (1, 1)
    parameters = StrategyParameters(prior_share=3, normal_share=2)
    assert strategy("shark-inlink", TOPIC, parameters).share == (3, 2)


def test_link_block_matches_the_published_formula() -> None:
    # inherited = .6 * .4 = .24; anchor_score of "Sport cup money" = 1/3
    # score = .5 * .24 + .5 / 3 = .286667, the same for both links
    offers = strategy("link-block", TOPIC).offers(RELEVANT, (), BLOCK)
    assert [o.evidence for o in offers] == [pytest.approx((0.286667, 0.24), abs=1e-6)] * 2
    # in running text the anchor alone counts: .5 * .24 + .5 * .5 = .37
    assert evidence_of("link-block", ANCHOR_HALF, RELEVANT) == pytest.approx((0.37, 0.24))
    # irrelevant page: .6 * .24 = .144; .5 * .144 + .5 * .5 = .322
    assert evidence_of("link-block", ANCHOR_HALF, IRRELEVANT, (0.37, 0.24)) == pytest.approx(
        (0.322, 0.144)
    )


def test_link_block_queues_only_above_its_threshold() -> None:
    strict = strategy("link-block", TOPIC, StrategyParameters(block_threshold=0.2))
    lanes = [o.lane for o in strict.offers(IRRELEVANT, (), [ANCHOR_HALF, CONTEXT_HALF])]
    assert lanes == [PRIOR, REJECTED]  # .5 * .5 = .25 and 0


def test_block_text_replaces_the_context() -> None:
    assert block_texts(BLOCK) == {0: "Sport cup money"}
    assert [s.context for s in score_links(BLOCK, TOPIC)] == pytest.approx([1 / 3, 1 / 3])
    long = [Link(f"http://a.test/{n}", "word " * 30, "head", 7) for n in range(50)]
    assert all(len(s.text) <= MAX_KEPT for s in score_links(long, TOPIC))


def test_each_text_of_a_batch_is_scored_once() -> None:
    batches: list[list[str]] = []

    class Recorder:
        def score_many(self, texts: list[str]) -> list[float]:
            batches.append(texts)
            return TOPIC.score_many(texts)

        def contains(self, text: str) -> bool:
            return TOPIC.contains(text)

    links = [*BLOCK, *BLOCK, ANCHOR_HALF, CONTEXT_HALF]
    strategy("shark", Recorder()).offers(RELEVANT, (), links)
    assert [len(texts) for texts in batches] == [len(set(batches[0]))]


def test_shark_plus_counts_relevant_and_irrelevant_parents() -> None:
    plus = strategy("shark-plus", TOPIC)
    link = Link("http://a.test/x", "money", "")
    (good,) = plus.offers(RELEVANT, (), [link])
    (poor,) = plus.offers(NOTHING, (), [link])
    one = plus.value(good.evidence)
    assert plus.value(plus.fold(good.evidence, good.evidence)) > one
    assert plus.value(plus.fold(good.evidence, poor.evidence)) < one


def test_shark_plus_expectation_depends_on_anchor_and_prior() -> None:
    plus = strategy("shark-plus", TOPIC)
    named = plus.offers(RELEVANT, (), [Link("http://a.test/x", "cup football", "")])[0].evidence
    other = plus.offers(NOTHING, (), [Link("http://a.test/y", "money", "")])[0].evidence
    high, low = plus.expected(named), plus.expected(other)
    assert high is not None
    assert low is not None
    assert 0.0 < low < 1 / 3 < high < 1.0
    plus.bias([GroupStats(100, 40.0)])
    assert plus.expected(named) == pytest.approx(high - 0.15 * 0.4 / 0.36)
    assert strategy("best-first", TOPIC).expected(named) is None


def test_shark_plus_learns_from_directories() -> None:
    plus = strategy("shark-plus", TOPIC)
    crawl, host = GroupStats(100, 10.0), GroupStats(20, 4.0)
    good, poor = GroupStats(10, 5.0), GroupStats(10, 0.0)
    there = plus.bias([crawl, host])
    assert plus.bias([crawl, host, good]) > there > plus.bias([crawl, host, poor])
    assert plus.bias([crawl, host, GroupStats(0, 0.0)]) == pytest.approx(there)
    assert plus.group("http://a.test/news/2020/x.html") == ("/news/", "/news/#/")


def test_new_topic_changes_score_and_version() -> None:
    for name in ("shark", "shark-inlink", "link-block", "shark-plus"):
        chosen = strategy(name, TOPIC)
        (offer,) = chosen.offers(RELEVANT, (), [ANCHOR_HALF])
        before = chosen.version
        chosen.adopt(WordShare("money"))
        assert chosen.version != before
        rescored = chosen.rescore(offer.evidence, offer.anchor, offer.context)
        assert chosen.value(rescored) < chosen.value(offer.evidence)


def test_first_come_is_a_strategy_without_a_topic() -> None:
    plain = FirstCome()
    assert plain.value(()) == plain.value(plain.fold((), (0.3,)))
    assert (plain.lane(()), plain.group("http://a.test/x/y"), plain.bias([])) == (PRIOR, (), 0.0)
    assert plain.rescore((0.1,), "a", "b") == (0.1,)


def test_link_block_threshold_follows_recent_scores() -> None:
    adaptive = strategy("link-block", TOPIC)
    poor, good = (Link("http://a.test/x", text) for text in ("money", "cup"))
    assert adaptive.lane((0.0, 0.0)) == PRIOR
    adaptive.offers(RELEVANT, (), [good] * 1_000)
    (low,) = adaptive.offers(NOTHING, (), [poor])
    assert low.lane == adaptive.lane(low.evidence) == REJECTED
    before = adaptive.version
    adaptive.offers(NOTHING, (), [poor] * 2_000)
    assert adaptive.lane(low.evidence) == PRIOR
    assert adaptive.version != before  # rejected links are re-scored


def test_link_block_threshold_is_fixed_at_quantile_zero() -> None:
    fixed = strategy("link-block", TOPIC, StrategyParameters(block_quantile=0.0))
    fixed.offers(RELEVANT, (), [Link("http://a.test/x", "cup")] * 2_000 + [Link("http://a.test/y")])
    assert fixed.lane((0.25, 0.0)) == PRIOR


def test_shark_plus_queues_direct_evidence_in_the_prior_lane() -> None:
    plus = strategy("shark-plus", TOPIC)
    assert plus.share[0] > plus.share[1] > 0
    plain, named = Link("http://a.test/x", "money"), Link("http://a.test/x", "cup")
    lanes = [
        plus.offers(verdict, (), [link])[0].lane
        for verdict in (RELEVANT, NOTHING)
        for link in (plain, named)
    ]
    assert lanes == [PRIOR, PRIOR, NORMAL, PRIOR]


def test_shark_plus_applies_the_thresholds() -> None:
    lanes = {}
    for name, numbers in {
        "shipped": StrategyParameters(),
        "upper_limit": StrategyParameters(plus_upper_limit=RELEVANT.relevance + 0.01),
        "min_prior": StrategyParameters(plus_min_prior=0.01),
        "min_normal": StrategyParameters(min_normal=0.99),
    }.items():
        plus = strategy("shark-plus", TOPIC, numbers)
        plus.bias([GroupStats(10, 3.0)])
        plain, named = Link("http://a.test/x", "money"), Link("http://a.test/y", "cup")
        found = [
            plus.offers(verdict, (), [link])[0].lane
            for verdict, link in ((RELEVANT, plain), (NOTHING, plain), (NOTHING, named))
        ]
        lanes[name] = found
    assert lanes == {
        "shipped": [PRIOR, NORMAL, PRIOR],
        "upper_limit": [NORMAL, NORMAL, PRIOR],
        "min_prior": [PRIOR, PRIOR, PRIOR],
        "min_normal": [PRIOR, REJECTED, PRIOR],
    }


def test_shark_plus_prefers_other_sites_after_relevant_pages() -> None:
    plus = strategy("shark-plus", TOPIC)
    plus.bias([GroupStats(10, 3.0)])
    foreign_link = Link("http://b.test/", "more", foreign=True)
    (offer,) = plus.offers(RELEVANT, (), [foreign_link])
    assert offer.lane == NORMAL
    for _ in range(10):
        plus.reached(offer.evidence, RELEVANT.relevance)
    assert plus.offers(RELEVANT, (), [foreign_link])[0].lane == PRIOR


def test_shark_plus_learns_from_regions() -> None:
    plus = strategy("shark-plus", TOPIC)
    lists, menu = (Link("http://a.test/x", "more", regions=(n, 10 + n, 20 + n)) for n in (1, 2))
    (good,), (poor,) = (plus.offers(NOTHING, (), [link]) for link in (lists, menu))
    assert plus.value(good.evidence) == plus.value(poor.evidence)
    for _ in range(10):
        plus.reached(good.evidence, RELEVANT.relevance)
        plus.reached(poor.evidence, 0.0)
    (good,), (poor,) = (plus.offers(NOTHING, (), [link]) for link in (lists, menu))
    assert plus.value(good.evidence) > plus.value(poor.evidence)


def test_shark_plus_follows_named_lists_and_their_next_pages() -> None:
    plus = strategy("shark-plus", TOPIC)
    (hub,) = plus.offers(NOTHING, (), [ANCHOR_HALF])
    (other,) = plus.offers(NOTHING, (), [Link("http://a.test/other", "more")])
    article, second = Link("http://a.test/x", "story"), Link("http://a.test/2", "2")
    inside, paging = plus.offers(NOTHING, hub.evidence, [article, second])
    outside, _ = plus.offers(NOTHING, other.evidence, [article, second])
    assert plus.value(inside.evidence) > plus.value(outside.evidence)
    further, _ = plus.offers(NOTHING, paging.evidence, [article, second])
    assert plus.value(further.evidence) == plus.value(inside.evidence)
    beyond, _ = plus.offers(NOTHING, inside.evidence, [article, second])
    assert plus.value(beyond.evidence) == plus.value(outside.evidence)
    (single,) = plus.offers(NOTHING, hub.evidence, [article])  # no list: no further page
    assert plus.value(single.evidence) == plus.value(outside.evidence)


def test_shark_plus_scores_next_pages_among_their_articles() -> None:
    plus = strategy("shark-plus", TOPIC)
    named, other = Link("http://a.test/x", "cup final"), Link("http://a.test/y", "weather report")
    first, last, second = plus.offers(RELEVANT, (), [named, other, Link("http://a.test/2", "2")])
    values = [plus.value(offer.evidence) for offer in (first, second, last)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == len(values)
    *_, beside = plus.offers(RELEVANT, (), [other, other, Link("http://a.test/2", "2")])
    assert plus.value(beside.evidence) == plus.value(last.evidence)


def test_shark_plus_ignores_menus_when_scoring_next_pages() -> None:
    plus = strategy("shark-plus", TOPIC)
    menu = [Link(f"http://a.test/{name}", name, regions=(1, 1, 1)) for name in ("cup", "sport")]
    stories = [Link("http://a.test/x", "a long story about the weather", regions=(2, 2, 2))]
    *_, second = plus.offers(RELEVANT, (), [*menu, *stories, Link("http://a.test/2", "2")])
    *_, alone = plus.offers(RELEVANT, (), [*stories, Link("http://a.test/2", "2")])
    assert second.evidence == alone.evidence
    (only,) = plus.offers(RELEVANT, (), [Link("http://a.test/2", "2")])
    assert plus.value(only.evidence) == plus.value(alone.evidence)


@pytest.mark.parametrize("promise", [0.0, 0.4])
def test_shark_plus_lowers_sections_without_relevant_pages(promise: float) -> None:
    plus = strategy("shark-plus", TOPIC, StrategyParameters(plus_promise_weight=promise))
    (hub,) = plus.offers(NOTHING, (), [ANCHOR_HALF])
    page_of_list = [Link("http://a.test/x", ""), Link("http://a.test/2", "2")]
    inside, _ = plus.offers(NOTHING, hub.evidence, page_of_list)
    outside, _ = plus.offers(NOTHING, (), page_of_list)
    assert plus.value(inside.evidence) > plus.value(outside.evidence)
    for page in range(200):
        plus.reached(inside.evidence, 0.0)
        plus.reached(outside.evidence, RELEVANT.relevance)
        plus.learn(f"story{page}", "", 0.0)
    assert plus.version >= LEARNT
    assert plus.value(inside.evidence) == plus.value(outside.evidence)


@pytest.mark.parametrize("more", [(), (0.0, 0.0, 0.8)], ids=["revision 2", "revisions 3 and 4"])
def test_shark_plus_upgrades_evidence_of_earlier_revisions(
    more: tuple[float, ...],
) -> None:
    plus = strategy("shark-plus", TOPIC)
    (offer,) = plus.offers(RELEVANT, (), [ANCHOR_HALF])
    before = plus.fields.index("section")
    old = (*offer.evidence[:before], *more)
    assert offer.evidence[before:] == (0.0, 0.0, 0.0, 0.0)
    assert plus.lane(old) == PRIOR
    plus.reached(old, 0.5)
    assert plus.value(old) == pytest.approx(plus.value(offer.evidence))
    assert plus.expected(old) == pytest.approx(plus.expected(offer.evidence))
    assert plus.fold(old, offer.evidence) == plus.fold(offer.evidence, offer.evidence)


def test_a_strategy_derived_from_shark_plus_may_append_a_number() -> None:
    plus = strategy("shark-plus", TOPIC)
    links = [ANCHOR_HALF, CONTEXT_HALF, Link("http://a.test/2", "2")]
    *_, listed = plus.offers(RELEVANT, (), links)
    longer = (*listed.evidence, 0.7)
    assert plus.value(longer) == plus.value(listed.evidence)
    assert plus.fold(longer, longer)[-1] == plus.rescore(longer, "2", "")[-1] == 0.7
