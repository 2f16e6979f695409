"""Words that label values: those of a template, common ones of each kind, and unrelated ones.

The source turns each keyword into a regular expression, such as ``邮.{0,50}箱`` for 邮箱, so that
other text may be between its characters [S1]. Within a line, only spaces and ornaments are allowed
here (邮　　箱, 邮·箱), since otherwise 邮政编码…信箱 would be a mail label. A whole label (at most
``LONGEST_LABEL`` characters) that matches the source's expression (邮件信箱) has a lower weight.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from topiccrawl.text.normal import fold, has_han

if TYPE_CHECKING:
    from topiccrawl.addons.records.templates.template import Template, ValueKind

LONGEST_LABEL = 20
"""Maximum length of a label with its qualifiers, in characters."""
MOST_HITS = 100
"""Maximum number of keywords examined per line; lines of contact data have fewer."""
OWN, USUAL, SOURCE = 1.0, 0.95, 0.7
"""Weights of labels: words of the template, common words of the kind, matches of [S1]'s pattern."""

FAX = re.compile(r"传真|fax", re.IGNORECASE)
_USUAL: dict[str, tuple[str, ...]] = {
    "name": ("公司名称", "单位名称", "企业名称", "公司全称", "company name"),
    "telephone": ("电话", "热线", "座机", "固话", "总机", "致电", "tel", "telephone", "phone",
                  "hotline", "freephone", "toll free", "call us", "whatsapp", "voice", "landline",
                  "mobile", "手机", "cell", "mob", "ph", "t", "p", "m"),
    "fax": ("传真", "fax", "facsimile", "fx", "f"),
    "mail": ("邮箱", "邮件", "电邮", "信箱", "e-mail", "mail", "e"),
    "url": ("网址", "网站", "官网", "主页", "website", "homepage", "web", "w"),
    "postcode": ("邮编", "邮政编码", "postcode", "postal code", "zip code", "zip", "p.c",
                 "post code"),
    "qq": ("qq",),
    "address": ("地址", "址", "所在地", "位置", "地点", "address", "addr", "add", "location", "a"),
}  # fmt: skip
_FOREIGN = (
    "联系人", "传真", "fax", "手机", "mobile", "微信", "wechat", "公众号", "微博", "邮编",
    "邮政编码", "电话", "热线", "tel", "邮箱", "email", "网址", "qq", "开户行", "开户银行",
    "账号", "帐号", "税号", "信用代码", "法人", "法定代表人", "负责人", "总经理", "营业时间",
    "工作时间", "上班时间", "乘车路线", "公交", "地铁", "备案", "icp", "版权所有", "copyright",
    "技术支持", "抖音", "旺旺", "msn", "skype", "line id", "部门", "职位", "地址", "行业",
    "注册资金", "注册资本", "主营", "经营范围", "成立日期", "opening hours", "open", "contact",
    "vat", "company number", "registered", "company no",
)  # fmt: skip
"""Labels of other data, which end a value; ignored if the template uses them as keywords."""

OTHER_OWNER = re.compile(
    r"技术支持|网站建设|网站设计|网站制作|网站维护|网页设计|设计制作|制作维护|建站|主办|承办|"
    r"友情链接|友链|侵权|删除(?:信息)?请|合作伙伴|合作单位|举报|监督电话|物业|开户|供稿|来源|转载|"
    r"aufsichtsbehörde|zuständige \w*(?:kammer|behörde|stelle)|schlichtungsstelle|"
    r"powered\s+by|(?:designed?|seo|marketing)\s+by|report\s+(?:\w+\s+)?(?:fraud|abuse)|site\s+by|website\s+(?:design\s+)?by|developed\s+by|built\s+by|"
    r"hosted\s+by|tech(?:nical)?\s+support(?:ed)?\s+by"
    r"|gestaltung|layout\s*:|(?:web)?design\s*:|programmierung|hébergeur|hébergement|"
    r"réalisation du site|webdesign|webhosting|hosting|umsetzung",
    re.IGNORECASE,
)
"""Words after which a line usually belongs to another owner; see ``attribution``."""

_CITIES = (
    "北京|上海|天津|重庆|广州|深圳|成都|杭州|南京|武汉|西安|苏州|长沙|郑州|沈阳|大连|青岛|济南|合肥|福州|厦门|南昌|昆明|贵阳|"
    "南宁|海口|兰州|西宁|银川|太原|石家庄|哈尔滨|长春|乌鲁木齐|呼和浩特|拉萨|香港|澳门|台北|东莞|佛山|无锡|宁波|绵阳"
)
CITY = re.compile(
    rf"(?:{_CITIES})市?(?:办公室)?|[\u3400-\u9fff]{{2,4}}(?:工厂|厂区|基地|校区|院区)"
)
"""If a page names a head office, a heading with only a city or a factory is another office."""
BRANCH = re.compile(
    rf"(?:{_CITIES})市?(?:研发|技术|运营|服务|营销|销售|交付|培训|客户服务)?(?:中心|基地|公司)$|"
    r"分公司|子公司|办事处|分部|分店|分校|分院|分馆|分社|分所|分厂|分园|代表处|联络处|营业部|经销商|代理商|加盟商|"
    r"\b(?:branch|regional|sales|representative)\s+offices?\b|\bbranch\b|\bdistributors?\b|"
    r"\b(?:dealer|reseller|stockist)s?\b|niederlassung|zweigstelle|geschäftsstelle|außenstelle|"
    r"\bfilialen?\b|\bagence\b|\bsuccursale\b|支店|支社|営業所|第.工[場场]$",
    re.IGNORECASE,
)
HEAD_OFFICE = re.compile(
    r"总部|总公司|本部|总行|总校|总院|本社|本店|head\s*office|headquarters?|main\s+office|hauptsitz|zentrale\b|"
    r"hauptniederlassung|si[eè]ge(?:\s+social)?\b",
    re.IGNORECASE,
)
OFFICE = re.compile(r"^[\w .'()-]{2,30}\s(?:office|studio|hub|location)s?$", re.IGNORECASE)
"""If a page names a head office, a heading such as ``London Office`` is another office."""
OTHERS = re.compile(
    r"(?:(?:销售|服务|营销|维修)网点|经销商|代理商|加盟商|供应商|服务商|(?:会长|理事|会员|成员|主管|主办|承办|协办|建设|设计|施工|监理|支持|指导|用户|入驻|保荐|承销|审计|评估)"
    r"(?:单位|企业|公司|机构)|(?:旗下|下属|子)(?:公司|企业|品牌)|合作(?:伙伴|单位|客户|企业)|战略(?:伙伴|合作)|友情链接|"
    r"(?:部分|主要|典型|成功|我们的|服务)客户|客户(?:案例|名单|列表)|推荐企业|企业推荐|同类企业)"
    r"|^(?:常用|便民|应急)(?:服务)?(?:电话|号码)|^便民(?:服务|信息)$|^周边.{0,4}$|^(?:useful|other|emergency)\s+(?:contacts|numbers|links)$"
    r"|^(?:[\w-]+\s+){0,2}(?:distributors|dealers|resellers|stockists|partners|clients|customers|suppliers|"
    r"farmers|growers|producers|vendors|sponsors)(?: this (?:week|month|year))?$"
    r"|^conception(?: (?:et|&) réalisation)?(?: (?:du site|web|graphique).*)?$",
    re.IGNORECASE,
)
"""Headings of lists of other organisations, which are ignored."""
_BETWEEN = r"[\s\x1f·・.*_]{0,50}"


class Hit(NamedTuple):
    """A keyword in a text: its field, place and weight."""

    field: str
    start: int
    end: int
    weight: float


def source_pattern(word: str) -> re.Pattern[str]:
    """Return the source's regular expression for a keyword [S1].

    >>> source_pattern("邮箱").pattern, bool(source_pattern("邮箱").fullmatch("邮政(电子)信箱"))
    ('邮.{0,50}箱', True)
    """
    return re.compile(".{0,50}".join(map(re.escape, "".join(word.split()))), re.IGNORECASE)


def line_pattern(word: str) -> str:
    """Return a regular expression that finds a keyword in a line.

    Spaces between Chinese characters, hyphens and case are ignored.

    >>> bool(re.search(line_pattern("电话"), "电 　 话"))
    True
    >>> bool(re.search(line_pattern("E-mail"), "my email"))
    True
    >>> re.search(line_pattern("tel"), "hotel")
    """
    word = fold(word)
    if has_han(word):
        return _BETWEEN.join(re.escape(one) for one in word if not one.isspace())
    body = r"[-\s\x1f.]{0,3}".join(re.escape(part) for part in re.split(r"[-\s.]+", word) if part)
    if word == "qq":
        body = r"q[\s\x1f]{0,5}q"
    return rf"(?<![a-z]){body}(?![a-z])"


class Vocabulary:
    """The labels of one template.

    Args:
        template: The template.
    """

    def __init__(self, template: Template) -> None:
        self.template = template
        self.kinds: dict[str, ValueKind] = {word: how.kind for word, how in template.crawl.items()}
        self.faxes = frozenset(
            field
            for field, how in template.crawl.items()
            if how.kind == "telephone" and any(map(FAX.search, (field, *how.synonyms)))
        )
        words = self._words()
        self._patterns = [
            (field, weight, re.compile(line_pattern(word), re.IGNORECASE))
            for word, field, weight in words
        ]
        everything = "|".join(line_pattern(word) for word, _, _ in words)
        self._any = re.compile(everything, re.IGNORECASE)
        self._source_patterns = [
            (field, source_pattern(word))
            for field, how in template.crawl.items()
            for word in (field, *how.synonyms)
            if len(word) > 1 and has_han(word)
        ]

    def _words(self) -> list[tuple[str, str, float]]:
        """Return all words, each with its field ("" for unrelated words) and weight."""
        words: dict[str, tuple[str, float]] = {}
        for field, how in self.template.crawl.items():
            for word in (field, *how.synonyms):
                words.setdefault(fold(word), (field, OWN))
        for kind, usual in _USUAL.items():
            field = self.primary(kind)
            for word in usual if field else ():
                words.setdefault(fold(word), (field, USUAL))
        for word in _FOREIGN:
            words.setdefault(fold(word), ("", USUAL))
        return [(word, field, weight) for word, (field, weight) in words.items()]

    def primary(self, kind: str) -> str:
        """Return the field of a kind (or of ``fax`` numbers); "" if there is none or several."""
        if kind == "fax":
            fields = sorted(self.faxes)
        else:
            fields = [field for field, its in self.kinds.items() if its == kind]
            fields = [field for field in fields if field not in self.faxes]
        return fields[0] if len(fields) == 1 or (fields and kind == "telephone") else ""

    def hits(self, text: str) -> list[Hit]:
        """Return the first keywords in a text, in order; the longest of overlapping ones."""
        if not self._any.search(text):
            return []
        found = [
            Hit(field, match.start(), match.end(), weight)
            for field, weight, pattern in self._patterns
            for match in pattern.finditer(text)
        ]
        found.sort(key=lambda hit: (hit.start - hit.end, hit.start))
        kept: list[Hit] = []
        taken = bytearray(len(text))
        for hit in found:
            if not any(taken[hit.start : hit.end]):
                taken[hit.start : hit.end] = bytes([1]) * (hit.end - hit.start)
                kept.append(hit)
        return sorted(kept, key=lambda hit: hit.start)[:MOST_HITS]

    def whole_field(self, label: str) -> str:
        """Return the field whose source pattern matches a whole label; "" if none."""
        bare = "".join(label.split())
        matches = (field for field, pattern in self._source_patterns if pattern.fullmatch(bare))
        return next(matches, "")
