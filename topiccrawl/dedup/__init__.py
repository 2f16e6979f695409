"""Duplicate stories: methods of detection, the keys of articles, and their index.

A *method* computes the keys of an article, by which it is looked up among the stored articles, and
decides which of those that share a key is the same story. The store keeps the keys and calls the
method inside the transaction that saves, so that two processes never store one story twice.
"""

from topiccrawl.dedup.contract import ExactText, Match, Method

__all__ = ["ExactText", "Match", "Method"]
