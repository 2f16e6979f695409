"""HOW MUCH IS THIS PAGE ON TOPIC: scoring pages and link texts against the topic."""

from topiccrawl.relevance.scorer import LOWER_LIMIT, Scorer

__all__ = ["LOWER_LIMIT", "Scorer"]
