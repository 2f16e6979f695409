"""Source and authors of an article in the byline formats of Chinese pages (来源, 作者, 记者)."""

from __future__ import annotations

import re

_END = (
    r"(?=[\s)）】\]|｜,，;；。、]|作者|记者|编辑|责编|责任编辑|来源|时间|发布|评论|浏览|点击|字号|我要|分享"
    r"|\d{4}[-年/]|$)"
)
_SOURCE = re.compile(
    rf"(?:文章来源|新闻来源|信息来源|稿件来源|消息来源|来源|稿源|来自|转自|出处)\s*[:：]\s*([^\s:：|<>]{{2,30}}?){_END}"
)
_ROLE = r"(?!编辑|责编|责任|来源|作者|记者|时间|发布|摄影|报道|字号|评论|分享|新浪|微博|网友)"
_HAN = r"[\u4e00-\u9fff]"
_LATIN = r"[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){1,3}"
_NAME = rf"{_ROLE}(?:{_HAN}[ 　]{_HAN}(?!{_HAN})|[\u4e00-\u9fff·]{{2,6}})|{_LATIN}"
_MORE = rf"[ 　、,，/]{{1,3}}{_ROLE}{_HAN}{{2,3}}(?!{_HAN})"
_NAMES = rf"((?:{_NAME})(?:{_MORE}){{0,4}})"
_STOP = r"(?=[\s)）】\]|｜,，;；。、/]|编辑|责编|责任编辑|来源|摄影|报道|$)"
_WRITERS = (
    re.compile(rf"(?:(?:作者|撰文|撰稿|文字|文)\s*[:：]|(?<!\w)文\s*[/／｜丨])\s*{_NAMES}{_STOP}"),
    re.compile(rf"记者\s*[:：]\s*{_NAMES}{_STOP}"),
    re.compile(
        rf"(?:本报|本网|见习|实习|特约|驻{_HAN}{{2,6}})记者\s*{_NAMES}(?=[\s)）】\]]|报道|摄|$)"
    ),
    re.compile(rf"[(（]记者\s*({_HAN}{{2,4}}(?:[ 　、]{{1,3}}{_HAN}{{2,4}}){{0,3}})\s*[)）]"),
)
_ENGLISH = re.compile(r"^(?:By|BY) ((?:[A-Z][\w.'-]*)(?: [A-Z][\w.'-]*){1,3})$", re.MULTILINE)
_SPLIT = re.compile(r"[ 　、,，/]+")
_NO_NAMES = frozenset(
    ("未知", "佚名", "编辑", "记者", "作者", "来源", "责编", "网络", "综合", "报道", "微博", "时间")
)
_MEDIUM = re.compile(
    r"[\w·-]{0,16}(?:报|网|社|台|刊|周刊|杂志|新闻|体育|娱乐|财经|科技|汽车|客户端|通讯|时报|在线|频道)"
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
    return "" if match is None else match[1].strip("《》“”\"'[]【】()（）")


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
    """Return names of writers, else of reporters, separated by blanks; "" if there are none.

    >>> author_in("来源：新京报 作者：张三 责任编辑：李四")
    '张三'
    >>> author_in("（本报记者 王五 赵六）(责任编辑：李四)")
    '王五 赵六'
    >>> author_in("文/钱七 (责任编辑：李四)"), author_in("(责任编辑：李四)")
    ('钱七', '')
    """
    for pattern in (*_WRITERS, _ENGLISH):
        for match in pattern.finditer(text):
            names = _names(match[1], latin=pattern is _ENGLISH)
            if names:
                return names
    return ""


def _names(text: str, *, latin: bool) -> str:
    if latin or text.isascii():
        return text.strip()
    parts = [part for part in _SPLIT.split(text) if part]
    if all(len(part) == 1 for part in parts):  # 朱 渊: a name with a blank between its characters
        parts = ["".join(parts)]
    return " ".join(part for part in parts if part not in _NO_NAMES)
