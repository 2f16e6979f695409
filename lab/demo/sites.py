"""Sites of the demo web: their channels, hosts, encoding and layout."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from lab.demo.vocabulary import site_names, subjects

if TYPE_CHECKING:
    from lab.demo.vocabulary import Subject


class Charset(NamedTuple):
    """Encoding of a page, real and declared.

    Attributes:
        codec: Real encoding of the bytes.
        header: Charset of the Content-Type header, "" for none.
        meta: Charset of the page's meta element, "" for none.
        bom: Whether a byte order mark leads.
    """

    codec: str
    header: str
    meta: str
    bom: bool = False


_CHARSETS = {
    "zh": (
        Charset("gb18030", "", "gb2312"),
        Charset("utf-8", "utf-8", "utf-8"),
        Charset("gb18030", "gb2312", ""),
        Charset("utf-8", "", "utf-8"),
        Charset("gb18030", "utf-8", "gb2312"),
        Charset("utf-8", "utf-8", ""),
        Charset("gb18030", "GBK", "gbk"),
        Charset("utf-8", "gb2312", "utf-8"),
        Charset("gb18030", "", ""),
        Charset("gb18030", "ISO-8859-1", "gb2312"),
        Charset("utf-8", "", "", bom=True),
    ),
    "zh-Hant": (
        Charset("big5", "", "big5"),
        Charset("utf-8", "utf-8", "utf-8"),
        Charset("big5", "Big5", ""),
        Charset("big5", "utf-8", "big5"),
    ),
    "en": (
        Charset("utf-8", "utf-8", ""),
        Charset("cp1252", "ISO-8859-1", ""),
        Charset("utf-8", "", "utf-8"),
    ),
}


class Site(NamedTuple):
    """A publisher.

    Attributes:
        number: Position in the plan.
        kind: ``portal`` (a host for each channel), ``paper`` (a path for each), ``vertical``
            (one subject), ``island`` (one subject, linked from a tunnel only), ``fault``.
        name: Display name.
        domain: Registrable domain.
        language: ``zh``, ``zh-Hant`` or ``en``.
        charset: Charset of all its pages.
        layout: Name of its page layout.
        style: Number of its URL style.
        subjects: Subjects of its channels.
    """

    number: int
    kind: str
    name: str
    domain: str
    language: str
    charset: Charset
    layout: str
    style: int
    subjects: tuple[Subject, ...]

    @property
    def front(self) -> str:
        """Host of its front page."""
        return f"www.{self.domain}"


class Section(NamedTuple):
    """A channel of a site: a list of stories with its own pages.

    Attributes:
        number: Position in the plan.
        site: Number of its site.
        host: Host of its pages.
        path: Path of its first list page, ends in a slash.
        title: Text of its link.
        subject: Its subject, or None for blogs.
        kind: Kind of the pages it lists: ``article`` or ``blog``.
    """

    number: int
    site: int
    host: str
    path: str
    title: str
    subject: Subject | None
    kind: str


_FIRST = ("portal", "vertical", "paper", "island", "taiwan", "english")
_LATER = ("paper", "taiwan", "vertical", "portal", "english", "paper", "vertical", "paper")
_LAYOUTS = {
    "zh": ("portal", "modern", "table", "plain", "lines"),
    "zh-Hant": ("plain", "table", "modern"),
    "en": ("press", "modern"),
}


def make_sites(number: int, topic: Subject) -> list[Site]:
    """Return a number of sites; the kinds of the first ones are fixed, so that all kinds occur."""
    kinds = [*_FIRST, *(_LATER[i % len(_LATER)] for i in range(max(0, number - len(_FIRST))))]
    counts: Counter[str] = Counter()
    sites = []
    for position, kind in enumerate(kinds):
        tongue = _tongue(kind, topic)
        sites.append(_site(position, kind, tongue, counts[tongue], topic))
        counts[tongue] += 1
    return sites


def fault_site(number: int, turn: int, name: str, topic: Subject) -> Site:
    """Return a small site with a faulty host; ``name`` is the fault."""
    about = [s for s in subjects() if s.language is topic.language]
    chosen = (topic, about[(turn + 1) % len(about)])
    tongue = topic.language.code
    charset = _CHARSETS[tongue][1 if tongue == "zh" else 0]
    layout = _LAYOUTS[tongue][turn % len(_LAYOUTS[tongue])]
    return Site(number, "fault", name, f"{name}.example", tongue, charset, layout, turn % 5, chosen)


def _tongue(kind: str, topic: Subject) -> str:
    if kind == "english" or topic.language.code == "en":
        return "en"
    return "zh-Hant" if kind == "taiwan" else "zh"


def _site(number: int, kind: str, tongue: str, turn: int, topic: Subject) -> Site:
    charsets, layouts = _CHARSETS[tongue], _LAYOUTS[tongue]
    name, domain = _name(number, tongue)
    if kind in {"taiwan", "english"}:
        kind = "paper"
    return Site(
        number=number,
        kind=kind,
        name=name,
        domain=domain,
        language=tongue,
        charset=charsets[turn % len(charsets)],
        layout=layouts[turn % len(layouts)],
        style=(turn * 5 + number) % 6,
        subjects=_about(number, kind, tongue, topic),
    )


def _name(number: int, tongue: str) -> tuple[str, str]:
    names = site_names()
    ending = "test" if number % 3 else "example"
    if tongue == "en":
        name = names.english[number % len(names.english)]
        again = number // len(names.english)
        latin = name.lower().replace(" ", "-") + (str(again) if again else "")
        return name + (f" {again}" if again else ""), f"{latin}.{ending}"
    stem, han = names.stems[number % len(names.stems)]
    kind, suffix = names.kinds[(number // len(names.stems) + number) % len(names.kinds)]
    return han + suffix, f"{stem}{kind}.{ending}"


def _about(number: int, kind: str, tongue: str, topic: Subject) -> tuple[Subject, ...]:
    code = tongue.removesuffix("-Hant")
    known = tuple(s for s in subjects() if s.language.code == code)
    if kind == "island" or (kind == "vertical" and number < len(_FIRST)):
        return (topic,)
    if kind == "vertical":
        return (known[number % len(known)],)
    if tongue == "zh-Hant":
        start = number % len(known)
        turned = known[start:] + known[:start]
        return tuple(dict.fromkeys((topic, *turned[:4])))
    return known
