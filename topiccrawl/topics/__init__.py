"""Topics, and the scoring of pages and link texts against them."""

from topiccrawl.topics.scorer import LOWER_LIMIT, UPPER_LIMIT, Scorer
from topiccrawl.topics.sitewords import SiteWords
from topiccrawl.topics.vector import TopicVector

__all__ = ["LOWER_LIMIT", "UPPER_LIMIT", "Scorer", "SiteWords", "TopicVector"]
