"""HOW MUCH IS THIS PAGE ON TOPIC: scoring pages and link texts against the topic."""

from topiccrawl.topics.scorer import LOWER_LIMIT, UPPER_LIMIT, Scorer
from topiccrawl.topics.sitewords import SiteWords
from topiccrawl.topics.vector import TopicVector

__all__ = ["LOWER_LIMIT", "UPPER_LIMIT", "Scorer", "SiteWords", "TopicVector"]
