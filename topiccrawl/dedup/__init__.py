"""WHICH ARTICLES TELL THE SAME STORY: methods, the keys they are looked up by, and the index.

A *method* says under which keys an article is looked up in the set of stored articles, and which
of those that share a key tells the same story. The store keeps the keys and asks the method inside
the transaction that saves, so that two processes never keep one story twice.
"""

from topiccrawl.dedup.contract import ExactText, Match, Method

__all__ = ["ExactText", "Match", "Method"]
