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
from topiccrawl.addons.records.templates.values.value import SOFT, shown
from topiccrawl.addons.records.templates.words import BRANCH, OTHER_OWNER
from topiccrawl.extract.metadata import meta_elements
from topiccrawl.text.normal import fold, has_han, normalise, simplify, simplify_aligned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from topiccrawl.addons.records.templates.layout import Layout, Line
    from topiccrawl.addons.records.templates.structured import Subject

_TITLE = re.compile(
    r"\s*[|_»>:—–·•/]\s*|\s*,(?!\s*(?:ltd|inc|llc|llp|plc|corp|gmbh|co)\b)\s*|\s+-+\s*|\s*-+\s+|(?<=[\u3400-\u9fff\s])-+|-+(?=[\u3400-\u9fff])",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\([^()]*:[^()]*\)")
"""A remark after a name in a title: (股票代码:836600)."""
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
_BEFORE_COPYRIGHT = re.compile(r"^([^©]{2,60}?)\s*(?:©|\(c\)|&copy;)\s*(?:\d{4}|$)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{2}")
_PORTAL = re.compile(
    r"(?:[^官联]网|黄页|名录|平台|招聘|大全|目录|企业库|\bdirectory|\byellow pages)$", re.IGNORECASE
)
"""Endings of the names of directories."""
_HEADS = frozenset({"h1", "h2", "h3", "h4", "strong", "caption", "th"})
_PART, _NEAR = 0.5, 0.8
"""Factors of a vote for a similar name, and for a short form of a legal name."""
_LEGAL = 0.35
_OWN = 0.05
"""Bonus for Chinese names, and for names of several capitalised words (Blue Heron, not Hiking)."""
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
_SPELLED = 4
"""Minimum length of a host label that can spell a name, in characters."""
_OWNERS = frozenset({"title", "site", "copyright", "label", "json-ld", "microdata"})
"""Voters for the legal name of a page's owner; the Chinese name is preferred if there are two."""
_TRADE_VOTERS = frozenset({"brand", "site", "label", "host"})
_LEAD = 12
"""Maximum number of characters before the name in a line about the site's owner."""
_HEAD_LINES, _BRAND, _SENTENCES = 40, 40, 300


class Vote(NamedTuple):
    """A name and its voter (a key of ``weights.NAMES``)."""

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
    portal = next((vote.name for vote in votes if _about_others(vote, best.name)), "")
    return best._replace(other_owner=other_owner or bool(portal), portal=portal)


def _about_others(vote: Vote, name: str) -> bool:
    """Return whether a part of the title is the name of a directory rather than the subject."""
    return (
        vote.voter == "brand" and bool(_PORTAL.search(vote.name)) and not similar(vote.name, name)
    )


def _adds_legal_form(name: str, short: str) -> bool:
    """Return whether a name is the short name plus a legal form; English names must contain it."""
    if not is_legal(name) or not similar(name, short) or (is_legal(short) and "有限" not in name):
        return False
    return has_han(short) or core(short) in core(name)


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
        points += _OWN * (has_han(name) or (_is_proper(name) and not chinese))
        first = max(own, key=lambda vote: NAMES[vote.voter])
        found.append((points, SubjectName(name, combined(weights[:6]), first.voter)))
    return [one for _, one in sorted(found, key=lambda pair: -pair[0])]


def _is_proper(name: str) -> bool:
    """Return whether a name in Latin letters has several words, all capitalised."""
    words = [word for word in name.split() if len(word) > 3]  # noqa: PLR2004
    return len(name.split()) > 1 and bool(words) and all(word[0].isupper() for word in words)


def name_votes(
    page: Layout,
    structured: Sequence[Subject],
    found: Sequence[Candidate],
    naming: str | None,
    hosts: Sequence[str] = (),
) -> Iterator[Vote]:
    """Yield the votes for the name of a page's subject.

    Args:
        page: The page.
        structured: Organisations in the structured data of the page.
        found: Values found in the page.
        naming: Field of kind ``name``, or None.
        hosts: The page's host and the hosts of the mail addresses on it.
    """
    votes = list(_votes(page, structured, found, naming))
    yield from votes
    for name in dict.fromkeys(vote.name for vote in votes if vote.voter == "brand"):
        if any(spells(host, name) for host in hosts):
            yield Vote(name, "host")
    if not votes:
        yield from _of_blocks(page, found)


def _of_blocks(page: Layout, found: Sequence[Candidate]) -> list[Vote]:
    """Return a vote for the first line of the block with the values, if there is only one block."""
    heads = set()
    for one in found:
        box = page.boxes[page.lines[one.at].box]
        text = tidy(page.lines[box.begin].text)
        named = one.at > box.begin and 2 <= len(text) <= _BRAND and not _GENERIC.match(text)  # noqa: PLR2004
        if named and not re.search(r"[\d:@]", text):
            heads.add(text)
    return [Vote(text, "brand") for text in heads] if len(heads) == 1 else []


def _outer_lines(page: Layout) -> Iterator[tuple[int, Line]]:
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
    page: Layout, structured: Sequence[Subject], found: Sequence[Candidate], naming: str | None
) -> Iterator[Vote]:
    for subject in structured:
        yield Vote(tidy(subject.name), subject.where)
    for one in found:
        if one.field == naming:
            yield Vote(one.value, "label")
    metas = meta_elements(page.tree)
    site = normalise(metas.get("og:site_name") or metas.get("application-name") or "")
    if site and not _GENERIC.match(site):
        yield Vote(tidy(site), "site")
    yield from _of_title(page)
    logos = _of_logos(page)
    if not any(not similar(one.name, logos[0].name) for one in logos[1:]):
        yield from logos  # several logos are those of customers
    valued = {one.line for one in found if one.field != naming}
    for number, line in _outer_lines(page):
        written = _CALLED.sub("", line.text)
        spaced = " ".join(written.replace(SOFT, " ").split())
        text = shown(written)
        yield from _of_line(page, number, text if is_organisation(tidy(text)) else spaced, valued)


def _of_title(page: Layout) -> Iterator[Vote]:
    title = _ASIDE.sub("", page.title)
    parts = [part for part in map(tidy, _TITLE.split(title)) if part]
    for part in parts:
        if is_organisation(part):
            yield Vote(part, "title")
        elif names := organisations(part):
            yield from (Vote(one.value, "title") for one in names)
        elif not _GENERIC.match(part) and len(part) <= _BRAND:
            yield Vote(part, "brand")


def _of_line(page: Layout, number: int, text: str, valued: set[int]) -> Iterator[Vote]:
    line = page.lines[number]
    if line.zone == "links":
        return
    foreign = OTHER_OWNER.search(simplify_aligned(text))
    if foreign and not (foreign[0] == "主办" and line.zone == "footer"):
        text = text[: foreign.start()].strip()
    if not text or BRANCH.search(text):
        return
    if _COPYRIGHT.search(simplify(text)):
        yield from (Vote(name, "copyright") for name in _of_copyright(text)[:1])
    else:
        yield from _of_text(line, number, text, valued)


def _of_text(line: Line, number: int, text: str, valued: set[int]) -> Iterator[Vote]:
    whole = tidy(text)
    if is_organisation(whole) and _is_external(line, whole):
        yield Vote(whole, "text")
    elif is_organisation(whole):
        close = any(number < other <= number + 6 for other in valued)
        least = "footer" if line.zone == "footer" else "text"
        yield Vote(whole, "heading" if close or line.tag in _HEADS else least)
    elif line.tag == "h1" and not _GENERIC.match(whole) and 2 <= len(whole) <= _BRAND:  # noqa: PLR2004
        yield Vote(whole, "brand")
    elif len(text) <= _SENTENCES:
        for one in organisations(text)[:3]:
            yield Vote(one.value, _voter(line, text, one.start, one.end))


def _is_external(line: Line, name: str) -> bool:
    """Return whether a name is only an absolute link, such as of a partner or subsidiary."""
    return any(
        mark.what == "link" and "://" in mark.value and mark.end - mark.start >= len(name)
        for mark in line.marks
    )


def _voter(line: Line, text: str, start: int, end: int) -> str:
    """Return the voter for an organisation named in a line."""
    if not start and _INTRODUCES.match(text, end):
        return "intro"
    return "footer" if line.zone == "footer" and start <= _LEAD else "text"


def _of_logos(page: Layout) -> list[Vote]:
    votes = []
    for line in page.lines[:_HEAD_LINES]:
        images = [one for one in line.marks if one.what == "image"]
        for mark in images if line.zone in {"header", "main"} else ():
            name = tidy(mark.instead)
            logo = name and "logo" in fold(mark.value) and not _GENERIC.match(name)
            if logo or is_organisation(name):
                votes.append(Vote(name, "logo"))
    return votes


def _of_copyright(text: str) -> list[str]:
    names = [value.value for value in organisations(text)]
    after = _AFTER_COPYRIGHT.search(text)
    stated = [after[1]] if after else []
    stated += [match[1]] if (match := _BEFORE_COPYRIGHT.match(text)) else []
    others = [name for name in map(tidy, stated) if _WORD.search(name) and not _GENERIC.match(name)]
    if others and names and not has_han(text) and not any(similar(names[0], one) for one in others):
        return others[:1]  # © Maids of Tulsa, a franchise of Service LLC
    return names or others[:1]


def _key(name: str) -> str:
    return re.sub(r"[\W_]+", "", fold(name))
