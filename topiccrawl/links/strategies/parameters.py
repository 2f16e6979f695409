"""Parameters of all strategies, each with its source or reason."""

from __future__ import annotations

from dataclasses import dataclass, fields

from topiccrawl.errors import SettingError


@dataclass(frozen=True, slots=True)
class StrategyParameters:
    """Parameters of the link strategies; weights and thresholds in [0, 1] unless noted otherwise.

    Attributes:
        shark_decay: delta of Shark-search 1998: share of the parent's score that a link inherits.
        shark_anchor_weight: beta there: anchor against context; usual value.
        shark_inherited_weight: gamma there: inherited score against neighbourhood; usual value.
        depth_bound: Links that may be followed from the last relevant page; 0 is no bound. The
            paper gives none; 10 cuts off endless off-topic regions and nothing else.
        inlink_decay: xi of Liu et al. 2009, as published.
        inlink_inherited_weight: beta there: inherited against context, as published.
        inlink_potential_weight: theta there: potential score against in-links, as published.
        inlink_full: N there, not published: in-links from which a URL counts as much cited (> 0).
        anchor_threshold: Above it the anchor counts as full context; not published. At .3 a short
            anchor of two or three words contains one of the topic's.
        upper_limit: Page relevance above which all links enter priorQueue; not published: twice the
            lower limit, which is the topic's own (``Verdict.relevant``).
        min_prior: Potential score from which a link enters priorQueue; not published.
        min_normal: Potential score below which a link enters the errorQueue; 0, so that no link
            is rejected for good.
        prior_share: Pops of priorQueue in one turn of the two lanes (paper: 1), at least 1.
        normal_share: Pops of normalQueue in one turn (paper: 1), at least 0.
        block_decay: a of link-block [S3], not published; as xi above.
        block_inherited_weight: c there, not published: both parts weigh the same.
        block_threshold: Score below which a link is never queued; 0 as min_normal.
        block_quantile: Quantile of recent links' scores that the moving threshold follows; 0 is a
            fixed threshold. Not published: small, so that the worst links alone are left out.
        plus_anchor_weight: shark-plus: best anchor against aggregated relevance, 0 to 10.
        plus_context_weight: shark-plus: best context, 0 to 10.
        plus_promise_weight: shark-plus: promise of the link-text model, 0 to 10; 0 turns it off.
        plus_promise_shrink: shark-plus: pages of mean worth each word begins with (> 0).
        plus_half: shark-plus: relevance at which a page is worth one half (> 0).
        plus_shrink: shark-plus: weight of the crawl's mean worth, in parents, 0 to 100.
        plus_prior_weight: shark-plus: weight of host and directory priors, 0 to 10.
        plus_parents_weight: shark-plus: weight of the worth of all parents and the best one, 0 to
            10.
        plus_region_weight: shark-plus: weight of the worth of pages behind links in the same
            place of the page, directory and site, 0 to 10.
        plus_section_weight: shark-plus: weight of sections that the topic names, 0 to 10.
        plus_prior_share: shark-plus: pops of priorQueue in one turn of the two lanes.
        plus_normal_share: shark-plus: pops of normalQueue in one turn.
        plus_slack: shark-plus: turns that a queue may be early or late, 0 to 1000: the better URL
            of both queues comes first. The share holds to so many pops.
        plus_upper_limit: shark-plus: relevance from which all links of a relevant page enter
            priorQueue; a topic's ``upper_limit`` sets it.
        plus_min_prior: shark-plus: score from which a link enters priorQueue without a term; 1:
            none. A topic's ``min_prior`` sets it.
        shrinkage: shark-plus: weight of the wider group's mean in a narrower one, in pages (> 0).
    """

    shark_decay: float = 0.5
    shark_anchor_weight: float = 0.8
    shark_inherited_weight: float = 0.5
    depth_bound: int = 10
    inlink_decay: float = 0.6
    inlink_inherited_weight: float = 0.85
    inlink_potential_weight: float = 0.85
    inlink_full: float = 10.0
    anchor_threshold: float = 0.3
    upper_limit: float = 0.1
    min_prior: float = 0.1
    min_normal: float = 0.0
    prior_share: int = 1
    normal_share: int = 1
    block_decay: float = 0.6
    block_inherited_weight: float = 0.5
    block_threshold: float = 0.0
    block_quantile: float = 0.1
    plus_parents_weight: float = 1.0
    plus_anchor_weight: float = 0.5
    plus_context_weight: float = 0.3
    plus_promise_weight: float = 0.4
    plus_promise_shrink: float = 3.0
    plus_half: float = 0.1
    plus_shrink: float = 1.0
    plus_prior_weight: float = 1.0
    plus_region_weight: float = 0.25
    plus_section_weight: float = 1.0
    plus_prior_share: int = 6
    plus_normal_share: int = 1
    plus_slack: int = 10
    plus_upper_limit: float = 0.0
    plus_min_prior: float = 1.0
    shrinkage: float = 3.0

    def __post_init__(self) -> None:
        for field in fields(self):
            low, high = _RANGES.get(field.name, (0.0, 1.0))
            value = getattr(self, field.name)
            if not low <= value <= high:
                raise SettingError(
                    "Link strategy parameter {name} = {value!r}: give a number from "
                    "{low:g} to {high:g}.",
                    name=field.name,
                    value=value,
                    low=low,
                    high=high,
                )


_RANGES = {
    "depth_bound": (0, 1_000),
    "inlink_full": (1, 1e9),
    "prior_share": (1, 1_000),
    "normal_share": (0, 1_000),
    "plus_anchor_weight": (0, 10),
    "plus_context_weight": (0, 10),
    "plus_promise_weight": (0, 10),
    "plus_promise_shrink": (1e-6, 1e9),
    "plus_half": (1e-6, 1),
    "plus_shrink": (0, 100),
    "plus_prior_weight": (0, 10),
    "plus_parents_weight": (0, 10),
    "plus_region_weight": (0, 10),
    "plus_section_weight": (0, 10),
    "plus_prior_share": (1, 1_000),
    "plus_normal_share": (0, 1_000),
    "plus_slack": (0, 1_000),
    "shrinkage": (1e-6, 1e9),
}
"""Ranges of the parameters that are not weights or thresholds in [0, 1]."""
