"""Duplicate stories: detectors, the keys of articles, and their index.

A *detector* computes the keys of an article, by which it is looked up among the stored articles,
and decides which of those that share a key is the same story. The store keeps the keys and calls
the detector inside the transaction that saves, so that two processes never store one story twice.
"""

from topiccrawl.dedup.choice import find_duplicates, method_named
from topiccrawl.dedup.contract import DuplicateDetector, ExactText, Match, linked
from topiccrawl.dedup.index import KeyIndex
from topiccrawl.dedup.ranked import RankedKeywords
from topiccrawl.dedup.verified import VerifiedShingles

__all__ = [
    "DuplicateDetector",
    "ExactText",
    "KeyIndex",
    "Match",
    "RankedKeywords",
    "VerifiedShingles",
    "find_duplicates",
    "linked",
    "method_named",
]
