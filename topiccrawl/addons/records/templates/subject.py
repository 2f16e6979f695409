"""Name of a page's subject, by votes of its title, headings, copyright notice and labels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.addons.records.templates.candidate import NAMES, Candidate, combined
from topiccrawl.addons.records.templates.values.names import (
    core,
    is_legal,
    is_organisation,
    organisations,
    similar,
    tidy,
)
from topiccrawl.addons.records.templates.values.plain import SOFT, shown
from topiccrawl.addons.records.templates.words import BRANCH, OTHER_OWNER
from topiccrawl.links.urls import host_of
from topiccrawl.text.normal import fold, has_han, simplify, simplify_aligned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from topiccrawl.addons.records.templates.labels import LabelledPage
    from topiccrawl.addons.records.templates.layout import Line
    from topiccrawl.addons.records.templates.structured import Subject

_TITLE = re.compile(
    r"\s*[|_»>:—–·•/]\s*|\s*,(?!\s*(?:ltd|inc|llc|llp|plc|corp|gmbh|co)\b)\s*|\s+-+\s*|\s*-+\s+|(?<=[\u3400-\u9fff\s])-+|-+(?=[\u3400-\u9fff])",
    re.IGNORECASE,
)
_GENERIC = re.compile(
    r"^(?:联系我们|联系方式|联系|关于我们|关于|首页|主页|公司简介|网站|官网|官方网站|欢迎您?|在线留言|联络我们|"
    r"招贤纳士|诚聘英才|人才招聘|加入我们|新闻(?:中心|动态)?|产品中心|合作伙伴|企业详情|公司(?:地图|资讯|资料|信息|档案)|new\s+page.*|"
    r"hours|locations?|directions|hours\s+(?:&|and)\s+locations?|contact(?:\s+us)?|about(?:\s+us)?|our\s+offices?|offices?|news|prices?|services?|imprint|"
    r"home(?:\s*page)?|welcome|find\s+us|visit\s+us|get\s+in\s+touch|"
    r"where\s+we\s+are|[\u3400-\u9fff]{0,6}(?:热线|电话|地址|联系方式)|opening\s+(?:hours|times)|impressum|kontakt|mentions\s+légales|nous\s+contacter|我们|公司地址|untitled.*|index|无标题文档|新网页.*)$",
    re.IGNORECASE,
)
_COPYRIGHT = re.compile(r"©|版权|copyright|\(c\)\s*\d{4}|all\s+rights", re.IGNORECASE)
_AFTER_COPYRIGHT = re.compile(
    r"(?:©|copyright|\(c\))[\s©(c)\d\-–,.]*(.{2,60}?)(?:\s+[-|·]|[.,|;]\s|\s*all\s+rights|\s*版权|"
    r"\s*[\u3400-\u9fff]?icp|$)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2}")
_PORTAL = re.compile(
    r"(?:[^官联]网|黄页|名录|平台|招聘|大全|目录|企业库|\bdirectory|\byellow pages)$", re.IGNORECASE
)
"""Endings of the names of directories."""
_HEADS = frozenset({"h1", "h2", "h3", "h4", "strong", "caption", "th"})
_PART, _NEAR = 0.5, 0.8
"""Factors of a vote for a similar name, and for a short form of a legal name."""
_PROPER = re.compile(r"[A-Z]\S* (?:\S{1,3} )*[A-Z\d&]")
"""A name of several capitalised words: Blue Heron, not Hiking."""
_LEGAL = 0.35
_OWN = 0.05
"""Bonus for Chinese names, and for names of several capitalised words."""
_INTRODUCES = re.compile(
    r"\s*(?:\([^()]{1,30}\))?[\s,]*(?:是|系|为|成立|创[立建办]|始[建创]|注册|坐落|位于|地处|总部|专注|专业从事|致力|"
    r"(?:is|was)\s|(?:specialis|specializ)es\b)"
)
"""Text after the name in the introductory sentence of a company."""
_CALLED = re.compile(r"^(?:公司|单位|企业|名称)[\s\x1f]+")
"""A word in a separate element before a name."""
_SECTIONS = frozenset({"label", "heading", "intro"})
_MOST = 400
"""Number of lines examined at the start and at the end of a page."""
_CLOSE = 6
"""Maximum distance between a heading and the values below it, in lines."""
_SPELLED = 4
"""Minimum length of a host label that can spell a name, in characters."""
_OWNERS = frozenset({"title", "site", "copyright", "label", "json-ld", "microdata"})
"""Voters for the legal name of a page's owner; the Chinese name is preferred if there are two."""
_TRADE_VOTERS = frozenset({"brand", "site", "label", "host"})
_LEAD = 12
"""Maximum number of characters before the name in a line about the site's owner."""
_HEAD_LINES, _BRAND, _SENTENCES = 40, 40, 300


class Vote(NamedTuple):
    """A name and its voter (a key of ``candidate.NAMES``)."""

    name: str
    voter: str


class SubjectName(NamedTuple):
    """Name of a page's subject.

    Attributes:
        name: The name; "" if unknown.
        confidence: Confidence in [0, 1].
        voter: Voter with the highest weight.
        other_owner: Whether the copyright notice or the site name is that of another owner.
        portal: Name of the directory to which the page belongs, or "".
    """

    name: str
    confidence: float = 0.0
    voter: str = ""
    other_owner: bool = False
    portal: str = ""


def subject_name(votes: Sequence[Vote]) -> SubjectName:
    """Return the name with the most support; of similar names the one with a legal form.

    >>> votes = [Vote("天府软件", "brand"), Vote("四川天府软件有限公司", "copyright"),
    ...          Vote("成都蜀网科技有限公司", "text")]
    >>> subject_name(votes).name
    '四川天府软件有限公司'
    """
    ranked = _ranked(_unambiguous(votes))
    if not ranked:
        return SubjectName("")
    best = ranked[0]
    if not is_legal(best.name) or (has_han(best.name) and "有限" not in best.name):
        best = next((one for one in ranked if _adds_legal_form(one.name, best.name)), best)
    elif not has_han(best.name):
        chinese = {one.name for one in votes if one.voter in _OWNERS and has_han(one.name)}
        own = next((one for one in ranked if one.name in chinese and is_legal(one.name)), None)
        best = own or next((one for one in ranked if _is_trade_name(one, best.name)), best)
    site = [vote for vote in votes if vote.voter in {"copyright", "site"}]
    other_owner = bool(site) and not any(similar(vote.name, best.name) for vote in site)
    portals = (one.name for one in votes if one.voter == "brand" and _PORTAL.search(one.name))
    portal = next((name for name in portals if not similar(name, best.name)), "")
    return best._replace(other_owner=other_owner or bool(portal), portal=portal)


def _adds_legal_form(name: str, short: str) -> bool:
    """Return whether a name is the short name plus a legal form."""
    legal = is_legal(name) and ("有限" in name or not is_legal(short))
    return legal and (core(short) in core(name) or (has_han(short) and similar(name, short)))


def _is_trade_name(one: SubjectName, legally: str) -> bool:
    """Return whether a title or heading gives a trade name that is longer than the legal name.

    Pedal & Pasty Bike Workshop is a trade name of Pedal & Pasty Ltd; Pedal & Pasty is not.
    """
    name, short = core(one.name), core(legally)
    if any(word.isalpha() and word.islower() and len(word) > 3 for word in one.name.split()):  # noqa: PLR2004
        return False  # a headline
    return one.voter in _TRADE_VOTERS and len(name) > len(short) and name.startswith(short)


def _unambiguous(votes: Sequence[Vote]) -> Sequence[Vote]:
    """Remove the votes of labels and headings if these name several organisations.

    They are kept if another vote supports one of them: then the page is not a directory.
    """
    named = [vote.name for vote in votes if vote.voter in _SECTIONS]
    several = any(not similar(one, named[0]) for one in named[1:])
    around = [vote for vote in votes if vote.voter not in _SECTIONS | {"text"}]
    if not several:
        return votes
    if any(similar(vote.name, one) for vote in around for one in named):
        return [
            vote
            for vote in votes
            if vote.voter != "label" or any(similar(vote.name, one.name) for one in around)
        ]
    return [vote for vote in around if is_organisation(vote.name)]


def _ranked(votes: Sequence[Vote]) -> list[SubjectName]:
    """Return the names by descending support; similar names add a part of their weight."""
    found: list[tuple[float, SubjectName]] = []
    keyed = [(_key(vote.name), vote) for vote in votes]
    names = {key: vote.name for key, vote in reversed(keyed) if core(vote.name)}
    chinese = any(map(has_han, names.values()))
    for key, name in names.items():
        own = [vote for one, vote in keyed if one == key]
        near = [vote for one, vote in keyed if one != key and similar(vote.name, name)]
        weights = [NAMES[vote.voter] for vote in own]
        weights += [NAMES[vote.voter] * (_NEAR if is_legal(name) else _PART) for vote in near]
        points = sum(sorted(weights, reverse=True)[:8])
        points += _LEGAL * is_organisation(name)
        points += _OWN * (has_han(name) or (not chinese and _PROPER.match(name) is not None))
        first = max(own, key=lambda vote: NAMES[vote.voter])
        found.append((points, SubjectName(name, combined(weights[:6]), first.voter)))
    return [one for _, one in sorted(found, key=lambda pair: -pair[0])]


def name_votes(
    page: LabelledPage, structured: Sequence[Subject], found: Sequence[Candidate], url: str
) -> Iterator[Vote]:
    """Yield the votes for the name of a page's subject.

    Args:
        page: The page.
        structured: Organisations in the structured data of the page.
        found: Values found in the page.
        url: URL of the page.
    """
    votes = list(_votes(page, structured, found))
    yield from votes
    brands = {_key(vote.name): vote.name for vote in votes if vote.voter == "brand"}
    kinds = page.words.kinds
    mails = (one.value for one in found if kinds[one.field] == "mail" and not one.image)
    hosts = {host_of(url), *(mail.rpartition("@")[2] for mail in mails)}
    yield from (Vote(n, "host") for n in brands.values() if any(spells(host, n) for host in hosts))
    yield from _repetitions(page, brands)
    if not votes:
        yield from _of_blocks(page, found)


def _of_blocks(page: LabelledPage, found: Sequence[Candidate]) -> list[Vote]:
    """Return a vote for the first line of the block with the values, if there is only one block."""
    heads = set()
    for one in found:
        box = page.boxes[page.lines[one.at].box]
        text = tidy(page.lines[box.begin].text)
        named = one.at > box.begin and 2 <= len(text) <= _BRAND and not _GENERIC.match(text)  # noqa: PLR2004
        if named and not re.search(r"[\d:@]", text):
            heads.add(text)
    return [Vote(text, "brand") for text in heads] if len(heads) == 1 else []


def _repetitions(page: LabelledPage, brands: Mapping[str, str]) -> Iterator[Vote]:
    """Yield votes for parts of the title that fill a line, or begin a line of the footer."""
    for _, line in _outer_lines(page):
        if line.tag == "h1" or _COPYRIGHT.search(simplify(line.text)):
            continue  # counted as another vote
        text = _key(tidy(line.text))
        for key, name in brands.items():
            if text == key or (line.zone == "footer" and text.startswith(key)):
                yield Vote(name, "echo")


def _outer_lines(page: LabelledPage) -> Iterator[tuple[int, Line]]:
    """Yield the first and the last lines of a page, with their numbers."""
    total = len(page.lines)
    for number in (*range(min(_MOST, total)), *range(max(_MOST, total - _MOST), total)):
        yield number, page.lines[number]


def spells(host: str, name: str) -> bool:
    """Return whether a label of a host name abbreviates a name in Latin letters or begins with it.

    >>> spells("www.sandhillcrane.example", "Sandhill Crane Realty"), spells("a.test", "A House")
    (True, False)
    """
    letters = _key(name)
    if not letters.isascii():
        return False
    parts = [part.replace("-", "") for part in host.lower().split(".")[:-1]]
    return any(
        len(part) >= _SPELLED
        and (letters.removeprefix("the").startswith(part) or part.startswith(letters))
        for part in parts
    )


def _votes(
    page: LabelledPage, structured: Sequence[Subject], found: Sequence[Candidate]
) -> Iterator[Vote]:
    naming = page.words.template.naming
    yield from (Vote(tidy(subject.name), subject.where) for subject in structured)
    yield from (Vote(one.value, "label") for one in found if one.field == naming)
    if site := page.layout.metas.get("og:site_name"):
        yield Vote(tidy(site), "site")
    yield from _of_title(page)
    yield from _of_logos(page)
    valued = {one.line for one in found if one.field != naming}
    for number, line in _outer_lines(page):
        written = _CALLED.sub("", line.text)
        text = shown(written)
        if not is_organisation(tidy(text)):
            text = " ".join(written.replace(SOFT, " ").split())
        close = any(number < other <= number + _CLOSE for other in valued)
        yield from _of_line(line, text, close=close)


def _of_title(page: LabelledPage) -> Iterator[Vote]:
    for part in filter(None, map(tidy, _TITLE.split(page.layout.title))):
        if names := organisations(part):
            yield from (Vote(one.value, "title") for one in names)
        elif not _GENERIC.match(part) and len(part) <= _BRAND:
            yield Vote(part, "brand")


def _of_logos(page: LabelledPage) -> Iterator[Vote]:
    for line in page.lines[:_HEAD_LINES]:
        for mark in line.marks if line.zone in {"header", "main"} else ():
            name = tidy(mark.instead) if mark.what == "image" else ""
            logo = name and "logo" in fold(mark.value) and not _GENERIC.match(name)
            if logo or is_organisation(name):
                yield Vote(name, "logo")


def _of_line(line: Line, text: str, *, close: bool) -> Iterator[Vote]:
    """Yield the votes of a line; ``close``: values follow it."""
    foreign = OTHER_OWNER.search(simplify_aligned(text))
    if foreign and not (foreign[0] == "主办" and line.zone == "footer"):
        text = text[: foreign.start()].strip()
    if line.zone == "links" or BRANCH.search(text):
        return
    whole = tidy(text)
    if _COPYRIGHT.search(simplify(text)):
        yield from (Vote(name, "copyright") for name in _of_copyright(text)[:1])
    elif is_organisation(whole):
        least = "footer" if line.zone == "footer" else "text"
        heads = (close or line.tag in _HEADS) and not _is_external(line, whole)
        yield Vote(whole, "heading" if heads else least)
    elif line.tag == "h1" and not _GENERIC.match(whole) and 2 <= len(whole) <= _BRAND:  # noqa: PLR2004
        yield Vote(whole, "brand")
    elif len(text) <= _SENTENCES:
        for one in organisations(text)[:3]:
            footer = line.zone == "footer" and one.start <= _LEAD
            intro = not one.start and _INTRODUCES.match(text, one.end)
            yield Vote(one.value, "intro" if intro else "footer" if footer else "text")


def _is_external(line: Line, name: str) -> bool:
    """Return whether a name is only an absolute link, such as of a partner or subsidiary."""
    return any(
        mark.what == "link" and "://" in mark.value and mark.end - mark.start >= len(name)
        for mark in line.marks
    )


def _of_copyright(text: str) -> list[str]:
    names = [value.value for value in organisations(text)]
    after = _AFTER_COPYRIGHT.search(text)
    stated = tidy(after[1]) if after else ""
    if not _WORD.search(stated) or _GENERIC.match(stated):
        return names
    if names and (has_han(text) or similar(names[0], stated)):
        return names
    return [stated]  # © Maids of Tulsa, a franchise of Service LLC


def _key(name: str) -> str:
    return re.sub(r"[\W_]+", "", fold(name))
