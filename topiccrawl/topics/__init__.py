"""Topics, and the scoring of pages and link texts against them."""

from topiccrawl.model import Mark
from topiccrawl.topics.classifier import word_weights
from topiccrawl.topics.contract import RelevanceModel, TopicAdapter, TopicUpdate
from topiccrawl.topics.fields import Thresholds
from topiccrawl.topics.marks import OnWordScale, learn
from topiccrawl.topics.scorer import LOWER_LIMIT, UPPER_LIMIT, Scorer
from topiccrawl.topics.sitewords import SiteWords
from topiccrawl.topics.topic import Topic
from topiccrawl.topics.topic import resolve as find_topic
from topiccrawl.topics.vector import TopicVector

__all__ = [
    "LOWER_LIMIT",
    "UPPER_LIMIT",
    "Mark",
    "OnWordScale",
    "RelevanceModel",
    "Scorer",
    "SiteWords",
    "Thresholds",
    "Topic",
    "TopicAdapter",
    "TopicUpdate",
    "TopicVector",
    "find_topic",
    "learn",
    "word_weights",
]
