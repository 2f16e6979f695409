"""Default method: candidates by sketches of their texts, verified by comparing whole texts.

Candidates come from an index of bottom-k sketches (``shingles``). The texts, without boilerplate of
their sites, are then compared. The containment of the shorter text in the longer one stays high
when an editor trims text, adds lines or joins paragraphs. Contradictions in numbers or places
(``facts``) distinguish reports from one template from edited reprints. A later article with new
information above an old text (``followups``) is a new story that is linked to the older one.
See docs/duplicates.md for figures.
"""

from __future__ import annotations

import re
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.dedup.boilerplate import Boilerplate
from topiccrawl.dedup.contract import Match, digest_key
from topiccrawl.dedup.facts import Agreement, Comparison, Slots, compare, slots, with_ascii_digits
from topiccrawl.dedup.followups import has_own_news
from topiccrawl.dedup.headlines import differ_in_headline, spaced
from topiccrawl.dedup.names import differ_in_name
from topiccrawl.dedup.shingles import count_common, keys_of, shingles
from topiccrawl.text.normal import fold, has_han, normalise, simplify

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.dedup.shingles import Codes
    from topiccrawl.model import Article

MIN_CONTAINMENT = 0.5
"""Minimum share of the shorter text's shingles in the longer text. Half, as editors rewrite leads
and drop paragraphs; other articles about the same affair are below."""

MIN_REWRITTEN, MIN_AGREED = 0.45, 6
"""Minimum containment and minimum number of common facts of two texts of one day that have no
contradictions: two versions of a report on one event."""

MIN_JACCARD = 0.24
"""Minimum Jaccard similarity of the shingles: a text four times as long as one that it contains is
another story."""

TRIMMED = 0.8
"""Minimum containment of a new text trimmed from a stored one, which is up to ten times as long."""

MIN_PIECE = 0.1
"""Minimum Jaccard similarity of a trimmed text; below it, it may be an item of a news digest."""

MIN_LONG = 60
"""Number of common shingles below which ``TRIMMED_SHORT`` applies, as for one-sentence notices."""

NEAR_COPY = 0.8
"""Minimum Jaccard similarity of near-copies, for texts of any length."""

TRIMMED_SHORT = 0.95
"""Minimum containment of a short text trimmed from a stored one."""

CORRECTION = 0.95
"""Minimum Jaccard similarity at which a different number in the headline is a correction."""

MIN_COMMON = 12
"""Minimum number of common shingles, unless the texts are the same."""

WINDOW = 30
"""Maximum number of days between two reprints, unless the texts are the same."""

NO_PLACES = Agreement(0, 0)
"""Places of texts in different scripts are not compared: 意大利 is 義大利 in Taiwan."""

MAX_HEADED, MAX_HEADED_HAN = 300, 150
"""Maximum number of letters of texts that headlines distinguish, and the same for Chinese. A longer
text is the story itself, and an editor may give it a headline without any of its words."""

MAX_SIMILARITY = 0.9999
"""Maximum similarity of texts that are not the same."""

MIN_HEADLINE = 4
"""Minimum number of equal letters of headlines that differ in numbers."""

_HAN = "〇零一二三四五六七八九十百千两"
_ENGLISH = "one|two|three|four|five|six|seven|eight|nine|ten|i{1,3}|iv|vi{0,3}"
_NUMBER = re.compile(rf"[0-9]+(?:\.[0-9]+)?|[{_HAN}]+|(?<=\()[上中下](?=\))|[上中下]$")
_PART = re.compile(
    rf"(?:[之第](?P<a>[{_HAN}]+|[0-9]+)|[(【\[](?P<b>[上中下]|[{_HAN}]+|[0-9]{{1,3}})[)】\]]"
    rf"|\bpart (?P<c>{_ENGLISH}|[0-9]+)\b)"
)
_NOT_LETTERS = re.compile(r"[\W_]+")


class VerifiedShingles:
    """Detector that finds candidates by sketches and compares whole texts.

    Args:
        window: See ``WINDOW``; 0 for no limit. Articles without a date are always compared.

    >>> from topiccrawl.model import Article
    >>> text = "销量创下新高，" + "，".join(f"第{n}家车企交付{n * 700}辆" for n in range(20))
    >>> story = Article("http://a.test/1", "", text, digest="a")
    >>> trimmed = Article("http://b.test/2", "", text[:150], digest="b")
    >>> VerifiedShingles().judge(trimmed, [story]).reason
    'trimmed'
    >>> other = Article("http://b.test/3", "", text.replace("00辆", "50辆"), digest="c")
    >>> VerifiedShingles().judge(other, [story])
    """

    name = "shingles"
    scheme = "shingles/1"

    def __init__(self, window: int = WINDOW) -> None:
        self.window = window
        self._boilerplate = Boilerplate()
        self._texts: dict[tuple[str, str], _ComparedText] = {}  # of one judgement

    def keys(self, article: Article) -> Sequence[int]:
        """Return the sketch and the digest of the text as keys."""
        if not article.digest:
            return ()
        found: list[int] = keys_of(self._boilerplate.strip(article)).tolist()
        return (*found, digest_key(article.digest))

    def judge(self, article: Article, known: Iterable[Article]) -> Match | None:
        """Return the most similar story, the first near-copy, or the story followed up.

        Follow-ups are returned only if there is no reprint.
        """
        self._texts = {}
        best: tuple[float, Match] | None = None
        for other in known:
            found = self._compare(article, other)
            if found is not None and (best is None or found[0] > best[0]):
                best = found
            if best is not None and best[0] >= NEAR_COPY:
                break  # the most likely ones come first
        return None if best is None else best[1]

    def learn(self, article: Article) -> Sequence[int]:
        """Learn repeated paragraphs of the site; return the marks of new boilerplate."""
        return self._boilerplate.learn(article)

    def know(self, marks: Iterable[int]) -> None:
        """Add marks of known boilerplate."""
        self._boilerplate.know(marks)

    def _compare(self, article: Article, other: Article) -> tuple[float, Match] | None:
        """Return a match and its score, which contradictions lower, or None."""
        if article.digest and article.digest == other.digest:
            same = not self._differ_in_headline(article, other)
            return (2.0, Match(other.url, 1.0, "same-text")) if same else None
        comparable = article.digest and other.digest
        if not comparable or not self._near(_day(article), _day(other)):
            return None
        new, old = self._text(article), self._text(other)
        verdict = _verdict(new, old, one_day=article.published[:10] == other.published[:10])
        other_part = verdict.jaccard < CORRECTION and is_other_part(article.title, other.title)
        if not verdict.reason or other_part:
            return None
        return self._matched(article, other, (new, old), verdict)

    def _matched(
        self, article: Article, other: Article, texts: tuple[_ComparedText, _ComparedText],
        verdict: _Verdict,
    ) -> tuple[float, Match] | None:  # fmt: skip
        """Return the match of similar texts, or None if facts, names or headlines contradict."""
        facts = _facts(*texts)
        if facts.contradicts or _differ_in_name(*texts):
            return None
        score = verdict.jaccard / (1 + facts.contradictions)
        similarity = round(min(verdict.similarity, MAX_SIMILARITY), 4)
        if not _is_follow_up(*texts, _day(article), _day(other)):
            same = not self._differ_in_headline(article, other)
            return (score, Match(other.url, similarity, verdict.reason)) if same else None
        if article.published < other.published:
            return None  # the stored article is the follow-up
        return score - 1, Match(other.url, similarity, "follow-up", follows=True)

    def _differ_in_headline(self, article: Article, other: Article) -> bool:
        """Return whether short texts of one script have headlines about different things."""
        if article.title == other.title:
            return False
        new, old = self._text(article), self._text(other)
        comparable = new.short and old.short and new.traditional == old.traditional
        headlines = article.title, other.title
        return comparable and differ_in_headline(headlines, (new.spaced, old.spaced))

    def _near(self, one: date | None, other: date | None) -> bool:
        if not self.window or one is None or other is None:
            return True
        return abs((one - other).days) <= self.window

    def _text(self, article: Article) -> _ComparedText:
        key = (article.site, article.digest)
        if key not in self._texts:
            self._texts[key] = _ComparedText(self._boilerplate.strip(article))
        return self._texts[key]


class _ComparedText:
    """Text for comparison; everything else is computed on first use."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.han = has_han(text)

    @cached_property
    def hashes(self) -> Codes:
        return shingles(self.text)

    @cached_property
    def folded(self) -> str:
        """The folded text without blanks and punctuation."""
        return _NOT_LETTERS.sub("", fold(self.text))

    @cached_property
    def short(self) -> bool:
        """True if the text may be something else than the story of its headline."""
        return len(self.folded) <= (MAX_HEADED_HAN if self.han else MAX_HEADED)

    @cached_property
    def spaced(self) -> str:
        """The folded words with blanks."""
        return spaced(self.text)

    @cached_property
    def traditional(self) -> bool:
        """True if it has traditional Chinese characters."""
        plain = normalise(self.text)
        return simplify(plain) != plain

    @cached_property
    def slots(self) -> Slots:
        return slots(self.text)


def _day(article: Article) -> date | None:
    try:
        return date.fromisoformat(article.published[:10])
    except ValueError:
        return None


def _is_follow_up(
    new: _ComparedText, old: _ComparedText, new_day: date | None, old_day: date | None
) -> bool:
    """Return whether the text of the later day follows up the other one."""
    if new_day is None or old_day is None or new_day == old_day:
        return False
    if new_day < old_day:
        new, old, new_day, old_day = old, new, old_day, new_day
    return has_own_news(new.text, old.text, old.hashes, (old_day, new_day))


class _Verdict(NamedTuple):
    """Result of a comparison of two texts by their shingles.

    Attributes:
        reason: Reason why they are the same story; "" if they are not.
        similarity: Similarity to report, in [0, 1].
        jaccard: Jaccard similarity, in [0, 1].
    """

    reason: str
    similarity: float
    jaccard: float


def _facts(new: _ComparedText, old: _ComparedText) -> Comparison:
    """Compare the facts of two texts; places only if the scripts are the same."""
    facts = compare(new.slots, old.slots)
    return facts if new.traditional == old.traditional else facts._replace(places=NO_PLACES)


def _differ_in_name(new: _ComparedText, old: _ComparedText) -> bool:
    """Return whether Chinese texts differ in a name; ``facts`` compares names in English."""
    chinese = new.han and old.han and new.traditional == old.traditional
    return chinese and differ_in_name(new.folded, old.folded)


def _agree_in_facts(new: _ComparedText, old: _ComparedText) -> bool:
    """Return whether texts have enough common facts and no contradictions."""
    facts = _facts(new, old)
    return not facts.contradictions and sum(kind.same for kind in facts) >= MIN_AGREED


def _verdict(new: _ComparedText, old: _ComparedText, *, one_day: bool = False) -> _Verdict:
    """Decide by shingles, and by facts in borderline cases, whether texts are one story."""
    common = count_common(new.hashes, old.hashes)
    shorter = min(len(new.hashes), len(old.hashes))
    containment = common / max(1, shorter)
    jaccard = common / max(1, len(new.hashes) + len(old.hashes) - common)
    least = MIN_CONTAINMENT
    if one_day and MIN_REWRITTEN <= containment < MIN_CONTAINMENT and _agree_in_facts(new, old):
        least = MIN_REWRITTEN
    is_shorter = len(new.hashes) == shorter
    reason = _reason(common, containment, jaccard, least, new_is_shorter=is_shorter)
    return _Verdict(reason, jaccard if reason == "near-copy" else containment, jaccard)


def _reason(
    common: int, containment: float, jaccard: float, least: float, *, new_is_shorter: bool
) -> str:
    """Return the reason why texts are the same story, "" if they are not."""
    if common < MIN_COMMON or jaccard < MIN_PIECE:
        return ""
    if jaccard >= NEAR_COPY:
        return "near-copy"
    if common < MIN_LONG:
        return "trimmed" if containment >= TRIMMED_SHORT and new_is_shorter else ""
    if containment >= TRIMMED and new_is_shorter:
        return "trimmed"
    if containment < least or jaccard < MIN_JACCARD:
        return ""
    return "extended" if containment >= TRIMMED else "edited"


def is_other_part(one: str, other: str) -> bool:
    """Return whether headlines differ in the part of a series, or only in numbers.

    >>> is_other_part("走进老街（之一）：打铁铺", "走进老街（之二）：修笔店")
    True
    >>> is_other_part("沪指收涨0.42%", "沪指收涨0.51%")
    True
    >>> is_other_part("走进老街（之一）", "走进老街")
    False
    """
    first, second = (with_ascii_digits(fold(headline)) for headline in (one, other))
    if first == second:
        return False
    return _differ_in_part(first, second) or _differ_in_numbers(first, second)


def _differ_in_part(one: str, other: str) -> bool:
    mine, theirs = _PART.search(one), _PART.search(other)
    if mine is None or theirs is None or mine[0] == theirs[0]:
        return False
    stems = [_NOT_LETTERS.sub("", found.string[: found.start()]) for found in (mine, theirs)]
    return len(stems[0]) > 1 and stems[0] == stems[1]


def _differ_in_numbers(one: str, other: str) -> bool:
    letters = _NOT_LETTERS.sub("", _NUMBER.sub("", one))
    if len(letters) < MIN_HEADLINE or letters != _NOT_LETTERS.sub("", _NUMBER.sub("", other)):
        return False
    return _NUMBER.findall(one) != _NUMBER.findall(other)
