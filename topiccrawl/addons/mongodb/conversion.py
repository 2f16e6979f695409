"""Conversion between articles and documents, and the writes of articles. No network here."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

from pymongo import UpdateOne

from topiccrawl.model import Article
from topiccrawl.storage import merge
from topiccrawl.storage.contract import Listed, Reprint
from topiccrawl.storage.documents import plain
from topiccrawl.storage.merge import STORED, reprint_by, stored_values, version_of
from topiccrawl.storage.selection import Selection, words_of
from topiccrawl.text.normal import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topiccrawl.dedup.contract import Match

SITE = "site:"
"""Prefix of a name that stands for a host."""

FIELDS = dict.fromkeys((*STORED[1:], "scores", "number"), 1)
"""Projection of the fields of an article."""

COMPARED = dict.fromkeys((*merge.COMPARED[1:], "number"), 1)
"""Projection of the fields that duplicate detection compares."""


def fields_of(article: Article) -> dict[str, Any]:
    """Return all fields of an article except its URL, topics and number.

    >>> fields_of(Article("http://a.test/1", "电动汽车", "文"))["words"]
    ['汽车', '电动', '电动汽车']
    """
    values = stored_values(article)
    del values["url"]
    return {**values, "words": words_of(values["title"], values["body"])}


def key(topic: str) -> str:
    """Escape the name of a topic as a field name.

    >>> key("A.I."), key("$新能源汽车"), key("100%")
    ('A%2EI%2E', '%24新能源汽车', '100%25')
    """
    for character in "%.$\x00":
        topic = topic.replace(character, f"%{ord(character):02X}")
    return clean(topic) or "%"


def upsert(article: Article, number: int) -> UpdateOne:
    """Return the write that inserts or updates an article: one document per URL, topics merged."""
    scores = _scores(article)
    names = [score["name"] for score in scores.values()]
    change: dict[str, Any] = {
        "$set": {**fields_of(article), **scores, "stored_at": time.time()},
        "$setOnInsert": {"number": number},
        "$addToSet": {"topics": {"$each": names}},
    }
    if not scores:
        change["$setOnInsert"]["scores"] = {}
    return UpdateOne({"_id": clean(article.url)}, change, upsert=True)


def lend_topics(story: str, article: Article) -> list[UpdateOne]:
    """Return the writes that add missing topics of a reprint to its story."""
    return [
        UpdateOne(
            {"_id": story, "topics": {"$ne": score["name"]}},
            {
                "$set": {field: score, "stored_at": time.time()},
                "$addToSet": {"topics": score["name"]},
            },
        )
        for field, score in _scores(article).items()
    ]


def reprint_upsert(article: Article, match: Match, number: int) -> UpdateOne:
    """Return the write that records a reprint; an existing number is kept."""
    values = _cleaned(reprint_by(article, match)._asdict())
    change = {"story": clean(match.url), **values}
    url = change.pop("url")
    return UpdateOne(
        {"_id": url}, {"$set": change, "$setOnInsert": {"number": number}}, upsert=True
    )


def version_upsert(article: Article, replaced_at: float) -> UpdateOne:
    """Return the write that stores a text before it is replaced. Idempotent."""
    kept = _cleaned({"url": article.url, **version_of(article, replaced_at)._asdict()})
    name = f"{kept['url']} {article.fetched_at!r}"
    return UpdateOne({"_id": name}, {"$setOnInsert": kept}, upsert=True)


def filter_of(selection: Selection) -> dict[str, Any]:
    """Return the query of a selection.

    >>> filter_of(Selection(topic="足球", since="2026-01-01", until="2026-01-31"))
    {'topics': '足球', 'published': {'$gte': '2026-01-01', '$lt': '2026-02-01'}}
    """
    found: dict[str, Any] = {}
    if selection.topic:
        found["topics"] = clean(selection.topic)
    if selection.site:
        found["site"] = of_site(selection.site)
    if selection.dated:
        days = {"$gte": selection.since or "0", "$lt": selection.before}
        found["published"] = {name: value for name, value in days.items() if value}
    if words := selection.indexed:
        found["words"] = {"$all": list(words)}
    if selection.stored_since:
        times = ("stored_at", "fetched_at")  # earlier versions store only the second
        found["$or"] = [{name: {"$gte": selection.stored_since}} for name in times]
    return found


def of_site(host: str) -> dict[str, str]:
    """Return the condition for a host and its subdomains."""
    return {"$regex": rf"(^|\.){re.escape(host)}$"}


def named(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the queries for the articles and for the reprints of a name to forget."""
    if name.startswith(SITE):
        which = {"site": of_site(name.removeprefix(SITE))}
        return which, which
    fields = ("_id", "final_url", "canonical_url")
    return {"$or": [{field: name} for field in fields]}, {"_id": name}


def article_of(document: Mapping[str, Any], topic: str = "") -> Article:
    """Return the article of a document, with the terms of ``topic``, or of its best topic."""
    scores = sorted(document["scores"].values(), key=lambda s: (-s["score"], s["name"]))
    named = next((s for s in scores if s["name"] == topic), scores[0] if scores else None)
    values = {name: document[name] for name in STORED if name in document}
    values["topics"] = {s["name"]: s["score"] for s in scores}
    values["terms"] = named["terms"] if named else []
    return Article.from_dict({"url": document["_id"], **values})


def compared_of(document: Mapping[str, Any]) -> Article:
    """Return the article of a document read with ``COMPARED``, for duplicate detection."""
    return Article(document["_id"], **{name: document[name] for name in merge.COMPARED[1:]})


def listed_fields(topic: str) -> dict[str, int]:
    """Return the projection of the fields of a listed article."""
    return dict.fromkeys(("title", "site", "published", "fetched_at", f"scores.{key(topic)}"), 1)


def listed_of(document: Mapping[str, Any], topic: str, reprints: Mapping[str, int]) -> Listed:
    """Return the listed article of a document; ``reprints`` has the number of each story."""
    score = document.get("scores", {}).get(key(topic), {})
    return Listed(
        document["_id"], document["title"], document["site"], document["published"],
        document["fetched_at"], score.get("score", 0.0),
        tuple((term, share) for term, share in score.get("terms", [])),
        reprints.get(document["_id"], 0),
    )  # fmt: skip


def reprint_of(document: Mapping[str, Any]) -> Reprint:
    """Return the reprint of a document."""
    return Reprint(document["_id"], *(document[name] for name in Reprint._fields[1:]))


def _cleaned(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values with texts that UTF-8 can encode."""
    return {name: plain(value) for name, value in values.items()}


def _scores(article: Article) -> dict[str, dict[str, Any]]:
    """Return the stored topics of an article, with scores and terms, by field."""
    terms = [[clean(term), share] for term, share in article.terms]
    return {
        f"scores.{key(name)}": {"name": clean(name), "score": score, "terms": terms}
        for name, score in article.topics.items()
    }
