"""Detection of boilerplate by words: names of boxes, and lines that are no article text."""

from __future__ import annotations

import re

LONGEST = 70
"""Most characters of a boilerplate line; longer lines are text."""

_SIMPLIFIED = (
    "责编辑来标题页发时间评论点击关键词扫阅读链报专荐闻热门内进举录签浏览声转载经权导"
    "记讯网视杂实约驻员体财线车乐娱户则摄"
)
_TRADITIONAL = (
    "責編輯來標題頁發時間評論點擊關鍵詞掃閱讀鏈報專薦聞熱門內進舉錄籤瀏覽聲轉載經權導"
    "記訊網視雜實約駐員體財線車樂娛戶則攝"
)
"""Characters of the patterns of boilerplate and bylines that differ between the scripts."""


def both_scripts(pattern: str) -> str:
    """Return a pattern that also matches traditional Chinese.

    Args:
        pattern: Regular expression in simplified Chinese, with such characters outside of brackets.

    >>> both_scripts("责任编辑[:：]")
    '[责責]任[编編][辑輯][:：]'
    """
    pairs = zip(_SIMPLIFIED, _TRADITIONAL, strict=True)
    return pattern.translate({ord(one): f"[{one}{other}]" for one, other in pairs})


_BOILERPLATE_TAGS = frozenset(("nav", "footer", "aside", "form", "menu"))
_BOILERPLATE_NAMES = re.compile(
    r"comment|pinglun|foot|copyright|side-?bar(?!-(?:grid|layout))|crumb|\bnavi?\b|navbar|\bmenu|share|"
    r"related|relate|xiangguan|recommend|tuijian|hot-?(?:list|news|read)|paihang|rank|friend.?link|advert|\bads?\b|"
    r"guanggao|sponsor|login|toolbar|page-?nav|paginat|subscribe|newsletter|popup|modal|"
    r"cookie|consent|statement|disclaimer|qrcode|erweima|"
    r"(?:about|post)[-_]?author|author[-_]?(?:bio|box|desc|info|card|profile)"
)
"""Names in lower case; a search without IGNORECASE takes a third of the time."""
_SECONDARY = re.compile(
    r"comment|pinglun|reply|replies|foot|copyright|(?<!\S)side-?bar(?!\S)|related|relate|"
    r"xiangguan|recommend|tuijian|hot-?(?:list|news|read)|paihang|friend.?link|consent"
)
_FOOTER = re.compile(r"foot(?:er|[\d_-]|\b)|copyright")  # not football, footnotes, footage
_JOINED = re.compile(r"(?<!\S)\S+?-and-\S+")
"""Names of boxes with more than the part that is named last, as in "body-and-footer"."""
_CAPTION_TAGS = frozenset(("figure", "figcaption"))
_CAPTION = re.compile(
    r"caption|credit|gallery|slideshow|byline|author|timestamp|dateline|pub-?date|newsletter|"
    r"signup|promo|read-?more|social|video-?title|\btags?\b"
)
_BOILERPLATE = re.compile(
    both_scripts(
        r"^[\W_]*(?:责任编辑|责编|(?:编辑|作者|来源|稿源|原标题)\s?[:：|｜丨]|分享到|分享[:：]|收藏|打印|列印|关闭|"
        r"字号|字体|版权|Copyright|[上下]一(?:篇|页|则)|返回(?:首页|顶部|列表)|"
        r"(?:相关|延伸)(?:阅读|新闻|链接|文章|报道|报导|专题|推荐)|推荐阅读|精彩推荐|猜你喜欢|"
        r"热门(?:新闻|推荐|文章|点击|评论|排行)|更多(?:内容|精彩|新闻|[>＞])|扫一扫|点击(?:查看|进入)|我要评论|"
        r"网友评论|评论(?=[(（:：\d]|$)|举报|登录|标签[:：]|关键(?:词|字)[:：]|Tags?[:：]|浏览[:：次]|"
        r"阅读[:：(（]|点击[:：]|发布时间|发布日期|时间[:：]|日期[:：]|免责声明|声明[:：]|特别声明|本文来源|文章来源|"
        r"信息来源|转载请|未经授权|相关\]|adsbygoogle\b)"
        r"|(?:责任编辑|责编)[:：]|All Rights Reserved|ICP备"
    ),
    re.IGNORECASE,
)
_DATED = re.compile(
    r"(?:19|20)\d\d\s*[-/.年]\s*\d|"
    r"(?:\b\d{1,2}\s?[./-]\s?\d{1,2}\s?[./-]\s?|\b\d{1,2}\.? [^\W\d]{3,12}\.?,? |"
    r"\b[^\W\d]{3,12}\.? \d{1,2}(?:st|nd|rd|th)?,? )"
    r"(?:19|20)\d\d\b(?!(?:.*\w{3})?[.!?]\W*$)"
)
"""A date that is not part of a sentence."""


def is_frame_box(tag: str, names: str) -> bool:
    """Return whether a box is boilerplate by its tag or names.

    >>> is_frame_box("div", "share-bar"), is_frame_box("div", "article")
    (True, False)
    """
    return tag in _BOILERPLATE_TAGS or bool(_BOILERPLATE_NAMES.search(names.lower()))


def is_side_box(names: str) -> bool:
    """Return whether a box has comments, teasers or site information by its names.

    Names that only contain "sidebar" are also those of boxes around article and sidebar.

    >>> is_side_box("mod sidebar"), is_side_box("content-sidebar-wrap has-sidebar")
    (True, False)
    >>> is_side_box("page-footer"), is_side_box("body-and-footer")
    (True, False)
    """
    return bool(_SECONDARY.search(_JOINED.sub("", names.lower())))


def is_footer(tag: str, names: str) -> bool:
    """Return whether a box is the footer of a page by its tag or names.

    >>> is_footer("div", "page-footer"), is_footer("div", "body-and-footer")
    (True, False)
    """
    return tag == "footer" or bool(_FOOTER.search(_JOINED.sub("", names.lower())))


def is_caption_box(tag: str, names: str) -> bool:
    """Return whether a box is a caption, byline or teaser by its tag or names."""
    return tag in _CAPTION_TAGS or bool(_CAPTION.search(names.lower()))


def is_boilerplate(text: str) -> bool:
    """Return whether a line is boilerplate by its words.

    >>> is_boilerplate("(责任编辑：王小明)"), is_boilerplate("相关阅读：")
    (True, True)
    >>> is_boilerplate("責任編輯：王小明"), is_boilerplate("作者｜王小明")
    (True, True)
    >>> is_boilerplate("评论家认为它很好。")
    False
    """
    return len(text) <= LONGEST and bool(_BOILERPLATE.search(text))


def is_byline(text: str) -> bool:
    """Return whether a line is boilerplate or has a date; no article begins or ends with it.

    >>> is_byline("2016年01月12日 10:23 新城晚报"), is_byline("图为展会现场")
    (True, False)
    >>> is_byline("Published Jun 05, 2026 • 3 min read"), is_byline("He left on 5 June 2026.")
    (True, False)
    """
    return is_boilerplate(text) or is_dated(text)


def is_dated(text: str) -> bool:
    """Return whether a line has a date that is not part of a sentence."""
    return len(text) <= LONGEST and bool(_DATED.search(text))
