"""Duplicate detection: detectors, and the index of articles by key.

A *detector* computes the keys of an article, finds stored articles that share a key, and decides
which of them is the same story. The store has the keys and calls the detector inside the
transaction that saves the article, so that two processes never store one story twice.
"""

from topiccrawl.dedup.contract import DuplicateDetector, ExactText, Match, linked
from topiccrawl.dedup.factory import find_duplicates, load_detector
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
    "load_detector",
]
