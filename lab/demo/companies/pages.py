"""Pages of a generated company: its contact page in one of the layouts, and other pages."""

from __future__ import annotations

import random
from functools import cache
from itertools import zip_longest
from string import Template as Text
from typing import TYPE_CHECKING, Any, NamedTuple

from lab.demo.companies.facts import Company, Fact, digits_of, words
from lab.demo.vocabulary import read_toml

if TYPE_CHECKING:
    from collections.abc import Sequence

GROUPS = ("tuning", "judging")
CONTACT_WORDS = (
    "联系我们",
    "联系我们",
    "联系我们",
    "联系方式",
    "联系",
    "联系&nbsp;我们",
    "Contact Us",
    "联系 ABOUT",
)
CONTACT_PATHS = (
    "/lx.asp",
    "/contact.html",
    "/about/contact.php?id=5",
    "/lianxi/",
    "/Contact.aspx",
    "/page/8.html",
)
_ICONS = {
    "phone": "phone",
    "hotline": "phone",
    "mobile": "mobile",
    "mail": "envelope",
    "address": "map-marker",
}
_PROPS = {
    "phone": "telephone",
    "fax": "faxNumber",
    "mail": "email",
    "address": "address",
    "url": "url",
}
_HOME_TITLES = ("{0}", "{1} - 首页", "欢迎访问{0}官方网站")
_TITLES = ("联系我们-{0}", "{0}", "联系方式_{0}", "{1} | 联系我们", "联系我们")
_HEADINGS = ("<h3>{0}</h3>", "<p><b>{0}</b></p>", "<div>{0}</div>")
_OFFICES = ("{1}分公司", "{1}办事处", "{0}{1}分公司")
_BRANCHES = (
    "<h3>{0}</h3><p>{1}</p><p>{2}</p>",
    '<div class="card"><h4>{0}</h4><ul><li>{1}</li><li>{2}</li></ul></div>',
    "<table><tr><td colspan=2>{0}</td></tr><tr><td>{1}</td><td>{2}</td></tr></table>",
    "<p><strong>{0}</strong><br>{1}<br>{2}</p>",
)
_MESSAGE = "<tr><td>内容：</td><td><textarea></textarea></td></tr>"
_LINKS = (("/", "首页"), ("/about.html", "关于我们"), ("/products.html", "产品中心"),
          ("/news/", "新闻动态"))  # fmt: skip
_RIGHTS = (
    "版权所有 © {2} {0}",
    "Copyright © {2} {0} All Rights Reserved.",
    "{0} 版权所有",
    "Copyright &copy; 2005-{2} {1}",
)
_MAKER = " {0}：<a href='http://www.maker.test/'>{1}</a>{2}"
_NAV = {"judging": "<li><a href='{0}'>{1}</a></li>", "tuning": '<a href="{0}">{1}</a> | '}
_SIDE = (
    "<ul><li><a href='/about.html'>公司简介</a></li><li><a href='/job.html'>人才招聘</a></li></ul>"
)
_PARTNER = "<p>近日，{0}与绵阳{1}科技有限公司签署合作协议。</p>"
_RARELY, _SOMETIMES, _OFTEN = 0.15, 0.35, 0.6


class Chrome(NamedTuple):
    """Return a page as HTML: its own part with header, navigation and footer."""

    title: str
    heading: str
    nav: str
    side: str
    foot: str
    hotline: str


@cache
def layouts() -> dict[str, Any]:
    """The tables of ``layouts.toml``."""
    return read_toml("companies/layouts.toml")


class Site:
    """The pages of one company.

    Args:
        company: Owner of the pages.
        seed: Seed of all random draws.
        group: ``tuning`` or ``judging`` layouts; None: by the company's number.
    """

    def __init__(self, company: Company, seed: int, group: str | None = None) -> None:
        self.company = company
        self.group = group or GROUPS[company.number % 2]
        self._seed = seed
        rng = self._luck("site")
        own = [one for one in layouts()["contact"] if one["group"] == self.group]
        self.layout: dict[str, Any] = own[(company.number // 2) % len(own)]
        skeletons = [one for one in layouts()["page"].values() if one["group"] == self.group]
        self.skeleton = Text(rng.choice(skeletons)["text"])
        self.charset = rng.choice(("gbk", "gbk", "gb2312", "utf-8", "utf-8", "none"))
        self.word = rng.choice(CONTACT_WORDS)
        self.contact_path = rng.choice(CONTACT_PATHS)
        self.hotline_above = rng.random() < _OFTEN

    def _luck(self, what: str) -> random.Random:
        return random.Random(f"{self._seed}/{what}/{self.company.number}")  # noqa: S311

    # -- Pages -----------------------------------------------------------------------------------

    def home(self) -> str:
        """The first page: slogans, news, links."""
        rng = self._luck("home")
        item = '<li><a href="/news/{0}.html">{1}{2}上线</a></li>'
        news = "".join(
            item.format(number, self.company.short, rng.choice(words()["products"]))
            for number in range(1, 6)
        )
        main = f"<p>{rng.choice(words()['slogans'])}</p>{self._prose(rng)}<ul>{news}</ul>"
        title = rng.choice(_HOME_TITLES).format(self.company.name, self.company.short)
        return self._page(main, self._chrome(title, "公司动态"))

    def other(self, path: str) -> str:
        """Any other page of the site: text, no values."""
        rng = self._luck(path)
        chrome = self._chrome(f"{self.company.short}-动态", "公司动态")
        return self._page(self._prose(rng), chrome)

    def empty_contact(self) -> str:
        """A contact page without values: a form and a promise."""
        rows = "".join(
            f"<p>{label}：<input name=f{n}></p>"
            for n, label in enumerate(("姓名", "电话", "邮箱", "地址"))
        )
        form = f"<form action=/post>{rows}<input type=submit value=提交></form>"
        main = f"<p>栏目建设中，请留言，我们会尽快与您联系。</p>{form}"
        return self._page(main, self._chrome(f"联系我们-{self.company.short}", "联系我们"))

    def contact(self) -> str:
        """Return the page with the values of ``company.facts``, in the site's layout."""
        rng = self._luck("contact")
        above = [fact for fact in self.company.facts if fact.kind == "hotline"]
        above = above if self.hotline_above else []
        block = self._block([fact for fact in self.company.facts if fact not in above], rng)
        place = self.layout.get("place", "main")
        heading = ""
        if rng.random() < _OFTEN and not self.company.labelled_name:
            heading = rng.choice(_HEADINGS).format(self.company.name)
        welcome = f"<p>{rng.choice(words()['slogans'])}</p><p>{self.company.name}欢迎您来访。</p>"
        main = "".join((
            self._prose(rng) if rng.random() < _SOMETIMES else "",
            heading + block if place == "main" else welcome,
            '<a href="/map.html">[查看地图]</a>' if rng.random() < _SOMETIMES else "",
            self._branches(rng) if rng.random() < _SOMETIMES else "",
            self._form() if rng.random() < _SOMETIMES else "",
        ))  # fmt: skip
        title = rng.choice(_TITLES).format(self.company.name, self.company.short)
        heading = rng.choice(("联系我们", "联系方式", "联系我们 CONTACT"))
        chrome = self._chrome(title, heading, side=_SIDE)
        if place != "main":
            chrome = chrome._replace(**{place: block + getattr(chrome, place)})
        if above:
            label = rng.choice(self._labels()["hotline"])
            chrome = chrome._replace(hotline=f"{label}：<b>{above[0].written}</b>")
        return self._page(main, chrome)

    # -- The block of values ---------------------------------------------------------------------

    def _labels(self) -> dict[str, list[str]]:
        labels: dict[str, list[str]] = words()["labels"][self.group]
        return labels

    def _block(self, facts: list[Fact], rng: random.Random) -> str:
        own = Fact("name", (self.company.name,), self.company.name)
        rows = [own, *facts] if self.company.labelled_name else facts
        kinds = [fact.kind for fact in rows]
        labelled = [(fact, rng.choice(self._labels()[fact.kind])) for fact in rows]
        if "mobile" in kinds and rng.random() < _SOMETIMES:
            person = Fact("person", (), rng.choice(words()["people"]))
            labelled.insert(kinds.index("mobile"), (person, rng.choice(self._labels()["person"])))
        drawn = {"columns": self._columns, "pairs": self._pairs}.get(
            self.layout.get("kind", ""), self._rows
        )
        opened = Text(self.layout.get("open", "")).safe_substitute(name=self.company.name)
        return opened + drawn(labelled) + str(self.layout.get("close", ""))

    def _rows(self, rows: Sequence[tuple[Fact, str]]) -> str:
        icons = self.layout.get("kind", "") == "icons"
        known = _ICONS if icons else _PROPS
        done = []
        for fact, label in rows:
            form = self.layout["bare" if icons and fact.kind not in known else "row"]
            prop = known.get(fact.kind, "x")
            values = {"label": label, "value": fact.written, "icon": prop, "prop": prop}
            done.append(Text(form).safe_substitute(values))
        return str(self.layout.get("joint", "")).join(done)

    @staticmethod
    def _columns(rows: Sequence[tuple[Fact, str]]) -> str:
        heads = "".join(f"<td><b>{label}</b></td>" for _, label in rows)
        cells = "".join(f"<td>{fact.written}</td>" for fact, _ in rows)
        return f"<tr bgcolor=#eeeeee>{heads}</tr><tr>{cells}</tr>"

    def _pairs(self, rows: Sequence[tuple[Fact, str]]) -> str:
        cells = [(label, fact.written) for fact, label in rows]
        form, empty = Text(self.layout["row"]), ("&nbsp;", "&nbsp;")
        return "".join(
            form.safe_substitute(label=one[0], value=one[1], label2=other[0], value2=other[1])
            for one, other in zip_longest(cells[::2], cells[1::2], fillvalue=empty)
        )

    # -- Parts that are not the company's ---------------------------------------------------------

    def _branches(self, rng: random.Random) -> str:
        """Return branch offices, whose values are not those of the company."""
        city, area = rng.choice((("北京", "10"), ("上海", "21"), ("重庆", "23")))
        head = rng.choice(_OFFICES).format(self.company.name, city)
        number = rng.choice("68") + digits_of(rng, 7)
        street = f"{rng.choice(words()['streets']['names'])}{rng.randint(2, 99)}号"
        address, phone = f"地址：{city}市{street}", f"电话：0{area}-{number}"
        return rng.choice(_BRANCHES).format(head, address, phone)

    @staticmethod
    def _form() -> str:
        rows = "".join(
            f"<tr><td>{label}：</td><td><input name=i{n}>*</td></tr>"
            for n, label in enumerate(("您的姓名", "联系电话", "电子邮箱", "联系地址"))
        )
        return f"<h4>在线留言</h4><table>{rows}{_MESSAGE}</table>"

    def _prose(self, rng: random.Random) -> str:
        year, staff, count = rng.randint(1999, 2018), rng.randint(20, 900), rng.randint(3, 60)
        known = {"year": year, "staff": staff, "count": count}
        picked = rng.sample(words()["paragraphs"], 2)
        return "".join(f"<p>　　{Text(one).substitute(known)}</p>" for one in picked)

    # -- Around it -------------------------------------------------------------------------------

    def _chrome(self, title: str, heading: str, side: str = "") -> Chrome:
        rng = self._luck("chrome")
        links = (*_LINKS, (self.contact_path, self.word))
        nav = "".join(_NAV[self.group].format(href, text) for href, text in links)
        year = rng.randint(2008, 2024)
        name = self.company.name
        rights = rng.choice(_RIGHTS).format(name, self.company.short, year)
        if name not in title and not self.company.labelled_name:
            rights = rights.replace(self.company.short, name) if name not in rights else rights
        foot = f"<p>{rights} 蜀ICP备{rng.randint(10000000, 19999999)}号-1"
        if rng.random() < _SOMETIMES:
            maker = f"成都{rng.choice(('捷网', '蓝图', '易站', '新视'))}网络科技有限公司"
            tail = f" 电话：028-8{rng.randint(1000000, 9999999)}" if rng.random() < _OFTEN else ""
            word = rng.choice(("技术支持", "网站建设", "设计制作"))
            foot += _MAKER.format(word, maker, tail)
        foot += "</p>"
        if rng.random() < _RARELY:
            foot += f"<p>川公网安备 5101{rng.randint(1000000000, 9999999999)}号</p>"
        if rng.random() < _RARELY:
            side += _PARTNER.format(self.company.short, rng.choice(("长桥", "安屿")))
        return Chrome(title, heading, nav, side, foot, "")

    def _page(self, main: str, chrome: Chrome) -> str:
        charset = ""
        if self.charset != "none":
            content = f"text/html; charset={self.charset}"
            charset = f'<meta http-equiv="Content-Type" content="{content}">'
        values = {"name": self.company.name, "short": self.company.short, **chrome._asdict()}
        return self.skeleton.safe_substitute(values, charset=charset, main=main)
