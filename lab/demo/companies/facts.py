"""Facts of a generated company, and the formats in which its pages write them."""

from __future__ import annotations

import random
from functools import cache
from typing import Any, NamedTuple

from lab.demo.vocabulary import read_toml

FIELDS = ("name", "address", "phone", "mobile", "hotline", "fax", "mail", "url", "postcode", "qq")
"""Facts in the order of the pages."""
_SHOWN = {"address": 0.92, "phone": 0.95, "mobile": 0.4, "hotline": 0.25, "fax": 0.55, "mail": 0.8,
          "url": 0.4, "postcode": 0.5, "qq": 0.4, "name": 0.6}  # fmt: skip


class Fact(NamedTuple):
    """One value of a company.

    Attributes:
        kind: One of ``FIELDS``.
        true: Its values as a judge compares them: digits of telephone numbers with the country's
            and, after ``x``, the extension; else plain text.
        written: How the page writes it, as HTML.
        image: Whether the page shows it as an image only.
    """

    kind: str
    true: tuple[str, ...]
    written: str
    image: bool = False


class Company(NamedTuple):
    """A generated company.

    Attributes:
        number: Number in the web.
        name: Full name.
        short: Short name.
        host: Host of its site.
        facts: Facts on its pages, in order.
        labelled_name: Whether the name has a label.
    """

    number: int
    name: str
    short: str
    host: str
    facts: tuple[Fact, ...]
    labelled_name: bool

    def truth(self) -> dict[str, tuple[str, ...]]:
        """Values by kind, without images; kinds without values are omitted."""
        said = {fact.kind: fact.true for fact in self.facts if not fact.image}
        return {"name": (self.name,), **said}


@cache
def words() -> dict[str, Any]:
    """The tables of ``words.toml``."""
    return read_toml("companies/words.toml")


def company(seed: int, number: int, edition: int = 0) -> Company:
    """The company of a number; in another edition it has another telephone and address.

    >>> company(1, 3) == company(1, 3), company(1, 3).name == company(1, 3, 1).name
    (True, True)
    """
    who = random.Random(f"{seed}/company/{number}")  # noqa: S311
    rng = random.Random(f"{seed}/facts/{number}/{edition}")  # noqa: S311
    table = words()
    turn, stem = divmod(number, len(table["stems"]))
    trade = turn % len(table["trades"])
    city = who.choice(table["cities"])
    short = table["stems"][stem] + table["trades"][trade]
    place = who.choice(("四川", city["name"], city["name"] + "市", "四川省"))
    infix = who.choice(("", "", "", f"（{city['name']}）"))
    name = place + short + infix + who.choice(table["forms"])
    host = f"www.{table['pinyin'][stem]}{table['trade_pinyin'][trade]}.test"
    shown = [kind for kind in FIELDS if who.random() < _SHOWN[kind]]
    if not {"phone", "mobile", "hotline"} & set(shown):
        shown.append("phone")
    facts = tuple(make(rng, city, host) for kind, make in _FACTS.items() if kind in shown)
    return Company(number, name, short, host, facts, "name" in shown)


def digits_of(rng: random.Random, count: int) -> str:
    """Draw a number of digits."""
    return "".join(rng.choice("0123456789") for _ in range(count))


# -- One kind each -------------------------------------------------------------------------------

_FLOORS = ("{0}楼", "{0}层{1}室", "{2}座{1}", "{0}栋2单元{1}号")
_AREAS = ("0{0}-", "0{0}-", "0{0}－", "（0{0}）", "(0{0})", "0{0} ", "86-{0}-", "+86-{0}-",
          "0086-{0}-", "+86 (0){0} ", "0{0}—")  # fmt: skip
_GROUPED = ("{0}{1}", "{0}{1}", "{0}{1}", "{0} {1}", "{0}-{1}")
_PHONES = ("one", "one", "one", "two", "tail", "ext", "dash", "local", "wide", "exts")
_BETWEEN = ("、", " / ", "，", "<br>", "&nbsp;&nbsp;", "；")
_MOBILES = ("{0}{1}{2}", "{0}{1}{2}", "{0}-{1}-{2}", "{0} {1} {2}", "+86 {0}{1}{2}")
_HOTLINES = ("{0}-{1}{2}-{3}{4}", "{0}{1}-{2}{3}-{4}", "{0}{1}{2}{3}{4}", "{0} {1}{2} {3}{4}")
_FAXES = ("0{0}-{1}", "86-{0}-{1}", "（0{0}）{1}")
_MAIL_USERS = ("info", "sales", "market", "service", "office", "hr")
_MAILS = (
    "plain",
    "plain",
    "plain",
    "link",
    "link",
    "named",
    "hash",
    "at",
    "han",
    "wide",
    "upper",
    "split",
    "image",
)
_URLS = ("{0}", "http://{0}", "http://{0}/", '<a href="http://{0}/">{0}</a>', "{1}")
_QQ_LINK = '<a href="http://wpa.qq.com/msgrd?v=3&amp;uin={0}&amp;site=qq&amp;menu=yes">'
_QQS = (
    "{0}",
    "{0}",
    _QQ_LINK + "{0}</a>",
    _QQ_LINK + '<img src="/images/qq.gif" alt="点击这里给我发消息"></a>',
)
_WIDE = {ord(str(digit)): chr(0xFF10 + digit) for digit in range(10)}


def _address(rng: random.Random, city: dict[str, Any], _host: str) -> Fact:
    streets = words()["streets"]
    text = rng.choice((city["province"], "", "")) + city["name"] + "市"
    text += rng.choice(city["districts"]) + rng.choice(streets["names"])
    text += rng.choice(
        (f"{rng.randint(2, 998)}号", f"{rng.randint(2, 98)}段{rng.randint(2, 98)}号")
    )
    if rng.random() < 0.7:  # noqa: PLR2004
        text += rng.choice(streets["houses"])
        floor, room, letter = rng.randint(2, 30), rng.randint(201, 999), rng.choice("ABC")
        text += rng.choice(_FLOORS).format(floor, room, letter)
    return Fact("address", (text,), text)


def _local(rng: random.Random, city: dict[str, Any]) -> str:
    return rng.choice("68") + digits_of(rng, city["digits"] - 1)


def _phone(rng: random.Random, city: dict[str, Any], _host: str) -> Fact:
    area, first = city["area"], _local(rng, city)
    start = rng.choice(_AREAS).format(area)
    own = f"86{area}{first}"
    style = rng.choice(_PHONES)
    if style in {"two", "local"}:
        other = _local(rng, city)
        more = f"{rng.choice(_BETWEEN)}0{area}-{other}" if style == "two" else f"、{other}"
        return Fact("phone", (own, f"86{area}{other}"), f"{start}{first}{more}")
    if style == "tail":
        tail = str(rng.randint(10, 99))
        return Fact("phone", (own, own[:-2] + tail), f"{start}{first}/{tail}")
    if style == "ext":
        extension = str(rng.randint(800, 8999))
        text = start + first + rng.choice(("转", " 转 ", "-", "转分机")) + extension
        return Fact("phone", (f"{own}x{extension}",), text)
    if style == "exts":
        one, two = rng.randint(800, 850), rng.randint(851, 899)
        return Fact("phone", (f"{own}x{one}", f"{own}x{two}"), f"{start}{first}转{one}/{two}")
    text = start + rng.choice(_GROUPED).format(first[:-4], first[-4:])
    if style == "wide":
        text = text.translate(_WIDE)
    if style == "one" and rng.random() < 0.2:  # noqa: PLR2004
        text += f"（{rng.choice(words()['people'])}）"
    return Fact("phone", (own,), text)


def _mobile(rng: random.Random, _city: dict[str, Any], _host: str) -> Fact:
    digits = rng.choice(("138", "139", "150", "186", "133")) + digits_of(rng, 8)
    text = rng.choice(_MOBILES).format(digits[:3], digits[3:7], digits[7:])
    if rng.random() < 0.3:  # noqa: PLR2004
        text += rng.choice((" ", "（")) + rng.choice(words()["people"])
        text += "）" if "（" in text else ""
    return Fact("mobile", ("86" + digits,), text)


def _hotline(rng: random.Random, _city: dict[str, Any], _host: str) -> Fact:
    digits = "400" + rng.choice("01689") + digits_of(rng, 6)
    parts = digits[:3], digits[3], digits[4:6], digits[6], digits[7:]
    return Fact("hotline", ("86" + digits,), rng.choice(_HOTLINES).format(*parts))


def _fax(rng: random.Random, city: dict[str, Any], _host: str) -> Fact:
    first = _local(rng, city)
    text = rng.choice(_FAXES).format(city["area"], first)
    return Fact("fax", (f"86{city['area']}{first}",), text)


def _mail(rng: random.Random, _city: dict[str, Any], host: str) -> Fact:
    domain = rng.choice((host.removeprefix("www."), "163.com", "126.com", "qq.com"))
    if "test" in domain:
        user = rng.choice(_MAIL_USERS)
    else:
        user = f"{host[4:10].strip('.')}{rng.randint(1, 999)}"
    mail = f"{user}@{domain}"
    written = {
        "plain": mail,
        "link": f'<a href="mailto:{mail}">{mail}</a>',
        "named": f'<a href="mailto:{mail}?subject=hello">点击发送邮件</a>',
        "hash": mail.replace("@", "#"),
        "at": mail.replace("@", rng.choice(("[at]", "(at)", " [at] ", "（at）"))),
        "han": mail.replace("@", "艾特"),
        "wide": mail.replace("@", "＠"),
        "upper": mail.capitalize(),
        "split": f"{user}<b>@</b>{domain}",
    }
    style = rng.choice(_MAILS)
    if style == "image":
        return Fact("mail", (), f'<img src="/images/mail{rng.randint(1, 99)}.gif">', image=True)
    return Fact("mail", (mail,), written[style])


def _url(rng: random.Random, _city: dict[str, Any], host: str) -> Fact:
    return Fact("url", (host,), rng.choice(_URLS).format(host, host.upper()))


def _postcode(rng: random.Random, city: dict[str, Any], _host: str) -> Fact:
    code = rng.choice(city["codes"])
    return Fact("postcode", (code,), code)


def _qq(rng: random.Random, _city: dict[str, Any], _host: str) -> Fact:
    number = rng.choice("12345678") + digits_of(rng, rng.randint(5, 9))
    return Fact("qq", (number,), rng.choice(_QQS).format(number))


_FACTS = {
    "address": _address,
    "phone": _phone,
    "mobile": _mobile,
    "hotline": _hotline,
    "fax": _fax,
    "mail": _mail,
    "url": _url,
    "postcode": _postcode,
    "qq": _qq,
}
"""Makers of the facts by kind, in the order of the pages."""
