"""Random generator of webs of a kind: subjects, pages, links, topics with known pages."""

from __future__ import annotations

import random
from collections import defaultdict
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.addons.simulate.collection import OK, RecordedPage, RecordedWeb
from topiccrawl.addons.simulate.harvest import LabelledTopic
from topiccrawl.text.idf import chinese_table, english_frequencies
from topiccrawl.text.normal import simplify

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.made_webs_kinds import Kind, Language

TOPICS = 2
"""Topics of a web, each a subject."""
HTML = (("Content-Type", "text/html; charset=utf-8"),)

_FREQUENT = 4_000  # words that are on every page
_RARER = slice(2_500, 12_000)  # words by frequency from which subjects take theirs
_OWN, _FOREIGN = 60, 10  # words of a subject, in the web's language and in the other
_SHORTEST = {"zh": 2, "en": 4}  # characters of a word, at least
_TOP = 12  # its most frequent ones, terms among them
_FOREIGN_TERMS = 5
_FOREIGN_PAGES, _FOREIGN_HITS = 0.45, 3
_NAMED = 0.3  # share of English pages whose file has a word of the subject in its name
_POPULAR = 0.3  # share of pages whose subject is drawn with a bias to the first ones
_SAYING = {
    "zh": ("更多", "详情", "点击查看", "下一篇"),
    "en": ("more", "click here", "read on", "next"),
}


class MadeWeb(NamedTuple):
    """A web, and topics whose relevant pages are known."""

    web: RecordedWeb
    topics: tuple[LabelledTopic, ...]


class Draft(NamedTuple):
    """A page before its text.

    Attributes:
        url: Its URL.
        subject: Number of its subject.
        title: Its title, also the text of links to it.
        share: Share of its words that are its subject's, in [0, 1].
        termed: Whether it may hold the subject's most frequent words.
        lists: It is a hub's page: the subject's with that number, or (-1) one of many subjects.
    """

    url: str
    subject: int
    title: str
    share: float
    termed: bool
    lists: int | None = None


class Vocabulary:
    """Words of a web: common ones and those of each subject."""

    def __init__(self, kind: Kind, chance: random.Random) -> None:
        self._chance = chance
        native = frequent_words(kind.language)
        other = frequent_words("en" if kind.language == "zh" else "zh")
        self._common = native[:_FREQUENT]
        self._common_weights = list(accumulate(1 / (rank + 5) for rank in range(_FREQUENT)))
        own = _portions(chance.sample(native[_RARER], kind.subjects * _OWN), _OWN)
        self.own = [_with_sibling(own, subject) for subject in range(kind.subjects)]
        foreign = chance.sample(other[_RARER], kind.subjects * _FOREIGN)
        self.foreign = _portions(foreign, _FOREIGN)
        self.separator = "" if kind.language == "zh" else " "

    def common(self, number: int) -> list[str]:
        """Draw ``number`` common words, frequent ones more often."""
        return self._chance.choices(self._common, cum_weights=self._common_weights, k=number)

    def about(self, subject: int, number: int, share: float, *, termed: bool) -> list[str]:
        """Draw ``number`` words, a share of them the subject's, frequent ones more often."""
        words = self.common(number)
        first = 0 if termed else _TOP
        own = self.own[subject][first:]
        weights = [1 / (rank + 2) for rank in range(len(own))]
        places = [place for place in range(number) if self._chance.random() < share]
        drawn = self._chance.choices(own, weights, k=len(places))
        for place, word in zip(places, drawn, strict=True):
            words[place] = word
        return words

    def join(self, words: Sequence[str]) -> str:
        """The words as running text."""
        return self.separator.join(words)


class Site:
    """Pages and their links.

    Args:
        kind: Parameters of the web.
        chance: Random generator.
    """

    def __init__(self, kind: Kind, chance: random.Random) -> None:
        self.kind = kind
        self.chance = chance
        self.words = Vocabulary(kind, chance)
        self._hosts = [chance.randrange(kind.subjects) for _ in range(kind.hosts)]
        hubs, listings = self._hubs()
        self.drafts = [self._draft(number) for number in range(kind.pages - len(hubs))]
        self.members: defaultdict[int, list[Draft]] = defaultdict(list)
        for draft in self.drafts:
            self.members[draft.subject].append(draft)
        self.hubs = hubs
        self._tags = [hub for hub in hubs if hub.lists == -1]
        self._listings = listings
        self._common = self.words.join(self._template())
        self._menu = self._top_menu()

    def _hubs(self) -> tuple[list[Draft], int]:
        """Return the pages of hubs, and how many of them a subject has."""
        kind = self.kind
        if not kind.listed:
            return [], 0
        size = max(1, round((kind.pages - kind.tags) / (kind.subjects * (kind.listed + 1))))
        site = "flat.test" if kind.addresses == "flat" else "site.test"
        hubs = []
        for subject in range(kind.subjects):
            title = self.words.join(self.words.about(subject, 2, 0.5, termed=True))
            title = self.words.own[subject][0] if kind.named else title
            hubs += [
                Draft(
                    f"http://{site}/list-{subject}-{page}.html",
                    subject,
                    title,
                    0.0,
                    termed=True,
                    lists=page,
                )
                for page in range(size)
            ]
        for number in range(kind.tags):
            subject = self.chance.randrange(kind.subjects)
            title = self.chance.choice(self.words.own[subject])
            url = f"http://{site}/tag-{number}.html"
            hubs.append(Draft(url, subject, title, 0.0, termed=True, lists=-1))
        return hubs, size

    def _template(self) -> list[str]:
        """Return the words that all pages begin with: common ones, two terms of each subject."""
        words = self.words.common(self.kind.common)
        if words:
            for own in self.words.own:
                self._strew(words, own[:2])
        return words

    def listing(self, hub: Draft) -> str:
        """The page of a hub: articles, then the hub's other pages by number."""
        size, its = self.kind.listed, self.members[hub.subject]
        if hub.lists is None or hub.lists < 0:
            shown = [self._target(hub.subject) for _ in range(size)]
            pages = ""
        else:
            its = its[hub.lists :: self._listings][: 3 * size]
            shown = [self._any_other(page) for page in its] if self.kind.mixed else its
            others = [one for one in self.hubs if one.subject == hub.subject and one.lists != -1]
            pages = _list(_link(one, str(1 + (one.lists or 0))) for one in others)
        articles = _list(_link(page, page.title) for page in shown or self.drafts[:1])
        return (
            f"<html><head><title>{hub.title}</title></head><body>{self._menu}<h1>{hub.title}</h1>"
            f"<div class='list'>{articles}</div><div class='pages'>{pages}</div></body></html>"
        )

    def _any_other(self, page: Draft) -> Draft:
        """Return the page, or any other by the share of mixed ones."""
        return self.chance.choice(self.drafts) if self.chance.random() < self.kind.mixed else page

    def html(self, draft: Draft, bait: str | None) -> str:
        """Return the served page; ``bait`` is a word that it repeats."""
        onward = [self._target(draft.subject) for _ in range(self._links())]
        within = [self.chance.random() < self.kind.inline for _ in onward]
        inline = [page for page, here in zip(onward, within, strict=True) if here]
        listed = [page for page, here in zip(onward, within, strict=True) if not here]
        text = "".join(self._paragraphs(self._body(draft, bait), inline))
        foot = self.chance.choices(self.drafts, k=self.kind.foot)
        return (
            f"<html><head><title>{draft.title}</title></head><body>{self._menu}"
            f"<h1>{draft.title}</h1><div>{self._common}{text}</div>"
            f"{_list(self._anchor(page) for page in listed)}{self._named_tags(draft)}"
            f"<div>{_list(_link(page, page.title) for page in foot)}</div></body></html>"
        )

    def _named_tags(self, draft: Draft) -> str:
        """Return links to three tags, two of them of the page's subject where there are any."""
        if not self._tags:
            return ""
        own = [tag for tag in self._tags if tag.subject == draft.subject] or self._tags
        chosen = [self.chance.choice(tags) for tags in (own, own, self._tags)]
        return f"<p class='tags'>{' '.join(_link(tag, tag.title) for tag in chosen)}</p>"

    def _draft(self, number: int) -> Draft:
        kind, chance = self.kind, self.chance
        subject = self._subject()
        termed = chance.random() >= kind.without_terms
        share = chance.uniform(*kind.topic_words)
        title = self.words.about(subject, 5, min(0.5, 0.15 + 2 * share), termed=termed)
        url = f"http://{self._place(subject)}{number}.html"
        return Draft(url, subject, self.words.join(title), share, termed)

    def _subject(self) -> int:
        last = self.kind.subjects - 1
        if self.chance.random() < _POPULAR:
            return min(int(self.chance.expovariate(0.35)), last)
        return self.chance.randint(0, last)

    def _place(self, subject: int) -> str:
        """Host and directory of a page."""
        chance = self.chance
        match self.kind.addresses:
            case "flat":
                return f"flat.test/{self._name(subject)}"
            case "hosts":
                return f"h{self._host(subject)}.test/"
            case "subjects":
                return f"site.test/c{subject}/"
            case "dates":
                return f"site.test/20{chance.randint(10, 23)}/{chance.randint(1, 12):02}/"
            case "random":
                return f"site.test/d{chance.randrange(20)}/"

    def _name(self, subject: int) -> str:
        """Beginning of a file's name."""
        if self.kind.language == "en" and self.chance.random() < _NAMED:
            return self.chance.choice(self.words.own[subject])
        return "p"

    def _host(self, subject: int) -> int:
        own = [number for number, its in enumerate(self._hosts) if its == subject]
        if own and self.chance.random() < self.kind.host_purity:
            return self.chance.choice(own)
        return self.chance.randrange(self.kind.hosts)

    def _top_menu(self) -> str:
        heads = [hub for hub in self.hubs if hub.lists == 0]
        heads = heads or [self.chance.choice(pages) for _, pages in sorted(self.members.items())]
        rest = max(0, self.kind.menu - self.kind.subjects)
        pages = heads[: self.kind.menu] + [self.chance.choice(self.drafts) for _ in range(rest)]
        named = heads if self.kind.named else ()
        words = self.words
        return _list(
            _link(page, page.title if page in named else words.join(words.common(2)))
            for page in pages
        )

    def _links(self) -> int:
        return max(3, int(self.chance.gauss(self.kind.links, self.kind.links / 3)))

    def _target(self, subject: int) -> Draft:
        """Draw the target of a link of a page about the subject."""
        drawn = self.chance.random()
        if drawn < self.kind.within:
            return self.chance.choice(self.members[subject])
        sibling = self.members.get(subject ^ 1)
        if sibling and drawn < self.kind.within + self.kind.sibling:
            return self.chance.choice(sibling)
        return self.chance.choice(self.drafts)

    def _anchor(self, page: Draft) -> str:
        drawn = self.chance.random()
        if drawn < self.kind.pictures:
            return _link(page, '<img src="/picture.jpg">')
        if drawn < self.kind.pictures + self.kind.more:
            return _link(page, self.chance.choice(_SAYING[self.kind.language]))
        return _link(page, page.title)

    def _body(self, draft: Draft, bait: str | None) -> list[str]:
        number = self.chance.randrange(80, 400)
        words = self.words.about(draft.subject, number, draft.share, termed=draft.termed)
        if self.kind.terms_elsewhere and self.chance.random() < _FOREIGN_PAGES:
            foreign = self.words.foreign[draft.subject]
            self._strew(words, [self.chance.choice(foreign) for _ in range(_FOREIGN_HITS)])
        if bait is not None:
            self._strew(words, [bait] * (number // 25))
        return words

    def _strew(self, words: list[str], more: Sequence[str]) -> None:
        for word in more:
            words.insert(self.chance.randrange(len(words)), word)

    def _paragraphs(self, words: Sequence[str], inline: Sequence[Draft]) -> Iterator[str]:
        """Yield paragraphs, each with a link in its middle; the last has none."""
        step, join = max(1, len(words) // (len(inline) + 1)), self.words.join
        for place, page in enumerate(inline):
            start, middle, end = (int(step * (place + part)) for part in (0, 0.5, 1))
            parts = join(words[start:middle]), self._anchor(page), join(words[middle:end])
            yield f"<p>{join(parts)}</p>"
        yield f"<p>{join(words[step * len(inline) :])}</p>"


def made_web(kind: Kind, seed: int) -> MadeWeb:
    """Return a web of a kind with two topics; equal seeds give equal webs."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    site = Site(kind, chance)
    subjects = chance.sample(sorted(site.members), TOPICS)
    others = [subject for subject in sorted(site.members) if subject not in subjects]
    decoys = {topic: others[2 * n : 2 * n + 2] for n, topic in enumerate(subjects)}
    baits = _baits(site, decoys) if kind.decoys else {}
    pages = [
        RecordedPage(
            draft.url, OK, HTML, site.html(draft, baits.get(draft.subject)).encode(), marks
        )
        for draft in site.drafts
        for marks in [(_label(draft.subject),)]
    ]
    pages += [RecordedPage(hub.url, OK, HTML, site.listing(hub).encode(), ()) for hub in site.hubs]
    return MadeWeb(RecordedWeb(pages), tuple(_topic(site, s, decoys[s]) for s in subjects))


@cache
def frequent_words(language: Language) -> tuple[str, ...]:
    """Words of a language, frequent ones first; simplified Chinese, English in ASCII."""
    least = _SHORTEST[language]
    if language == "zh":
        rarity = chinese_table()
        words = (word for word in rarity if len(word) >= least and simplify(word) == word)
        return tuple(sorted(words, key=lambda word: rarity[word]))
    frequency = english_frequencies()
    words = (word for word in frequency if len(word) >= least and word.isascii() and word.isalpha())
    return tuple(sorted(words, key=lambda word: -frequency[word]))


def _topic(site: Site, subject: int, decoys: Sequence[int]) -> LabelledTopic:
    kind, words = site.kind, site.words
    homes = decoys if kind.seeds_in_decoys else [subject]
    seeds = site.chance.sample([page.url for home in homes for page in site.members[home]], 2)
    if kind.terms_elsewhere:
        terms = words.foreign[subject][:_FOREIGN_TERMS]
    else:
        terms = words.own[subject][: kind.terms]
    label = _label(subject)
    return LabelledTopic(name=label, terms=tuple(terms), seeds=tuple(seeds), relevant=(label,))


def _baits(site: Site, decoys: Mapping[int, Sequence[int]]) -> dict[int, str]:
    """Return the term that each decoy subject repeats."""
    return {decoy: site.words.own[topic][0] for topic, its in decoys.items() for decoy in its}


def _with_sibling(portions: Sequence[Sequence[str]], subject: int) -> Sequence[str]:
    """A subject's words; an even one's ten rarest are shared with the next one's middle."""
    if subject % 2 or subject + 1 == len(portions):
        return portions[subject]
    return [*portions[subject][:50], *portions[subject + 1][20:30]]


def _portions(words: Sequence[str], size: int) -> list[Sequence[str]]:
    return [words[start : start + size] for start in range(0, len(words), size)]


def _label(subject: int) -> str:
    return f"s{subject}"


def _link(page: Draft, inner: str) -> str:
    return f'<a href="{page.url}">{inner}</a>'


def _list(items: Iterator[str]) -> str:
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"
