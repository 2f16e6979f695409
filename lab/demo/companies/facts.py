"""Facts of a generated company, and the formats in which its pages write them."""

from __future__ import annotations

import random
import tomllib
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

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
        city: City, from ``words.toml``.
        facts: Facts on its pages, in order.
        labelled_name: Whether the name has a label.
    """

    number: int
    name: str
    short: str
    host: str
    city: dict[str, Any]
    facts: tuple[Fact, ...]
    labelled_name: bool

    def truth(self) -> dict[str, tuple[str, ...]]:
        """Values by kind, without images; kinds without values are omitted."""
        said = {fact.kind: fact.true for fact in self.facts if not fact.image}
        return {"name": (self.name,), **said}


@cache
def words() -> dict[str, Any]:
    """The tables of ``words.toml``."""
    file = resources.files("lab.demo.companies") / "words.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def company(seed: int, number: int, edition: int = 0) -> Company:
    """The company of a number; in another edition it has another telephone and address.

    >>> company(1, 3) == company(1, 3), company(1, 3).name == company(1, 3, 1).name
    (True, True)
    """
    who = random.Random(f"{seed}/company/{number}")  # noqa: S311
    luck = random.Random(f"{seed}/facts/{number}/{edition}")  # noqa: S311
    table = words()
    stem, trade = (
        number % len(table["stems"]),
        (number // len(table["stems"])) % len(table["trades"]),
    )
    city = who.choice(table["cities"])
    short = table["stems"][stem] + table["trades"][trade]
    place = who.choice(("四川", city["name"], city["name"] + "市", "四川省"))
    infix = who.choice(("", "", "", f"（{city['name']}）"))
    name = place + short + infix + who.choice(table["forms"])
    host = f"www.{table['pinyin'][stem]}{table['trade_pinyin'][trade]}.test"
    shown = [kind for kind in FIELDS if who.random() < _SHOWN[kind]]
    if not {"phone", "mobile", "hotline"} & set(shown):
        shown.append("phone")
    facts = tuple(
        _FACTS[kind](luck, city, host) for kind in FIELDS if kind in shown and kind != "name"
    )
    return Company(number, name, short, host, city, facts, "name" in shown)


# -- One kind each -------------------------------------------------------------------------------


def _address(luck: random.Random, city: dict[str, Any], host: str) -> Fact:  # noqa: ARG001
    streets = words()["streets"]
    province = luck.choice((city["province"], "", ""))
    text = (
        f"{province}{city['name']}市{luck.choice(city['districts'])}{luck.choice(streets['names'])}"
    )
    text += luck.choice(
        (f"{luck.randint(2, 998)}号", f"{luck.randint(2, 98)}段{luck.randint(2, 98)}号")
    )
    if luck.random() < 0.7:  # noqa: PLR2004
        text += luck.choice(streets["houses"])
        floor, room, letter = luck.randint(2, 30), luck.randint(201, 999), luck.choice("ABC")
        ends = ("{0}楼", "{0}层{1}室", "{2}座{1}", "{0}栋2单元{1}号")
        text += luck.choice(ends).format(floor, room, letter)
    return Fact("address", (text,), text)


def _local(luck: random.Random, city: dict[str, Any]) -> str:
    return luck.choice("68") + "".join(luck.choice("0123456789") for _ in range(city["digits"] - 1))


def _grouped(luck: random.Random, digits: str) -> str:
    return luck.choice(
        (digits, digits, digits, f"{digits[:-4]} {digits[-4:]}", f"{digits[:-4]}-{digits[-4:]}")
    )


_AREAS = ("0{0}-", "0{0}-", "0{0}－", "（0{0}）", "(0{0})", "0{0} ", "86-{0}-", "+86-{0}-",
          "0086-{0}-", "+86 (0){0} ", "0{0}—")  # fmt: skip


def _phone(luck: random.Random, city: dict[str, Any], host: str) -> Fact:  # noqa: ARG001
    area, first = city["area"], _local(luck, city)
    whole = luck.choice(_AREAS).format(area)
    true = "86" + area
    style = luck.choice(
        ("one", "one", "one", "two", "tail", "ext", "dash", "local", "wide", "exts")
    )
    if style == "two":
        other = _local(luck, city)
        text = (
            whole
            + first
            + luck.choice(("、", " / ", "，", "<br>", "&nbsp;&nbsp;", "；"))
            + f"0{area}-{other}"
        )
        return Fact("phone", (true + first, true + other), text)
    if style == "tail":
        tail = f"{luck.randint(10, 99)}"
        return Fact("phone", (true + first, true + first[:-2] + tail), f"{whole}{first}/{tail}")
    if style == "ext":
        ext = str(luck.randint(800, 8999))
        text = whole + first + luck.choice(("转", " 转 ", "-", "转分机")) + ext
        return Fact("phone", (f"{true}{first}x{ext}",), text)
    if style == "exts":
        one, two = str(luck.randint(800, 850)), str(luck.randint(851, 899))
        return Fact(
            "phone",
            (f"{true}{first}x{one}", f"{true}{first}x{two}"),
            f"{whole}{first}转{one}/{two}",
        )
    if style == "local":
        other = _local(luck, city)
        return Fact("phone", (true + first, true + other), f"{whole}{first}、{other}")
    text = whole + _grouped(luck, first)
    if style == "wide":
        text = text.translate({ord(str(digit)): chr(0xFF10 + digit) for digit in range(10)})
    if style == "one" and luck.random() < 0.2:  # noqa: PLR2004
        text += f"（{luck.choice(words()['people'])}）"
    return Fact("phone", (true + first,), text)


def _mobile_number(luck: random.Random) -> str:
    return luck.choice(("138", "139", "150", "186", "133")) + "".join(
        luck.choice("0123456789") for _ in range(8)
    )


def _mobile(luck: random.Random, city: dict[str, Any], host: str) -> Fact:  # noqa: ARG001
    digits = _mobile_number(luck)
    text = luck.choice(
        (
            digits,
            digits,
            f"{digits[:3]}-{digits[3:7]}-{digits[7:]}",
            f"{digits[:3]} {digits[3:7]} {digits[7:]}",
            f"+86 {digits}",
        )
    )
    if luck.random() < 0.3:  # noqa: PLR2004
        text += luck.choice((" ", "（")) + luck.choice(words()["people"])
        text += "）" if "（" in text else ""
    return Fact("mobile", ("86" + digits,), text)


def _hotline(luck: random.Random, city: dict[str, Any], host: str) -> Fact:  # noqa: ARG001
    digits = "400" + luck.choice("01689") + "".join(luck.choice("0123456789") for _ in range(6))
    text = luck.choice(
        (
            f"{digits[:3]}-{digits[3:6]}-{digits[6:]}",
            f"{digits[:4]}-{digits[4:7]}-{digits[7:]}",
            digits,
            f"{digits[:3]} {digits[3:6]} {digits[6:]}",
        )
    )
    return Fact("hotline", ("86" + digits,), text)


def _fax(luck: random.Random, city: dict[str, Any], host: str) -> Fact:  # noqa: ARG001
    first = _local(luck, city)
    text = luck.choice(
        (f"0{city['area']}-{first}", f"86-{city['area']}-{first}", f"（0{city['area']}）{first}")
    )
    return Fact("fax", (f"86{city['area']}{first}",), text)


def _mail(luck: random.Random, city: dict[str, Any], host: str) -> Fact:  # noqa: ARG001
    domain = luck.choice((host.removeprefix("www."), "163.com", "126.com", "qq.com"))
    user = (
        luck.choice(("info", "sales", "market", "service", "office", "hr"))
        if "test" in domain
        else f"{host[4:10].strip('.')}{luck.randint(1, 999)}"
    )
    mail = f"{user}@{domain}"
    written = {
        "plain": mail,
        "link": f'<a href="mailto:{mail}">{mail}</a>',
        "named": f'<a href="mailto:{mail}?subject=hello">点击发送邮件</a>',
        "hash": mail.replace("@", "#"),
        "at": mail.replace("@", luck.choice(("[at]", "(at)", " [at] ", "（at）"))),
        "han": mail.replace("@", "艾特"),
        "wide": mail.replace("@", "＠"),
        "upper": mail.capitalize(),
        "split": f"{user}<b>@</b>{domain}",
    }
    style = luck.choice(
        (
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
    )
    if style == "image":
        return Fact("mail", (), f'<img src="/images/mail{luck.randint(1, 99)}.gif">', image=True)
    return Fact("mail", (mail,), written[style])


def _url(luck: random.Random, city: dict[str, Any], host: str) -> Fact:  # noqa: ARG001
    text = luck.choice(
        (
            host,
            f"http://{host}",
            f"http://{host}/",
            f'<a href="http://{host}/">{host}</a>',
            host.upper(),
        )
    )
    return Fact("url", (host,), text)


def _postcode(luck: random.Random, city: dict[str, Any], host: str) -> Fact:  # noqa: ARG001
    code = luck.choice(city["codes"])
    return Fact("postcode", (code,), code)


def _qq(luck: random.Random, city: dict[str, Any], host: str) -> Fact:  # noqa: ARG001
    number = luck.choice("12345678") + "".join(
        luck.choice("0123456789") for _ in range(luck.randint(5, 9))
    )
    link = f'<a href="http://wpa.qq.com/msgrd?v=3&amp;uin={number}&amp;site=qq&amp;menu=yes">'
    text = luck.choice(
        (
            number,
            number,
            f"{link}{number}</a>",
            f'{link}<img src="/images/qq.gif" alt="点击这里给我发消息"></a>',
        )
    )
    return Fact("qq", (number,), text)


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
