"""HOW MUCH IS THIS PAGE ON TOPIC: scoring pages and link texts against the topic."""

from topiccrawl.relevance.scorer import LOWER_LIMIT, UPPER_LIMIT, Scorer
from topiccrawl.relevance.sitewords import SiteWords
from topiccrawl.relevance.vector import TopicVector

__all__ = ["LOWER_LIMIT", "UPPER_LIMIT", "Scorer", "SiteWords", "TopicVector"]
