"""Features of a page for genre classification, from its blocks, boxes, metadata and URL.

The features are computed from the layout that is also used to find the body, so they are cheap.
Sizes are in Chinese characters (``blocks.size_of``), so that they are comparable between languages.
Class names are mostly English in all countries, so their words are features as well.
"""

# ruff: noqa: E501 - tables of words and patterns are easier to read with one entry per line

from __future__ import annotations

import re
from collections import Counter
from math import log1p
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.links.urls import split_url

if TYPE_CHECKING:
    from collections.abc import Iterable

    from selectolax.lexbor import LexborHTMLParser

    from topiccrawl.extract.blocks import Block, Layout
    from topiccrawl.extract.density import Choice
    from topiccrawl.extract.metadata import Metadata
    from topiccrawl.model import Extracted

HEADLINE = 8
"""Minimum size of a linked block that counts as a headline; menu entries are shorter."""

SENTENCE, PARAGRAPH = 20, 60
"""Minimum sizes of a block that counts as text, and of a paragraph longer than most teasers."""

LINKED = 0.5
"""Share of anchor text from which a block counts as a link."""

NEAR = 4
"""Most blocks between a linked headline and its teaser."""

LONGEST = 30
"""Blocks from which a box is too large for a list entry."""

MOST_WORDS = 3_000
"""Most characters of short blocks, and of the body, that are searched for words."""

LONGEST_NAME = 80
"""Most characters of a headline or path segment that are examined."""

MOST_NAMES = 5_000
"""Most characters of class names that are searched for words."""

# fmt: off
_WORDS = {
    "buy": ("add to cart", "add to bag", "buy now", "in stock", "free shipping", "wishlist", "sku", "加入购物车", "立即购买"),
    "talk": ("reply", "replies", "joined", "quote", "thread", "answers", "votes", "member", "回复", "楼主", "发帖"),
    "offer": ("contact us", "get started", "free trial", "book ", "demo", "pricing", "our services", "our team", "quote", "learn more", "testimonial", "faq", "request", "联系我们", "咨询"),
    "manual": ("documentation", "docs", "api", "reference", "on this page", "contents", "version", "edit this", "github", "文档", "手册"),
    "sought": ("results", "sort by", "filter", "showing", "搜索结果", "相关结果"),
    "byline": ("min read", "minutes read", "written by", "published", "updated", "share", "来源", "作者", "记者", "分享"),
    "price": ("$", "€", "£", "¥", "￥", "₹", "元"),
}
"""Words of short blocks."""

_ADDRESSING = (" you ", " your ", " we ", " our ", " us ", "您", "我们")
"""Words that address customers."""

_NAMES = (
    "accordion", "answer", "article", "author", "byline", "card", "cart", "category", "comment", "content-body", "date",
    "doc", "entry", "forum", "gallery", "grid", "hero", "pager", "pagination", "post", "price", "product", "related", "reply",
    "result", "review", "search", "service", "shop", "sidebar", "slide", "story", "testimonial", "toc", "topic",
)
"""Words in class names and ids."""

_TYPES = {
    "article": ("article", "newsarticle", "blogposting", "reportagenewsarticle", "analysisnewsarticle", "opinionnewsarticle", "techarticle", "news"),
    "list": ("collectionpage", "itemlist", "searchresultspage", "blog", "offercatalog", "object", "profilepage"),
    "product": ("product", "productgroup", "og:product", "aggregateoffer"),
    "talk": ("discussionforumposting", "qapage", "question"),
    "service": ("service", "localbusiness", "professionalservice", "faqpage", "contactpage", "aboutpage", "course", "softwareapplication"),
    "website": ("website",),
    "live": ("liveblogposting",),
}
"""Types of schema.org and OpenGraph, in lower case."""

_PATHS = {
    "paged": r"/(?:page|p)/?[-_]?\d{1,4}(?:/?(?:$|[?#])|\.)|(?:[?&](?:page|paged|pn)|(?<!/)[?&]p)=\d{1,4}(?!\d)|/(?:index|list)[-_]\d+\.",
    "listed": r"/(?:categor(?:y|ies)|tags?|archives?|authors?|topics?|sections?|channel|list|index|special|zt|browse|collections?|c)(?:/|$|\.)|[?&](?:cat|tag|author)=",
    "sought": r"/search(?:/|$|\?)|[?&](?:q|s|query|search|keyword|wd)=",
    "talk": r"/(?:forums?|threads?|topic|community|questions|t|discussions?|bbs|comments|r)/|viewtopic|showthread|//(?:forums?|community|discuss|bbs|talk)\.",
    "shop": r"/(?:products?|shop|store|items?|dp|p|buy|catalog|collections)/|//(?:shop|store)\.",
    "offer": r"/(?:services?|about|pricing|solutions?|contact|features?|platform|locations?|industries|programs?)(?:/|$|-)",
    "manual": r"/(?:docs?|wiki|manual|reference|api|guide|help|documentation|learn|tutorials?)/|//(?:docs?|wiki|help|developers?|learn|support)\.",
    "dated": r"/(?:19|20)\d\d[-/_]?(?:0[1-9]|1[0-2])(?:\D|[0-3]\d)",
    "news": r"/(?:news|articles?|stor(?:y|ies)|blogs?|posts?|opinion|press)/|/(?:article|a|n|c|t)[-_]?\d{4,}|//(?:blog|news)\.",
    "numbered": r"\d{5,}",
    "ended": r"\.(?:s?html?|aspx?|php|jsp)$",
}
"""Patterns of URLs."""
# fmt: on

_PATH = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _PATHS.items()}
_YEAR = re.compile(r"[12][09]\d\d\b")
_CLOCK = re.compile(r"\d[:.h][0-5]\d\b")
_TITLE = re.compile(
    r"\b(?:archives?|categor(?:y|ies)|tags?|page \d+|latest|topics?|all|list|index|collections?|shop)"
    r"\b|第\d+页|列表|频道|专题|标签|分类|归档|首页|大全",
    re.IGNORECASE,
)
# fmt: off
_ABOUT = frozenset(
    """
    about contact contacts privacy terms conditions legal imprint impressum disclaimer disclaimers copyright dmca cookie cookies
    accessibility masthead mission ethics corrections careers jobs internships advertise advertising subscribe subscriptions
    newsletter newsletters membership donate submissions feedback faq faqs sitemap staff team aboutus contactus privacypolicy
    kontakt datenschutz datenschutzerklärung datenschutzerklaerung agb nutzungsbedingungen mediadaten karriere contacto contato
    contatti colofon privacyverklaring regulamin künye iletişim iletisim hakkımızda hakkimizda gizlilik контакты редакция вакансии
    guanyu gywm lxwm lianxi
    """.split()  # noqa: SIM905
)
"""Words in names of pages about the site itself."""

_ABOUT_EXTRA = frozenset(
    """
    a and at for here in of on our or the this to us me with your use usage user service services sale policy policies notice
    statement guidelines standards rules agreement information info form page site website company general help support center
    centre code conduct comment comments editorial board directors history vision values goals people join meet work write media
    kit press tip tips story partners sponsors awards settings security
    """.split()  # noqa: SIM905
)
"""Words that may accompany them."""

_ABOUT_PHRASES = frozenset(
    """
    关于我们 關於我們 关于本站 關於本站 关于本网 网站简介 公司简介 联系我们 聯絡我們 聯繫我們 联系方式 隐私政策 隐私权政策 隐私声明 隐私条款
    隱私權政策 隱私政策 服务条款 服務條款 使用条款 使用條款 用户协议 服务协议 版权声明 版權聲明 版权信息 法律声明 免责声明 免責聲明 广告服务
    广告合作 廣告刊登 诚聘英才 加入我们 加入我們 人才招聘 招聘信息 网站地图 網站地圖 帮助中心 常见问题 投稿须知 投稿指南 友情链接 支持我们
    会社概要 運営会社 お問い合わせ 利用規約 プライバシーポリシー 회사소개 개인정보처리방침 이용약관 überuns ueberuns uberuns quisommesnous
    àpropos apropos mentionslégales mentionslegales nouscontacter contacteznous politiquedeconfidentialité sobrenosotros
    quiénessomos quienessomos quemsomos avisolegal políticadeprivacidad politicadeprivacidad políticadeprivacidade
    politicadeprivacidade termosdeuso chisiamo notelegali overons onas politykaprywatności omoss онас опроекте осайте
    политикаконфиденциальности whoweare ourstory mediakit
    """.split()  # noqa: SIM905
)
"""Phrases that name pages about the site itself, without blanks."""
# fmt: on
_WORD = re.compile(r"[^\W_]+")


class ParsedPage(NamedTuple):
    """A parsed page without scripts, with its metadata and its densest text.

    Attributes:
        url: URL of the page.
        tree: The parsed page.
        metadata: Metadata of the page.
        text: Visible text without embedded posts, one text node a line.
        window: Text of ``<title>``.
        headline: Headline.
        declared: First language that the page declares, or "".
        language: Language of the text.
        layout: Layout of the whole page.
        choice: Blocks of the densest text.
    """

    url: str
    tree: LexborHTMLParser
    metadata: Metadata
    text: str
    window: str
    headline: str
    declared: str
    language: str
    layout: Layout
    choice: Choice


class _Sums(NamedTuple):
    """Sums over blocks.

    Attributes:
        total: Total size.
        linked: Size of linked blocks.
        paragraphs: Number of text blocks.
        longs: Number of text blocks longer than a teaser.
        heads: Number of linked headlines.
        led: Number of linked headlines with a teaser.
    """

    total: float
    linked: float
    paragraphs: int
    longs: int
    heads: int
    led: int


def features(page: ParsedPage, found: Extracted) -> dict[str, float]:
    """Return the features of a page by name.

    Args:
        page: The page.
        found: What was extracted from its densest text.
    """
    layout, blocks, types = page.layout, page.layout.blocks, page.metadata.types
    chosen = page.choice.blocks
    whole, own = _sums(blocks), _sums(blocks[chosen[0] : chosen[-1] + 1] if chosen else ())
    size = sum(blocks[number].size for number in chosen)
    tags = Counter([block.tag for block in blocks])
    headings = tags["h2"] + tags["h3"] + tags["h4"]
    images = len(layout.images)
    short = "\n".join(block.text for block in blocks if block.size < SENTENCE)[:MOST_WORDS].lower()
    body = "\n".join(blocks[number].text for number in chosen)[:MOST_WORDS].lower()
    names = " ".join(dict.fromkeys([box.names for box in layout.boxes[1:]]))[:MOST_NAMES].lower()
    root = layout.boxes[0].names.lower() if layout.boxes else ""
    boxes = Counter([box.tag for box in layout.boxes])
    entries = Counter([one[1:3] for one in layout.boxes if 1 < one[4] - one[3] < LONGEST])
    path = split_url(page.url).path.rstrip("/")
    last = path.rpartition("/")[2]
    return {
        "paragraphs": log1p(whole.paragraphs),
        "heads": log1p(whole.heads),
        "led": whole.led / (whole.paragraphs + 1),
        "body": log1p(size),
        "body_linked": own.linked / (own.total + 1),
        "body_led": own.led / (own.paragraphs + 1),
        "body_longs": log1p(own.longs),
        "short_body": float(size < 4 * PARAGRAPH),
        "h": log1p(headings),
        "h_ratio": headings / (headings + whole.paragraphs + 1),
        "h1_many": float(tags["h1"] > 1),
        "h1_size": log1p(max((block.size for block in blocks if block.tag == "h1"), default=0)),
        **{f"tag_{name}": tags[name] / (len(blocks) + 1) for name in ("li", "p", "pre")},
        "images": log1p(images),
        "image_ratio": images / (images + whole.paragraphs + 1),
        "years": log1p(len(_YEAR.findall(short))),
        "clocks": log1p(len(_CLOCK.findall(short))),
        **{f"words_{name}": log1p(sum(map(short.count, words))) for name, words in _WORDS.items()},
        "calls": 100 * sum(map(body.count, _ADDRESSING)) / (len(body) + 200),
        "asks": 100 * (body.count("?") + body.count("？")) / (len(body) + 200),
        **{f"class_{word}": log1p(names.count(word)) for word in _NAMES},
        **{f"root_{word}": float(word in root) for word in ("single", "page", "product")},
        "forms": log1p(boxes["form"]),
        "sections": log1p(boxes["section"]),
        "alike": log1p(max(entries.values(), default=0)),
        "stated_dates": log1p(len(page.metadata.dates)),
        "article": float(page.metadata.article),
        "dated": float(bool(found.published)),
        "signed": float(bool(found.author)),
        "title_list": float(bool(_TITLE.search(page.window))),
        "title": log1p(len(found.title)),
        "title_asks": float("?" in found.title or "？" in found.title),
        "title_about": float(_is_about(found.title)),
        **{f"type_{name}": float(not types.isdisjoint(kinds)) for name, kinds in _TYPES.items()},
        **{f"url_{name}": float(bool(form.search(page.url))) for name, form in _PATH.items()},
        "url_about": float(_is_about(last.partition(".")[0])),
        "url_depth": min(5.0, path.count("/")),
        "url_slug": log1p(last.count("-") + last.count("_")),
        "url_short": float(len(last) < 12 and not any(map(str.isdigit, last))),  # noqa: PLR2004
        "url_query": float("?" in page.url),
    }


def _sums(blocks: Iterable[Block]) -> _Sums:
    total = linked = 0.0
    paragraphs = longs = heads = led = 0
    last = -NEAR
    for number, (_, _, _, size, share, stops, _) in enumerate(blocks):
        total += size
        if share >= LINKED:
            linked += size
            if size >= HEADLINE:
                heads += 1
                last = number
        elif stops and size >= SENTENCE:
            paragraphs += 1
            longs += size >= PARAGRAPH
            if 0 < number - last <= NEAR:
                led += 1
                last = -NEAR
    return _Sums(total, linked, paragraphs, longs, heads, led)


def _is_about(name: str) -> bool:
    """Return whether a headline or path segment names a page about the site itself.

    >>> _is_about("Privacy Policy & Terms of Use"), _is_about("our-mission"), _is_about("关于我们")
    (True, True, True)
    >>> _is_about("Privacy lawsuit settled"), _is_about("about-face"), _is_about("关于放假的通知")
    (False, False, False)
    """
    words = _WORD.findall(name[:LONGEST_NAME].lower())
    if "".join(words) in _ABOUT_PHRASES:
        return True
    return not _ABOUT.isdisjoint(words) and _ABOUT_EXTRA.issuperset(set(words) - _ABOUT)
