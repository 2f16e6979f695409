"""What the subject of a page is called: votes of its title, headings, copyright and labels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.templates.values.names import (
    alike,
    core,
    is_organisation,
    legal,
    organisations,
    tidy,
)
from topiccrawl.templates.values.value import seen
from topiccrawl.templates.weights import NAMES, together
from topiccrawl.templates.words import ALIEN, BRANCH
from topiccrawl.text.normal import fold, has_han

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topiccrawl.templates.candidate import Candidate
    from topiccrawl.templates.lines import Line, Sheet
    from topiccrawl.templates.structured import Subject

_TITLE = re.compile(
    r"\s*[|_»>:—–·•/]\s*|\s*,\s*(?!(?:ltd|inc|llc|llp)\b)|\s+-+\s*|\s*-+\s+|(?<=[\u3400-\u9fff\s])-+|-+(?=[\u3400-\u9fff])",
    re.IGNORECASE,
)
_GENERIC = re.compile(
    r"^(?:联系我们|联系方式|联系|关于我们|关于|首页|主页|公司简介|网站|官网|官方网站|欢迎您?|在线留言|联络我们|"
    r"contact(?:\s+us)?|about(?:\s+us)?|home(?:\s*page)?|welcome|find\s+us|visit\s+us|get\s+in\s+touch|"
    r"where\s+we\s+are|opening\s+(?:hours|times)|我们|公司地址|untitled.*|index|无标题文档|新网页.*)$",
    re.IGNORECASE,
)
_COPYRIGHT = re.compile(r"©|版权|copyright|\(c\)\s*\d{4}|all\s+rights", re.IGNORECASE)
_AFTER_COPYRIGHT = re.compile(
    r"(?:©|copyright|\(c\))[\s©(c)\d\-–,.]*(.{2,60}?)(?:\s+[-|·]|[.,|;]\s|\s*all\s+rights|\s*版权|"
    r"\s*[\u3400-\u9fff]?icp|$)",
    re.IGNORECASE,
)
_HEADS = frozenset({"h1", "h2", "h3", "h4", "strong", "caption", "th"})
_PART = 0.5
_LEGAL = 0.35
_INTRODUCES = re.compile(
    r"\s*(?:\([^()]{1,30}\))?[\s,]*(?:是|系|为|成立|创[立建办]|始[建创]|注册|坐落|位于|地处|总部|专注|专业从事|致力|"
    r"(?:is|was)\s|(?:specialis|specializ)es\b)"
)
"""What follows the name in the sentence with which a company presents itself."""
_SECTIONS = frozenset({"label", "heading", "intro"})
_MOST = 400
"""Lines from the page's top, and from its end, that are looked at."""
_HEAD_LINES, _BRAND, _SENTENCES = 40, 40, 300


class Vote(NamedTuple):
    """A name, who says it (``weights.NAMES``), and the line where it stands (-1: in the head)."""

    name: str
    who: str
    line: int = -1


class Called(NamedTuple):
    """What a page's subject is called.

    Attributes:
        name: The name; "" where nothing says it.
        confidence: In [0, 1].
        who: The weightiest voter.
        line: The line where it stands, or -1.
        elsewhere: Whether the page's copyright or site name is of somebody else.
    """

    name: str
    confidence: float = 0.0
    who: str = ""
    line: int = -1
    elsewhere: bool = False


def called(votes: Sequence[Vote]) -> Called:
    """The name that most votes support; of like names the one with a legal form.

    >>> votes = [Vote("天府软件", "brand"), Vote("四川天府软件有限公司", "copyright"),
    ...          Vote("成都蜀网科技有限公司", "text")]
    >>> called(votes).name
    '四川天府软件有限公司'
    """
    ranked = _ranked(_undisputed(votes))
    if not ranked:
        return Called("")
    best = ranked[0]
    if has_han(best.name) and not legal(best.name):
        best = next((one for one in ranked if legal(one.name) and alike(one.name, best.name)), best)
    site = [vote for vote in votes if vote.who in {"copyright", "site"}]
    elsewhere = bool(site) and not any(alike(vote.name, best.name) for vote in site)
    return best._replace(elsewhere=elsewhere)


def _undisputed(votes: Sequence[Vote]) -> Sequence[Vote]:
    """The votes without those of labels and headings, where these name several organisations.

    Unless the page says elsewhere which of them is its own: then it is no directory.
    """
    named = [vote.name for vote in votes if vote.who in _SECTIONS]
    several = any(not alike(one, named[0]) for one in named[1:])
    around = [vote for vote in votes if vote.who not in _SECTIONS | {"text"}]
    if not several or any(alike(vote.name, one) for vote in around for one in named):
        return votes
    return [vote for vote in around if is_organisation(vote.name)]


def _ranked(votes: Sequence[Vote]) -> list[Called]:
    """The names, the best supported first; a like name supports by half its weight."""
    found: list[tuple[float, Called]] = []
    names = {_key(vote.name): vote.name for vote in reversed(votes) if core(vote.name)}
    for key, name in names.items():
        own = [vote for vote in votes if _key(vote.name) == key]
        near = [vote for vote in votes if _key(vote.name) != key and alike(vote.name, name)]
        weights = [NAMES[vote.who] for vote in own] + [NAMES[vote.who] * _PART for vote in near]
        points = sum(sorted(weights, reverse=True)[:8]) + _LEGAL * legal(name)
        first = max(own, key=lambda vote: NAMES[vote.who])
        found.append((points, Called(name, together(weights[:6]), first.who, first.line)))
    return [one for _, one in sorted(found, key=lambda pair: -pair[0])]


def votes_of(
    sheet: Sheet, said: Sequence[Subject], found: Sequence[Candidate], naming: str | None
) -> Iterator[Vote]:
    """Who calls the subject of a page what."""
    for subject in said:
        yield Vote(tidy(subject.name), subject.where)
    for one in found:
        if one.field == naming:
            yield Vote(one.value, "label", one.line)
    site = sheet.metas.get("og:site_name") or sheet.metas.get("application-name") or ""
    if site and not _GENERIC.match(site):
        yield Vote(tidy(site), "site")
    yield from _of_title(sheet)
    valued = {one.line for one in found if one.field != naming}
    for number, line in enumerate(sheet.lines[:_MOST] + sheet.lines[_MOST:][-_MOST:]):
        at = number if number < _MOST else max(number, len(sheet.lines) - 2 * _MOST + number)
        yield from _of_line(sheet, at, seen(line.text), valued)


def _of_title(sheet: Sheet) -> Iterator[Vote]:
    parts = [part for part in map(tidy, _TITLE.split(sheet.title)) if part]
    for part in parts:
        if is_organisation(part):
            yield Vote(part, "title")
        elif not _GENERIC.match(part) and len(part) <= _BRAND:
            yield Vote(part, "brand")


def _of_line(sheet: Sheet, number: int, text: str, valued: set[int]) -> Iterator[Vote]:
    line = sheet.lines[number]
    if line.zone == "links":
        return
    if number < _HEAD_LINES and line.zone in {"header", "main"}:
        yield from _of_logos(line, number)
    if alien := ALIEN.search(text):
        text = text[: alien.start()].strip()
    if not text or BRANCH.search(text):
        return
    if _COPYRIGHT.search(text):
        yield from (Vote(name, "copyright", number) for name in _of_copyright(text)[:1])
    else:
        yield from _of_text(line, number, text, valued)


def _of_text(line: Line, number: int, text: str, valued: set[int]) -> Iterator[Vote]:
    whole = tidy(text)
    if is_organisation(whole):
        close = any(number < other <= number + 6 for other in valued)
        yield Vote(whole, "heading" if close or line.tag in _HEADS else "text", number)
    elif line.tag == "h1" and not _GENERIC.match(whole) and 2 <= len(whole) <= _BRAND:  # noqa: PLR2004
        yield Vote(whole, "brand", number)
    elif len(text) <= _SENTENCES:
        for one in organisations(text)[:3]:
            intro = not one.start and _INTRODUCES.match(text, one.end)
            yield Vote(one.value, "intro" if intro else "text", number)


def _of_logos(line: Line, number: int) -> Iterator[Vote]:
    for mark in line.marks:
        if mark.what == "image" and (name := tidy(mark.instead)):
            logo = "logo" in fold(mark.value) and not _GENERIC.match(name)
            if logo or is_organisation(name):
                yield Vote(name, "logo", number)


def _of_copyright(text: str) -> list[str]:
    names = [value.value for value in organisations(text)]
    after = _AFTER_COPYRIGHT.search(text)
    if not names and after and (name := tidy(after[1])) and not _GENERIC.match(name):
        names = [name]
    return names


def _key(name: str) -> str:
    return re.sub(r"[\W_]+", "", fold(name))
