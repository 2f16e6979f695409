"""Settings of the adaptation: the topic learns from the crawl (docs/adaptation.md)."""

from __future__ import annotations

TOPICCRAWL_ADAPTATION = "off"
"""words: what relevant pages have in common raises links; genetic: as published; off; auto: words
with shark-plus, off with the strategies of others, which stay as published. With shark-plus
words lose on three of four recorded webs (docs/adaptation.md)."""
TOPICCRAWL_ADAPTER = "topiccrawl.addons.adaptation.extension.learner_of"
"""Dotted path of the function that builds the adapter (``topiccrawl.topics.adapter``); empty: none.
"""
TOPICCRAWL_ADAPT_WARM = 20
"""Pages before the first change."""
TOPICCRAWL_ADAPT_EVERY = 20
"""words: pages between two changes at least; genetic: relevant pages between two."""
TOPICCRAWL_ADAPT_GROWTH = 2.0
"""words: a change also waits until the pages have grown by this factor since the last one."""
TOPICCRAWL_ADAPT_SAMPLE = 20
"""words: pages beyond which only a weighted sample is learnt from."""
TOPICCRAWL_ADAPT_WORDS = 5_000
"""words: maximum of learnt words."""
TOPICCRAWL_ADAPT_HALF = 0.05
"""words: relevance at which a page counts half for and half against."""
TOPICCRAWL_ADAPT_GAIN = 0.2
"""words: maximum that learnt words add to a link's score in [0, 1]."""
TOPICCRAWL_ADAPT_FEEDBACK_SIZE = 20
"""genetic: most relevant documents that are learnt from."""
TOPICCRAWL_ADAPT_ANCHORS = False
"""genetic: learn from pages' best link blocks (the source's documents) instead of pages."""
TOPICCRAWL_ADAPT_TERMS = 20
"""genetic: maximum of learnt terms."""
TOPICCRAWL_ADAPT_OWN_SHARE = 0.5
"""genetic: minimum share of the topic's squared length that the user's terms keep."""
TOPICCRAWL_ADAPT_FLOOR: float | None = None
"""genetic: lowest value of the limit above which a page is relevant; None: the topic's own."""
TOPICCRAWL_ADAPT_FLOOR_QUANTILE = 0.05
"""genetic: quantile of recent scores that this limit follows."""
TOPICCRAWL_ADAPT_CEILING_QUANTILE = 0.8
"""genetic: quantile of recent scores that the limit of priorQueue follows."""
TOPICCRAWL_ADAPT_SEED = 1
"""Seed of the adaptation's random generator; fixed for reproducible runs."""

EXTENSIONS = {"topiccrawl.addons.adaptation.extension.TopicAdaptation": 518}
TOPICCRAWL_CHECKS = {"topiccrawl.addons.adaptation.extension.method_of": 200}
