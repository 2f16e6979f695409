"""The default method: articles that share rare runs of letters, verified on their whole texts.

Candidates come from an index over each text's bottom-k sketch (``shingles``). Each is then
compared exactly, boilerplate of its site removed: how much of the shorter text is in the longer
one (containment, which trimming, added lines and joined paragraphs leave high), and whether the
two contradict each other in numbers or places (``facts``), which distinguishes tomorrow's report
of the same template from an edited reprint. A later article with news of its own above the old
text (``followups``) is a story of its own that is linked to the older one. See docs/duplicates.md
for figures.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.dedup.boilerplate import Boilerplate
from topiccrawl.dedup.contract import Match, digest_key
from topiccrawl.dedup.facts import Agreement, Comparison, Slots, compare, slots
from topiccrawl.dedup.followups import has_own_news
from topiccrawl.dedup.names import renamed
from topiccrawl.dedup.shingles import keys_of, shared, shingles
from topiccrawl.text.normal import fold, has_han, normalise, simplify

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.dedup.shingles import Codes
    from topiccrawl.model import Article

CONTAINED = 0.5
"""Share of the shorter text's shingles that must be in the longer. Half, because editors rewrite
leads and drop paragraphs; follow-ups of the same affair stay below."""

REWRITTEN, AGREED = 0.45, 6
"""Least containment of two texts of one day that agree in so many figures, dates and places and
differ in none: write-ups of one event for two desks."""

ALIKE = 0.24
"""Share of all shingles of both (Jaccard) that must be common: a story four times as long as the
one it holds is another."""

WITHIN = 0.8
"""Containment from which a short new text is a piece of a stored one, ten times as long at most."""

PIECE = 0.1
"""Jaccard below which a piece is no reprint of the longer text: one item of a long digest."""

SHORT = 60
"""Shingles in common below which half of a text is not enough: notices of one sentence."""

NEARLY = 0.8
"""Jaccard from which texts of any length are one story."""

WHOLE = 0.95
"""Containment from which a short new text is the beginning or a piece of a stored one."""

CORRECTED = 0.95
"""Jaccard from which another number in the headline is a correction, not another part."""

LEAST = 12
"""Shingles in common below which only the same text is the same story."""

WINDOW = 30
"""Days between the dates of two articles beyond which only the same text is the same story."""

NOWHERE = Agreement(0, 0)
"""Places of texts in two scripts are not compared: 意大利 is 義大利 in Taiwan."""

ALMOST = 0.9999
"""Largest similarity of texts that are not the same."""

HEADLINE = 4
"""Letters of a headline that must be equal beside its numbers."""

_HAN = "〇零一二三四五六七八九十百千两"
_ENGLISH = "one|two|three|four|five|six|seven|eight|nine|ten|i{1,3}|iv|vi{0,3}"
_NUMBER = re.compile(rf"[0-9]+(?:\.[0-9]+)?|[{_HAN}]+|(?<=\()[上中下](?=\))|[上中下]$")
_PART = re.compile(
    rf"(?:[之第](?P<a>[{_HAN}]+|[0-9]+)|[(【\[](?P<b>[上中下]|[{_HAN}]+|[0-9]{{1,3}})[)】\]]"
    rf"|\bpart (?P<c>{_ENGLISH}|[0-9]+)\b)"
)
_NO_LETTERS = re.compile(r"[\W_]+")

REMEMBERED = 1024
"""Texts whose shingles and facts are cached, at about 10 kB each."""


class VerifiedShingles:
    """Detector that finds candidates by sketches and compares whole texts.

    Args:
        window: Days, see ``WINDOW``; 0 for no bound. Articles without a date are always compared.

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
        self._texts: OrderedDict[tuple[str, str], _ComparedText] = OrderedDict()

    def keys(self, article: Article) -> Sequence[int]:
        """Return the text's sketch and its digest as keys."""
        if not article.digest:
            return ()
        found: list[int] = keys_of(self._boilerplate.strip(article)).tolist()
        return (*found, digest_key(article.digest))

    def judge(self, article: Article, known: Iterable[Article]) -> Match | None:
        """Return the most similar story, or the first one that is nearly the same.

        Else the story that the article follows up.
        """
        best: tuple[float, Match] | None = None
        for other in known:
            found = self._compare(article, other)
            if found is not None and (best is None or found[0] > best[0]):
                best = found
            if best is not None and best[0] >= NEARLY:
                break  # known comes most likely first
        return None if best is None else best[1]

    def learn(self, article: Article) -> Sequence[int]:
        """Learn the paragraphs that the site repeats; return the marks of new boilerplate."""
        new = self._boilerplate.learn(article)
        if new:
            self._texts.clear()
        return new

    def know(self, marks: Iterable[int]) -> None:
        """Add marks of boilerplate."""
        self._boilerplate.know(marks)
        self._texts.clear()

    def _compare(self, article: Article, other: Article) -> tuple[float, Match] | None:
        """Return a match and its score, which contradictions lower; None if it is none."""
        if article.digest and article.digest == other.digest:
            return 2.0, Match(other.url, 1.0, "same-text")
        comparable = article.digest and other.digest
        if not comparable or not self._near(_day(article), _day(other)):
            return None
        new, old = self._text(article), self._text(other)
        verdict = _verdict(new, old, one_day=article.published[:10] == other.published[:10])
        apart = verdict.alike < CORRECTED and other_part(article.title, other.title)
        if not verdict.reason or apart:
            return None
        return self._matched(article, other, (new, old), verdict)

    @staticmethod
    def _matched(
        article: Article, other: Article, texts: tuple[_ComparedText, _ComparedText],
        verdict: _Verdict,
    ) -> tuple[float, Match] | None:  # fmt: skip
        """Return a match with an article of the same runs, unless facts or names contradict."""
        facts = _facts(*texts)
        if facts.contradicts or _renamed(*texts):
            return None
        worth = verdict.alike / (1 + facts.contradictions)
        similarity = round(min(verdict.similarity, ALMOST), 4)
        if not _is_follow_up(*texts, _day(article), _day(other)):
            return worth, Match(other.url, similarity, verdict.reason)
        if article.published < other.published:
            return None  # the stored one follows this one up
        return worth - 1, Match(other.url, similarity, "follow-up", follows=True)

    def _near(self, one: date | None, other: date | None) -> bool:
        if not self.window or one is None or other is None:
            return True
        return abs((one - other).days) <= self.window

    def _text(self, article: Article) -> _ComparedText:
        key = (article.site, article.digest)
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = _ComparedText(self._boilerplate.strip(article))
            if len(self._texts) > REMEMBERED:
                self._texts.popitem(last=False)
        return text


class _ComparedText:
    """A text for comparison; its facts are computed on first use."""

    __slots__ = ("_folded", "_slots", "_traditional", "han", "hashes", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.hashes: Codes = shingles(text).hashes
        self._slots: Slots | None = None
        self._traditional: bool | None = None
        self._folded = ""
        self.han = has_han(text)

    @property
    def folded(self) -> str:
        """The folded text without blanks and punctuation."""
        if not self._folded:
            self._folded = _NO_LETTERS.sub("", fold(self.text))
        return self._folded

    @property
    def traditional(self) -> bool:
        """True if it has characters that are not simplified Chinese."""
        if self._traditional is None:
            plain = normalise(self.text)
            self._traditional = simplify(plain) != plain
        return self._traditional

    @property
    def slots(self) -> Slots:
        if self._slots is None:
            self._slots = slots(self.text)
        return self._slots


def _day(article: Article) -> date | None:
    try:
        return date.fromisoformat(article.published[:10])
    except ValueError:
        return None


def _is_follow_up(
    new: _ComparedText, old: _ComparedText, new_day: date | None, old_day: date | None
) -> bool:
    """Return whether the one published on a later day follows the other one up."""
    if new_day is None or old_day is None or new_day == old_day:
        return False
    if new_day < old_day:
        new, old, new_day, old_day = old, new, old_day, new_day
    return has_own_news(new.text, old.text, old.hashes, (old_day, new_day))


class _Verdict(NamedTuple):
    """Result of a comparison of two texts by their shingles.

    Attributes:
        reason: Why they are one story; "" if they are two.
        similarity: Similarity to report, in [0, 1].
        alike: Jaccard, in [0, 1].
    """

    reason: str
    similarity: float
    alike: float


def _facts(new: _ComparedText, old: _ComparedText) -> Comparison:
    """Compare their facts; places of texts in two scripts are not compared."""
    facts = compare(new.slots, old.slots)
    return facts if new.traditional == old.traditional else facts._replace(places=NOWHERE)


def _renamed(new: _ComparedText, old: _ComparedText) -> bool:
    """Return whether they differ in a name; for English texts ``facts`` compares names."""
    chinese = new.han and old.han and new.traditional == old.traditional
    return chinese and renamed(new.folded, old.folded)


def _agree(new: _ComparedText, old: _ComparedText) -> bool:
    """Return whether texts have many facts in common and differ in none."""
    facts = _facts(new, old)
    return not facts.contradictions and sum(kind.same for kind in facts) >= AGREED


def _verdict(new: _ComparedText, old: _ComparedText, *, one_day: bool = False) -> _Verdict:
    """Decide by shingles whether two texts are one story; by their facts where half differs."""
    common = shared(new.hashes, old.hashes)
    shorter = min(len(new.hashes), len(old.hashes))
    contained = common / max(1, shorter)
    alike = common / max(1, len(new.hashes) + len(old.hashes) - common)
    reason, least = "", CONTAINED
    if one_day and REWRITTEN <= contained < CONTAINED and _agree(new, old):
        least = REWRITTEN
    if common >= LEAST:
        reason = _reason(common, contained, alike, least, new_is_shorter=len(new.hashes) == shorter)
    return _Verdict(reason, alike if reason == "near-copy" else contained, alike)


def _reason(
    common: int, contained: float, alike: float, least: float, *, new_is_shorter: bool
) -> str:
    if alike >= NEARLY:
        return "near-copy"
    if alike < PIECE:
        return ""
    if common < SHORT:
        return "trimmed" if contained >= WHOLE and new_is_shorter else ""
    if contained >= WITHIN and new_is_shorter:
        return "trimmed"
    if contained < least or alike < ALIKE:
        return ""
    return "extended" if contained >= WITHIN else "edited"


def other_part(one: str, other: str) -> bool:
    """Return whether two headlines differ in the part of a series, or only in numbers.

    >>> other_part("走进老街（之一）：打铁铺", "走进老街（之二）：修笔店")
    True
    >>> other_part("沪指收涨0.42%", "沪指收涨0.51%"), other_part("走进老街（之一）", "走进老街")
    (True, False)
    """
    first, second = fold(one), fold(other)
    if first == second:
        return False
    return _of_series(first, second) or _but_for_numbers(first, second)


def _of_series(one: str, other: str) -> bool:
    mine, theirs = _PART.search(one), _PART.search(other)
    if mine is None or theirs is None or mine[0] == theirs[0]:
        return False
    stems = [_NO_LETTERS.sub("", found.string[: found.start()]) for found in (mine, theirs)]
    return len(stems[0]) > 1 and stems[0] == stems[1]


def _but_for_numbers(one: str, other: str) -> bool:
    letters = _NO_LETTERS.sub("", _NUMBER.sub("", one))
    if len(letters) < HEADLINE or letters != _NO_LETTERS.sub("", _NUMBER.sub("", other)):
        return False
    return _NUMBER.findall(one) != _NUMBER.findall(other)
