"""Source and authors of an article in the byline formats of Chinese pages (来源, 作者, 记者)."""

from __future__ import annotations

import re
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING

from topiccrawl.extract.blocks import ancestors, names_of
from topiccrawl.extract.boilerplate import both_scripts, is_dated
from topiccrawl.text.normal import has_han
from topiccrawl.text.surnames import SURNAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selectolax.lexbor import LexborHTMLParser, LexborNode

_LABEL = r"作者|记者|编辑|责编|责任编辑|来源|时间|发布|评论|浏览|点击|字号|我要|分享"
_END = rf"(?=[\s)）】\]|｜丨，,；;。、]|{_LABEL}|\d{{4}}[-年/]|$)"
_IS = r"(?:\s*[:：｜丨]\s*|\s\|\s)"  # without blanks, bars separate the words of a menu
_SOURCE = re.compile(
    both_scripts(
        rf"(?:来源(?<![图圖片据據频頻]来源)|稿源|来自(?<![图圖片]来自)|转自|出处){_IS}"
        rf"(?!{_LABEL}|\d+(?:[.年月日\s]|$))(?:(?<!\n)([^\s:：|<>]{{2,30}}?){_END}"
        rf"|(?<=\n)([^\s:：|<>，。；〔]{{2,30}}?)(?=\n|$|\s*(?:{_LABEL}|\d{{4}}[-年/])))"
    )
)
"""A source; in the line after its label, which may be empty, it is the whole line."""
_ROLE = (
    r"(?!编辑|责编|责任|来源|作者|记者|通讯员|时间|发布|摄影|报道|报导|字号|评论|分享|新浪|微博|"
    r"网友|实习)"
)
_HAN = r"[\u4e00-\u9fff]"
_SPACED = rf"{_HAN}[ 　]{_HAN}(?!{_HAN})"
_LATIN = r"[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){1,3}"
_NAME = rf"{_ROLE}(?:{_SPACED}|[\u4e00-\u9fff·]{{2,6}})|{_LATIN}"
_MORE = rf"[ 　、,，/]{{1,3}}{_ROLE}(?:{_SPACED}|{_HAN}{{2,3}}(?!{_HAN}))"
_NAMES = rf"((?:{_NAME})(?:{_MORE}){{0,4}})"
_SEVERAL = rf"({_HAN}{{2,4}}(?:[ 　、]{{1,3}}{_HAN}{{2,4}}){{0,3}})"
_STOP = r"(?=[\s)）】\]|｜丨，,；;。、/]|编辑|责编|责任编辑|来源|摄影|报道|$)"
_REPORTERS = rf"({_ROLE}(?:{_SPACED}|{_HAN}{{2,4}}?|{_LATIN})(?:{_MORE}){{0,4}})"
_REPORTED = rf"[)）】\]]|(?:{_HAN}{{2}})?报道|摄|通讯员|$"
_NO_SENTENCE = r"(?m:^)(?!.{0,6}(?:[他她你我向在受]|对))"
_PAPER = rf"{_NO_SENTENCE}{_HAN}{{1,8}}(?:报|网|社|台|视|新闻|周刊)"
_SURNAMES = (
    f"{''.join(sorted(SURNAMES))}艾谷佟祁翁庄柴瞿阮裴聂翟詹欧耿焦葛柯岳倪骆涂俞凌霍颜乔殷洪喻岑"
    "萬嚴莊聶歐駱顏喬馮劉盧葉呂吳孫張楊湯羅蘇範蔣許謝譚賀賈趙鄧鄒鄭鍾錢閆陸陳韋韓顧馬黃龍龔閻"
)
_SURNAME = f"[{_SURNAMES}]"
_SIGNED = rf"(?![^)）]{{0,6}}(?:摄|图|圖|编|译|譯|报)){_SURNAME}{_HAN}{{1,2}}"
"""Name in brackets at the end of a text, which begins with a surname; others are notes (盖章)."""
_PRESS = rf"(?:{_HAN}{{0,6}}(?:记者|通讯员)\s*)?"
_TEXT_BY = (
    r"文[图圖]?\s*[:：]\s*|"
    r"(?<!\w)(?:[图圖]文|文[图圖]?)\s*[/／|｜丨]\s*(?:[图圖]\s*[/／:：]?\s*)?"
)
_WRITERS = (
    rf"(?:(?:作者|撰文|撰稿人?|文字){_IS}|{_TEXT_BY}){_PRESS}{_NAMES}{_STOP}",
    rf"记者\s*[:：]\s*{_REPORTERS}(?=[\s)）】\]|｜丨；;、/]|编辑|责编|责任编辑|来源|摄影|$)",
    rf"(?:本报|本网|见习|实习|特约|驻{_HAN}{{2,6}})记者\s*{_REPORTERS}(?=\s|{_REPORTED})",
    rf"(?:新闻|媒体|周刊|首席|报|网|社|台|视)记者\s+{_REPORTERS}(?=\s*(?:\n|{_REPORTED}))",
    rf"{_PAPER}记者[ 　](?![今昨]){_ROLE}({_HAN}{{2,3}})[ 　]",
    rf"[(（]记者\s*{_SEVERAL}\s*(?:通讯员[^()（）]{{0,20}})?[)）]",
    rf"记者({_HAN}{{2,3}}){_HAN}{{2,3}}\d{{1,2}}日(?:综合外)?[电電]",
    rf"记者\s*{_SEVERAL}\s*[/／]\s*(?:{_HAN}{{0,8}}(?:报导|报道)|(?:文|摄影?|图)(?!{_HAN}))",
    rf"[。！？!?…”」][ 　]?[(（](?:作者[ 　])?({_SIGNED}(?:[ 　、]{_SIGNED})?)[)）]$",
)
_BLANK_IN_NAME = re.compile(rf"(?<![\u4e00-\u9fff])({_HAN})[ 　]({_HAN})(?!{_HAN})")
"""A blank between the two characters of a name, which aligns it with names of three."""
_SPLIT = re.compile(r"[ 　、,，/]+")
_AUTHOR_MARKS = (
    "[rel~=author], [itemprop=author], [class*=byline i], "
    "[class*=author i]:not([class*=authorized i], [class*=authorit i])"
)
_CARDS = ".vcard .fn, [rel~=author], [itemprop=author]"
_NICKNAME = re.compile(r"[^\W\d_\u3041-\u9fff][\w.'’-]{2,29}")
_ROLES = frozenset(("admin", "administrator", "author", "editor", "staff"))
_BELOW_HEADLINE = 2  # lines of a text that begins with the headline
_PARTICLE = 3  # letters of a word of a name without a capital, such as de or van
_MOST_MARKS, _LONGEST_BYLINE = 30, 100
_LONGEST_START = 10_000  # characters, with blanks, of an element that are read
_BY = re.compile(
    r"^(?:(?:(?:posted|published|written|story|words|veröffentlicht|eingestellt|erstellt|verfasst|"
    r"publié|écrit|publicado|postado|escrito) )?(?:by|von|par|por|oleh)\b[\s:]*|(?-i:di|door|av) |"
    r"(?:由|作者|authors?|autor(?:in)?|auteur|autore|автор)[\s:：]+)",
    re.IGNORECASE,
)
_AND = re.compile(r"\s*(?:,|&|;|\b(?:and|und|et|y|och)\b)\s*")
_BAR = re.compile(r"\s*[|｜•·/]\s*")
"""Separators between names and other data."""
_SUBJECT = re.compile("/(?:categor|tag|topic)")
"""Parts of the URLs of subjects."""
_HOST = re.compile(r"(?:\w+:)?//[^/]*")
_PROFILE = re.compile(
    "auth?or|auteur|profile|people|person|staff|contribut|columnist|writer|journalist|reporter|"
    "editor|reviewer|team|user|member|/by/|/bio|/u/|@"
)
"""Parts of the URLs of persons."""
_NO_PERSON = re.compile(
    r"\b(?:updated|posted|published|modified|share|follow us|breaking news)\b", re.IGNORECASE
)
_MANY_HAN = re.compile(rf"{_HAN}{{5}}")
_PERSON = re.compile(
    rf"{_ROLE}{_HAN}{{2,4}}|(?!.*\d)[^\W\d_a-z][\w.'’-]*(?: [^\W\d_][\w.'’-]*){{1,3}}"
)
_NO_NAMES = frozenset(
    ("未知", "佚名", "编辑", "记者", "作者", "来源", "责编", "网络", "综合", "报道", "微博", "时间",
     "关注", "本站", "小编", "匿名", "管理员", "記者", "編輯", "來源", "報導", "綜合")
)  # fmt: skip
_NO_SOURCES = frozenset(("未知", "佚名", "admin"))
_MEDIUM = re.compile(
    both_scripts(
        r"[\w·-]{0,16}(?:报|网|社|台|刊|周刊|杂志|新闻|体育|娱乐|财经|科技|汽车|客户端|通讯|时报|在线|频道)"
    )
)
_LINES_BEFORE = 5
"""Lines before a date that are searched for the name of a medium."""
_DATED = re.compile(r"(?:19|20)\d\d[-/.年]")


def source_in(text: str) -> str:
    """Return the first source (来源) in a text, or "".

    >>> source_in("2016年01月12日10:23 来源：新京报 作者：张三")
    '新京报'
    """
    match = _SOURCE.search(text)
    name = "" if match is None else (match[1] or match[2]).strip("《》“”\"'[]【】()（）")
    return "" if name in _NO_SOURCES else name


def medium_near_date(text: str) -> str:
    r"""Return a line with the name of a medium near a line with a date, or "".

    >>> medium_near_date("国足获胜\n新京报\n2016-01-12 10:23\n评论")
    '新京报'
    """
    lines = [line for line in map(str.strip, text.split("\n")) if line]
    for place, line in enumerate(lines):
        if _DATED.match(line):
            before = lines[max(0, place - _LINES_BEFORE) : place][::-1]
            return next(filter(_MEDIUM.fullmatch, (*before, *lines[place + 1 : place + 2])), "")
    return ""


def author_in(text: str) -> str:
    """Return names of writers, else of reporters (see ``joined``); "" if there are none.

    >>> author_in("来源：新京报 作者：张三 责任编辑：李四")
    '张三'
    >>> author_in("（本报记者 王五 赵六）(责任编辑：李四)")
    '王五 赵六'
    >>> author_in("会议今天闭幕。（孙八）"), author_in("会议今天闭幕。（未完）")
    ('孙八', '')
    >>> author_in("文/钱七 (责任编辑：李四)"), author_in("(责任编辑：李四)")
    ('钱七', '')
    """
    found = (_names(match[1]) for pattern in _writers() for match in pattern.finditer(text))
    return next(filter(None, found), "") or joined(_signed(text.split("\n")))


@cache
def _writers() -> tuple[re.Pattern[str], ...]:
    """Compile the patterns at the first page: each command imports this module."""
    return tuple(re.compile(both_scripts(pattern)) for pattern in _WRITERS)


def _signed(lines: Sequence[str]) -> list[str]:
    """Return the names of the first line that has only "by" and names, which may be in the next.

    Lines are text nodes: "by", or a lone word in lower case, without a colon must be below the
    first line (the headline) or a date; it may continue other words (licensed work by ...).
    """
    for number, line in enumerate(lines):
        own, found = _BY.subn("", line)
        small = line[:1].islower() and ":" not in line
        continues = small and (line.startswith("by") or not own.strip())
        if found and (number < _BELOW_HEADLINE or not continues or is_dated(lines[number - 1])):
            names = _persons(own.strip() or "".join(lines[number + 1 : number + 2]).strip())
            if names and not has_han(names[0]):  # names in Chinese have patterns of their own
                return names
    return []


def joined(names: Sequence[str]) -> str:
    """Return names separated by blanks, or by commas if a name has a blank.

    >>> joined(["张三", "李四"]), joined(["Jane Miller", "Jo Hill"])
    ('张三 李四', 'Jane Miller, Jo Hill')
    """
    return (", " if any(" " in name for name in names) else " ").join(names)


def without_by(text: str) -> str:
    """Remove "by" before names.

    >>> without_by("Von Jane Miller und Jo Hill"), without_by("Di Marco")
    ('Jane Miller, Jo Hill', 'Di Marco')
    """
    own, found = _BY.subn("", text)
    return (joined(_persons(own)) if found else "") or text


def marked_author(tree: LexborHTMLParser) -> str:
    """Return the names in the first element that is marked as the author and has only names, or "".

    A name of one word is that of a user; the element must be a link or card of the author.

    >>> from topiccrawl.links.limits import parse_html
    >>> marked_author(parse_html('<p class=byline>By <a href=/j>Jane Miller</a> and Jo Hill</p>'))
    'Jane Miller, Jo Hill'
    """
    marked = tree.css(_AUTHOR_MARKS)[:_MOST_MARKS]
    for reading in (_named_in, _named_first):
        for element in marked:
            names = reading(element)
            if names and not _is_of_comment(element):
                return joined(names)
    cards = (one for one in tree.css(_CARDS)[:_MOST_MARKS] if not _is_of_comment(one))
    users = (_BY.sub("", " ".join(one.text(separator=" ").split())) for one in cards)
    return next((u for u in users if _NICKNAME.fullmatch(u) and u.lower() not in _ROLES), "")


def _named_in(element: LexborNode) -> list[str]:
    """Return the names of the profiles that an element links to, else those it consists of.

    A link that begins the element, or follows such a link, may have any URL with the name.
    """
    text = rest = _own(_start(element, " "))
    names: dict[str, None] = {}
    for link in element.css("a[href]") if len(text) <= _LONGEST_BYLINE else []:
        name = " ".join(link.text(separator=" ").split())
        url = _HOST.sub("", (link.attributes.get("href") or "").lower(), count=1)
        if _shows(url, name) and (rest.startswith(name) or _PROFILE.search(url)):
            names[name] = None
            rest = _AND.sub("", rest.partition(name)[2], count=1)
    return list(names) or _persons(text)


def _named_first(element: LexborNode) -> list[str]:
    """Return the names before a date or a bar in an element; Chinese ones begin with a surname."""
    lines = _start(element, "\n").split("\n")[: 2 * _MOST_MARKS]
    undated = takewhile(lambda line: not any(map(str.isdigit, line)), lines)
    first = _BAR.split(_own(" ".join(undated)))[0]
    names = [] if _NO_PERSON.search(first) else _persons(first)
    return names if all(not has_han(name) or name[0] in _SURNAMES for name in names) else []


def _start(element: LexborNode, separator: str) -> str:
    return element.text(separator=separator)[:_LONGEST_START]


def _own(text: str) -> str:
    """Remove labels from a byline."""
    return _BY.sub("", " ".join(word for word in text.split() if word not in _NO_NAMES))


def _shows(url: str, name: str) -> bool:
    """Return whether a URL is not that of a subject and has the words of a person's name."""
    words = [word for word in name.lower().split() if len(word) > _PARTICLE]
    shown = bool(words) and all(word in url for word in words) and not _SUBJECT.search(url)
    return shown and bool(_persons(name))


def has_only_names(line: str) -> bool:
    """Return whether a line has the form of names without "by"; short headlines may have it, too.

    >>> has_only_names("Jane Miller and Jo Hill"), has_only_names("Jane Miller wins")
    (True, False)
    """
    return bool(_persons(line))


def is_medium(name: str) -> bool:
    """Return whether a name is that of a medium.

    >>> is_medium("证券时报网"), is_medium("王小明")
    (True, False)
    """
    return bool(_MEDIUM.fullmatch(name))


def is_byline(line: str) -> bool:
    """Return whether a line has only "by" and names.

    >>> is_byline("By Jane Miller and Jo Hill"), is_byline("By Monday it rained")
    (True, False)
    """
    text, found = _BY.subn("", line)
    return bool(found and _persons(text))


def _persons(text: str) -> list[str]:
    """Return the names that a text consists of, or []."""
    names = _AND.split(text) if len(text) <= _LONGEST_BYLINE else []
    return names if all(map(_is_person, names)) else []


def _is_person(text: str) -> bool:
    """Return whether a text has the form of a name: capitalized words, or a few characters."""
    if not _PERSON.fullmatch(text) or text in _NO_NAMES or is_medium(text):
        return False
    *words, last = text.split()
    small = any(word[0].islower() and len(word) > _PARTICLE for word in words)
    return not small and not last[0].islower() and _MANY_HAN.search(text) is None


def _is_of_comment(element: LexborNode) -> bool:
    """Return whether an element is part of a comment of a reader."""
    inner = takewhile(lambda node: node.tag not in {"body", "html"}, ancestors(element))
    return any("comment" in names_of(node).lower() for node in inner)


def _names(text: str) -> str:
    text = _BLANK_IN_NAME.sub(r"\1\2", text)
    parts = [part for part in _SPLIT.split(text) if part]
    return " ".join(part for part in parts if part not in _NO_NAMES)
