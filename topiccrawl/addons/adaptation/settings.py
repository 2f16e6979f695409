"""Settings of the adaptation of topics to crawled pages (docs/adaptation.md)."""

from __future__ import annotations

TOPICCRAWL_ADAPTATION = "off"
"""Method of adaptation. words: words of relevant pages raise the scores of links; genetic: the
published method; off; auto: words with shark-plus, off with the published strategies. With
shark-plus, words gains nothing on four recorded webs (docs/adaptation.md)."""
TOPICCRAWL_ADAPTER = "topiccrawl.addons.adaptation.extension.learner_of"
"""Dotted path of the function that builds the adapter (``topics.contract``), or empty."""
TOPICCRAWL_ADAPT_WARM = 20
"""Number of pages before the first change."""
TOPICCRAWL_ADAPT_EVERY = 20
"""words: minimum number of pages between two changes; genetic: number of relevant pages."""
TOPICCRAWL_ADAPT_GROWTH = 2.0
"""words: minimum factor of the number of pages between two changes."""
TOPICCRAWL_ADAPT_SAMPLE = 20
"""words: number of pages after which only a weighted sample of pages is learnt."""
TOPICCRAWL_ADAPT_WORDS = 5_000
"""words: maximum number of learnt words."""
TOPICCRAWL_ADAPT_HALF = 0.05
"""words: relevance at which a page counts as half relevant and half irrelevant."""
TOPICCRAWL_ADAPT_GAIN = 0.2
"""words: maximum that learnt words add to the score of a link, in [0, 1]."""
TOPICCRAWL_ADAPT_FEEDBACK_SIZE = 20
"""genetic: number of most relevant documents used for feedback."""
TOPICCRAWL_ADAPT_ANCHORS = False
"""genetic: learn from the best link block of a page, as in the source, instead of the page."""
TOPICCRAWL_ADAPT_TERMS = 20
"""genetic: maximum number of learnt terms."""
TOPICCRAWL_ADAPT_OWN_SHARE = 0.5
"""genetic: minimum share of the user's terms in the squared length of the topic vector."""
TOPICCRAWL_ADAPT_FLOOR: float | None = None
"""genetic: minimum of the lower limit of relevance; None: the limit of the topic."""
TOPICCRAWL_ADAPT_FLOOR_QUANTILE = 0.05
"""genetic: quantile of recent page scores that the lower limit follows."""
TOPICCRAWL_ADAPT_CEILING_QUANTILE = 0.8
"""genetic: quantile of recent page scores that the limit of priorQueue follows."""
TOPICCRAWL_ADAPT_SEED = 1
"""Seed of the adaptation's random generator; fixed for reproducible runs."""

EXTENSIONS = {"topiccrawl.addons.adaptation.extension.TopicAdaptation": 518}
TOPICCRAWL_CHECKS = {"topiccrawl.addons.adaptation.extension.method_of": 200}
