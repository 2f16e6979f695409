"""Detection of follow-ups: later articles that repeat an older story below a new lead.

Like an edited reprint, a follow-up shares most of its text with the older story. The two differ in
the lead. The lead of a reprint tells the same news in other words. The lead of a follow-up names a
day after the publication of the older story, or has words that the older story lacks.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

from topiccrawl.dedup.shingles import share_in
from topiccrawl.text.idf import corpus_idf
from topiccrawl.text.normal import fold, has_han
from topiccrawl.text.tokens import shared_tokenizer

if TYPE_CHECKING:
    from topiccrawl.dedup.shingles import Codes

LEAD = 160
"""Length of a Chinese lead in characters: headline, place, date and first sentence."""

LATIN_LEAD = 360
"""Length of an English lead in characters."""

MAX_SHARED = 0.5
"""Share of the lead's shingles in the older text from which the lead is not new."""

MAX_KNOWN = 0.5
"""Weighted share of the lead's words in the older text below which the lead is new."""

MIN_NEW = 45
"""Minimum number of new characters in a Chinese lead without a later day; longer than a line that a
site puts above a reprint."""

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905
_DAYS = "mon tue wed thu fri sat sun".split()  # noqa: SIM905
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]*\.?"
_HAN_DATE = re.compile(r"(?<![0-9])(?:([0-9]{1,2})月)?([0-9]{1,2})[日号](?!线)")
_LATIN_DATE = re.compile(
    rf"\b{_MONTH} ([0-9]{{1,2}})\b|\b([0-9]{{1,2}})(?:st|nd|rd|th)? {_MONTH}"
    rf"|\b({'|'.join(_DAYS)})(?:day|sday|nesday|rsday|urday)\b"
)
_AGO = {
    "今天": 0, "今日": 0, "今晨": 0, "今早": 0, "昨天": 1, "昨日": 1, "昨晚": 1,
    "today": 0, "yesterday": 1,
}  # fmt: skip
_WEEK = 7


def lead_of(text: str) -> tuple[str, str]:
    """Return the lead of a text, and its head: the first lines, at most half a lead.

    >>> lead_of("某市今天通车。")
    ('某市今天通车。', '某市今天通车。')
    """
    lead = text[: LEAD if has_han(text[:LEAD]) else LATIN_LEAD]
    limit = (LEAD if has_han(lead) else LATIN_LEAD) // 2
    head = ""
    for line in lead.splitlines(keepends=True):
        head += line if 2 * len(head) < limit else ""
    return lead, head[:limit]


def has_own_news(later: str, earlier: str, hashes: Codes, days: tuple[date, date]) -> bool:
    """Return whether the lead of a later text has news that an earlier text lacks.

    Args:
        later: Text of the later article.
        earlier: Text of the earlier article.
        hashes: Shingles of the earlier text.
        days: Publication dates of the earlier and the later article.

    >>> from topiccrawl.dedup.shingles import shingles
    >>> old = "四月一日夜里，河东一处仓库起火，消防员两小时扑灭，无人受伤，原因正在调查。"
    >>> new = f"河东警方4月3日通报，一名保管员因吸烟失火被刑事拘留，案件移送检察院。{old}"
    >>> days = date(2020, 4, 2), date(2020, 4, 3)
    >>> has_own_news(new, old, shingles(old), days)
    True
    >>> has_own_news(f"{old}{old}{new}", old, shingles(old), days)
    False
    """
    lead, head = lead_of(later)
    if share_in(head, hashes) >= MAX_SHARED:
        return False
    if _dated_after(lead, earlier, days):
        return True
    new_letters = (1.0 - share_in(lead, hashes)) * len(lead)
    min_new = MIN_NEW * (1 if has_han(lead) else LATIN_LEAD / LEAD)
    return new_letters >= min_new and _known_share(head, earlier) < MAX_KNOWN


def _dated_after(lead: str, earlier: str, days: tuple[date, date]) -> bool:
    """Return whether the lead names a day after the earlier story, which does not name it."""
    old, new = days
    named = [day for day in dates_in(lead, new) if day <= new]
    latest = max(named, default=old)
    return latest > old and latest not in dates_in(earlier, old + timedelta(days=_WEEK))


def dates_in(text: str, published: date) -> list[date]:
    """Return the dates in a text; a missing month or year is taken from the publication date.

    >>> [str(day) for day in dates_in("3月31日，记者1日获悉", date(2020, 4, 2))]
    ['2020-03-31', '2020-04-01']
    >>> [str(day) for day in dates_in("On Tuesday and on April 3", date(2020, 4, 3))]
    ['2020-03-31', '2020-04-03']
    """
    folded = fold(text)
    found = [
        *(_resolve_day(published, int(m[1] or 0), int(m[2])) for m in _HAN_DATE.finditer(folded)),
        *(_latin_day(match, published) for match in _LATIN_DATE.finditer(folded)),
    ]
    days = [day for day in found if day is not None]
    return days or [published - timedelta(days=ago) for word, ago in _AGO.items() if word in folded]


def _latin_day(match: re.Match[str], published: date) -> date | None:
    if match[5]:
        back = (published.weekday() - _DAYS.index(match[5])) % _WEEK
        return published - timedelta(days=back)
    month = _MONTHS.index(match[1] or match[4]) + 1
    return _resolve_day(published, month, int(match[2] or match[3]))


def _resolve_day(published: date, month: int, day: int) -> date | None:
    """Return the date of a day and month (0: the last such day up to the publication)."""
    for back in range(2):
        at = date(published.year, published.month, 1) - timedelta(days=back)
        try:
            found = date(published.year, month, day) if month else at.replace(day=day)
        except ValueError:
            continue
        if month or found <= published:
            return found
    return None


def _known_share(lead: str, earlier: str) -> float:
    """Return the share, weighted by IDF, of the lead's words that are in the earlier text."""
    idf, words = corpus_idf(), shared_tokenizer().words
    known = set(words(earlier))
    weights = {word: idf(word) for word in set(words(lead))}
    shared = sum(weight for word, weight in weights.items() if word in known)
    return shared / (sum(weights.values()) or 1.0)
