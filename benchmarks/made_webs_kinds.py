"""Kinds of webs for `benchmarks.made_webs`: each removes a signal that a crawl may rely on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "zh"]
Addresses = Literal["flat", "hosts", "subjects", "dates", "random"]


@dataclass(frozen=True, slots=True)
class Kind:
    """Parameters of one kind of webs; shares are probabilities in [0, 1].

    Attributes:
        language: Language of its pages.
        terms_elsewhere: The topic's terms are five of ten words of the other language; three
            of these ten, drawn at random, are in 45 % of its pages, and none in a link.
        pages: Number of pages.
        subjects: Number of subjects; each page has one.
        topic_words: A page's share of words of its subject, drawn evenly between the two.
        terms: Number of the topic's terms, the most frequent words of its subject.
        without_terms: Share of pages that hold none of their subject's 12 most frequent words.
        decoys: Two other subjects are full of the topic's first term.
        seeds_in_decoys: Crawls begin in those subjects.
        addresses: What URLs say: nothing (``flat``, ``random`` directories), a host, a
            directory for each subject, a date.
        hosts: Number of hosts, where addresses are ``hosts``; each is given a subject.
        host_purity: Share of pages on a host of their own subject; the others are on any.
        within: Share of links to a page of the same subject.
        sibling: Share of links to a page of the sibling subject, which shares words with it.
        links: Mean number of a page's links, menus aside.
        inline: Share of these that are within text; the others are a list at the end.
        pictures: Share of these that are pictures without text.
        more: Share of these that say "more" and the like; what is left says the title.
        menu: Links of the menu on top, the same on all pages; the first ones lead to a page of
            each subject; none says anything.
        foot: Links at the end to random pages, by their titles.
        listed: Articles on a page of a hub; 0: no hubs. Each subject has a hub of so many pages
            as it needs; its pages link to the next ones by number, the menu to the first ones.
        named: The menu names each hub by the most frequent word of its subject.
        mixed: Share of a hub's articles that are of any subject, whatever its name says.
        tags: Hubs that list articles of all subjects, half of them of one; articles name three.
        common: Words at the beginning of each page, the same on all, terms of all topics in them.
    """

    language: Language = "en"
    terms_elsewhere: bool = False
    pages: int = 700
    subjects: int = 12
    topic_words: tuple[float, float] = (0.02, 0.25)
    terms: int = 5
    without_terms: float = 0.0
    decoys: bool = False
    seeds_in_decoys: bool = False
    addresses: Addresses = "flat"
    hosts: int = 300
    host_purity: float = 0.8
    within: float = 0.55
    sibling: float = 0.15
    links: int = 14
    inline: float = 0.5
    pictures: float = 0.0
    more: float = 0.0
    menu: int = 6
    foot: int = 0
    listed: int = 0
    named: bool = False
    mixed: float = 0.0
    tags: int = 0
    common: int = 0


KINDS = {
    "flat": Kind(),
    "flat-thin": Kind(topic_words=(0.0, 0.08), within=0.35),
    "hosts-pure": Kind(addresses="hosts", host_purity=0.9),
    "hosts-any": Kind(addresses="hosts", host_purity=0.0),
    "hosts-zh": Kind(language="zh", addresses="hosts", host_purity=0.6, within=0.4),
    "directories-zh": Kind(language="zh", addresses="subjects", without_terms=0.5),
    "directories-en": Kind(addresses="subjects", without_terms=0.6, within=0.35),
    "dates": Kind(language="zh", addresses="dates"),
    "random-directories": Kind(language="zh", addresses="random", topic_words=(0.0, 0.15)),
    "pictures": Kind(language="zh", addresses="dates", pictures=0.9, inline=0.2),
    "more": Kind(language="zh", addresses="dates", more=0.9, inline=0.2),
    "menus-zh": Kind(language="zh", addresses="dates", menu=60, foot=40),
    "menus-more": Kind(more=0.7, inline=0.2, menu=60, foot=30),
    "one-term": Kind(language="zh", terms=1),
    "one-term-thin": Kind(terms=1, topic_words=(0.0, 0.12)),
    "ten-terms": Kind(language="zh", terms=10),
    "english-terms": Kind(language="zh", terms_elsewhere=True),
    "chinese-terms": Kind(terms_elsewhere=True),
    "decoys": Kind(language="zh", decoys=True),
    "paging": Kind(listed=10, links=3, within=0.3, menu=12),
    "paging-zh": Kind(language="zh", listed=10, links=3, within=0.3, menu=12, addresses="random"),
    "named": Kind(listed=10, links=3, within=0.3, menu=12, named=True, without_terms=0.5),
    "named-zh": Kind(
        language="zh", listed=10, links=3, within=0.3, menu=12, named=True, without_terms=0.5
    ),
    "misnamed": Kind(listed=10, links=3, menu=12, named=True, mixed=0.9),
    "misnamed-zh": Kind(language="zh", listed=10, links=3, menu=12, named=True, mixed=0.9),
    "tags": Kind(listed=10, tags=40, links=4, within=0.3, menu=12),
    "tags-zh": Kind(language="zh", listed=10, tags=40, links=4, within=0.3, menu=12),
    "reference": Kind(pages=2_000, common=150, topic_words=(0.0, 0.05), within=0.4),
    "decoy-seeds": Kind(decoys=True, seeds_in_decoys=True),
}
"""All kinds, by name."""
