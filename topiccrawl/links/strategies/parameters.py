"""Parameters of the strategies, with their sources or reasons."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from topiccrawl.errors import SettingError
from topiccrawl.messages import message

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class StrategyParameters:
    """Parameters of the link strategies; weights and thresholds in [0, 1] unless noted otherwise.

    Attributes:
        shark_decay: delta of Shark-search 1998: share of the parent's score inherited by a link.
        shark_anchor_weight: beta of Shark-search: weight of anchor against context; usual value.
        shark_inherited_weight: gamma of Shark-search: weight of the inherited score against the
            neighbourhood; usual value.
        depth_bound: Most links followed from the last relevant page; 0 is no bound. The paper gives
            no value; 10 only cuts off endless off-topic regions.
        inlink_decay: xi of Liu et al. 2009, as published.
        inlink_inherited_weight: beta of Liu et al.: inherited score against context, as published.
        inlink_potential_weight: theta of Liu et al.: potential score against in-links, as
            published.
        inlink_full: N of Liu et al., not published: number of in-links at which their part of the
            score saturates (> 0).
        anchor_threshold: Anchor similarity above which the context counts as 1; not published. At
            0.3 a short anchor of two or three words contains one topic term.
        upper_limit: Page relevance above which all links enter priorQueue; not published. The
            default is twice the default lower limit of topics (``Verdict.relevant``).
        min_prior: Potential score from which a link enters priorQueue; not published.
        min_normal: Potential score below which a link enters the errorQueue; 0 by default, so that
            no link is rejected permanently.
        prior_share: Pops from priorQueue in one round of both lanes (paper: 1), at least 1.
        normal_share: Pops from normalQueue in one round (paper: 1), at least 0.
        block_decay: a of link-block [S3], not published; same value as ``inlink_decay``.
        block_inherited_weight: c of link-block, not published; equal weights.
        block_threshold: Score below which a link is never queued; 0, as ``min_normal``.
        block_quantile: Quantile of recent link scores used as the threshold; 0 fixes the threshold.
            Not published; small, so that only the worst links are left out.
        plus_anchor_weight: shark-plus: weight of the best anchor, 0 to 10.
        plus_context_weight: shark-plus: weight of the best context, 0 to 10.
        plus_promise_weight: shark-plus: weight of the link-text model, 0 to 10; 0 disables it.
        plus_promise_shrink: shark-plus: weight of the mean page score for each word, in pages (>
            0).
        plus_half: shark-plus: relevance at which the page score is 0.5 (> 0).
        plus_shrink: shark-plus: weight of the crawl's mean page score, in parents, 0 to 100.
        plus_prior_weight: shark-plus: weight of host and directory priors, 0 to 10.
        plus_parents_weight: shark-plus: weight of the scores of all parents and of the best parent,
            0 to 10.
        plus_region_weight: shark-plus: weight of the scores of pages behind links at the same
            position of the page, directory and site, 0 to 10.
        plus_section_weight: shark-plus: weight of sections named by topic terms, 0 to 10.
        plus_prior_share: shark-plus: pops from priorQueue in one round of both lanes.
        plus_normal_share: shark-plus: pops from normalQueue in one round.
        plus_slack: shark-plus: rounds by which a lane may be early or late, 0 to 1000, so that the
            lane with the better URL is served. The shares hold within that number of pops.
        plus_upper_limit: shark-plus: relevance from which all links of a relevant page enter
            priorQueue; a topic's ``upper_limit`` sets it.
        plus_min_prior: shark-plus: score from which a link without topic terms enters priorQueue; 1
            disables it. A topic's ``min_prior`` sets it.
        shrinkage: shark-plus: weight of the mean of the next wider group, in pages (> 0).
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
    plus_prior_share: int = 24
    plus_normal_share: int = 1
    plus_slack: int = 10
    plus_upper_limit: float = 0.0
    plus_min_prior: float = 1.0
    shrinkage: float = 3.0

    def __post_init__(self) -> None:
        text = message(
            "Link strategy parameter {name} = {value!r}: give a number from {low:g} to {high:g}."
        )
        check_ranges(self, _RANGES, text)


def check_ranges(parameters: Any, ranges: Mapping[str, tuple[float, float]], text: str) -> None:  # noqa: ANN401
    """Check the fields of a dataclass.

    Args:
        parameters: The dataclass.
        ranges: Smallest and largest value by field; [0, 1] for other fields.
        text: Error message with the places name, value, low and high.

    Raises:
        SettingError: A value is out of its range.
    """
    for name, value in ((one.name, getattr(parameters, one.name)) for one in fields(parameters)):
        low, high = ranges.get(name, (0.0, 1.0))
        if not low <= value <= high:
            raise SettingError(text, name=name, value=value, low=low, high=high)


_TERMS = ("anchor", "context", "promise", "prior", "parents", "region", "section")
_RANGES: dict[str, tuple[float, float]] = {
    "depth_bound": (0, 1_000),
    "inlink_full": (1, 1e9),
    "plus_half": (1e-6, 1),
    "plus_shrink": (0, 100),
    **dict.fromkeys(("plus_promise_shrink", "shrinkage"), (1e-6, 1e9)),
    **dict.fromkeys(("prior_share", "plus_prior_share"), (1, 1_000)),
    **dict.fromkeys(("normal_share", "plus_normal_share", "plus_slack"), (0, 1_000)),
    **{f"plus_{name}_weight": (0, 10) for name in _TERMS},
}
"""Ranges of the parameters that are not weights or thresholds in [0, 1]."""
