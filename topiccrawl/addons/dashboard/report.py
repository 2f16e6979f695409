"""Report of a crawl as one self-contained HTML page without scripts."""

from __future__ import annotations

import time
from html import escape
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from topiccrawl.addons.dashboard.curves import Curve, bar, chart
from topiccrawl.addons.dashboard.report_words import STYLE, WORDS
from topiccrawl.scheduler.review import explained
from topiccrawl.text.messages import translated

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from topiccrawl.storage.listing import Listed
    from topiccrawl.storage.status import State


class Site(NamedTuple):
    """A host of the report: pages fetched, and their mean relevance in [0, 1]."""

    name: str
    pages: int
    worth: float


class Content(NamedTuple):
    """Content of a report.

    Attributes:
        state: The crawl's last state; see ``source``.
        more: Chains and changes; see ``source``.
        stored: Articles stored for the topic.
        articles: Those that are shown.
        sites: Hosts, those with most pages first.
    """

    state: State
    more: State
    stored: int
    articles: Sequence[Listed]
    sites: Sequence[Site]


class Report:
    """Writes a report in one language.

    Args:
        content: Content of the report.
        language: ``en`` or ``zh``.
    """

    def __init__(self, content: Content, language: str = "en") -> None:
        self._content = content
        self._to = language
        self._language = {"en": "en", "zh": "zh-CN"}[language]

    def html(self) -> str:
        """The whole page."""
        run = self._content.state["run"]
        sections = (
            self._figures(), self._why(), self._harvest(), self._sites(), self._articles(),
            self._chains(), self._errors(), self._changes(),
        )  # fmt: skip
        policy = "default-src 'none'; style-src 'unsafe-inline'"
        return (
            f'<!DOCTYPE html>\n<html lang="{self._language}"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
            '<meta name="viewport" content="width=device-width,initial-scale=1">'
            '<meta name="color-scheme" content="light dark">'
            f"<title>{escape(run['topic'])} · topiccrawl</title><style>{STYLE}</style></head>\n"
            f"<body><header><p>topiccrawl {escape(run['version'])}</p>"
            f"<h1>{escape(run['topic'])}</h1>{self._when()}</header>\n<main>"
            + "\n".join(sections)
            + "\n</main></body></html>\n"
        )

    def _when(self) -> str:
        run = self._content.state["run"]
        end = self._t("goes-on") if run["finished"] is None else _moment(run["finished"])
        reason = f" ({escape(run['reason'])})" if run["reason"] else ""
        return (
            f'<p class="soft">{_moment(run["began"])} – {end}{reason} · {escape(run["strategy"])}'
            f" · {escape(run['node'])} · {escape(run['frontier'])}</p>"
        )

    def _figures(self) -> str:
        totals, queues = self._content.state["totals"], self._content.state["queues"]
        pages, relevant = totals["pages"], totals["relevant"]
        waiting = queues["prior"] + queues["normal"]
        tiles = (
            ("harvest", f"{relevant / pages if pages else 0:.1%}"), ("pages", f"{pages:,}"),
            ("relevant", f"{relevant:,}"), ("hubs", f"{totals.get('hubs', 0):,}"),
            ("new", f"{totals['articles']:,}"),
            ("stored", f"{self._content.stored:,}"), ("reprints", f"{totals['duplicates']:,}"),
            ("queued", f"{waiting:,}"), ("failed", f"{queues['error']:,}"),
            ("time", _clock(self._content.state["run"]["seconds"])),
        )  # fmt: skip
        made = (f"<div><p>{self._t(name)}</p><b>{value}</b></div>" for name, value in tiles)
        return f'<section class="tiles">{"".join(made)}</section>'

    def _why(self) -> str:
        """Return the section on what the crawl met, where nothing on topic was found."""
        review = self._content.state.get("review")
        if not review or self._content.state["totals"]["relevant"]:
            return ""
        lines = "\n".join(map(escape, explained(review)))
        return self._section("why", f"<pre>{lines}</pre>")

    def _harvest(self) -> str:
        points = [point for point in self._content.state["series"]["points"] if point[1]]
        recent = Curve("recent", "recent", [(at, last) for at, _, _, last, *_ in points])
        mean = Curve("mean", "mean", [(at, found / n) for at, n, found, *_ in points])
        found = Curve("relevant", "recent", [(float(n), float(hit)) for _, n, hit, *_ in points])
        articles = Curve("articles", "mean", [(float(p[1]), float(p[4])) for p in points])
        rate = chart(
            self._t("harvest"), [recent, mean], top=1.0, x_text=_clock, y_text="{:.0%}".format
        )
        gain = chart(
            self._t("gain"), [found, articles], x_text="{:,.0f}".format, y_text="{:,.0f}".format
        )
        return self._section(
            "harvest",
            f"{self._legend('recent', 'mean')}{_wide(rate)}<h3>{self._t('gain')}</h3>"
            f"{self._legend('relevant', 'new')}{_wide(gain)}",
        )

    def _legend(self, first: str, second: str) -> str:
        return (
            f'<p class="legend"><span class="recent">{self._t(first)}</span>'
            f'<span class="mean">{self._t(second)}</span></p>'
        )

    def _sites(self) -> str:
        rows = (
            (escape(site.name), f"{site.pages:,}", f"{bar(site.worth)} {site.worth:.2f}")
            for site in self._content.sites
        )  # fmt: skip
        return self._section("sites", self._table(("host", "pages", "worth"), rows))

    def _articles(self) -> str:
        rows = (
            (f"{one.score:.2f}", _link(one.url, one.title or one.url), escape(one.site),
             escape(one.published[:16].replace("T", " ")),
             escape(" · ".join(term for term, _ in one.terms[:4])), str(one.reprints or ""))
            for one in self._content.articles
        )  # fmt: skip
        heads = ("score", "title", "site", "published", "terms", "reprints")
        return self._section("articles", self._table(heads, rows))

    def _chains(self) -> str:
        items = []
        for chain in self._content.more.get("chains", []):
            first = chain["article"]
            others = " → ".join(
                f"{_link(one['url'], one['site'])} {one['similarity']:.0%}"
                for one in chain["reprints"]
            )
            items.append(
                f"<li>{_link(first['url'], first['title'] or first['url'])}"
                f"<p class='soft'>{escape(first['site'])} → {others}</p></li>"
            )
        return self._section("chains", f"<ul>{''.join(items)}</ul>" if items else "")

    def _errors(self) -> str:
        errors = sorted(self._content.state["errors"].items(), key=lambda one: -one[1])
        most = max((number for _, number in errors), default=1)
        rows = ((escape(reason), f"{n:,}", bar(n / most)) for reason, n in errors)
        return self._section("errors", self._table(("reason", "urls", ""), rows))

    def _changes(self) -> str:
        items = []
        for change in self._content.more.get("changes", []):
            came = " ".join(f"+{term}" for term in change["came"])
            went = " ".join(f"−{term}" for term in change["went"])
            items.append(
                f"<li><b>{change['number']}</b> {_moment(change['at'])} · "
                f"{change['pages']:,} {self._t('pages')} "
                f"<span class='came'>{escape(came)}</span> <span class='went'>{escape(went)}</span>"
                f"<p class='soft'>{escape(change['reason'])}</p></li>"
            )
        return self._section("changes", f"<ul>{''.join(items)}</ul>" if items else "")

    def _section(self, name: str, body: str) -> str:
        empty = f'<p class="soft">{self._t("none")}</p>'
        return f"<section><h2>{self._t(f'{name}-title')}</h2>{body or empty}</section>"

    def _table(self, heads: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
        body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
        if not body:
            return ""
        named = (f'<th scope="col">{self._t(name)}</th>' if name else "<td></td>" for name in heads)
        return _wide(f"<table><tr>{''.join(named)}</tr>{body}</table>")

    def _t(self, name: str) -> str:
        return translated(WORDS[name], self._to)


def _wide(body: str) -> str:
    """Wrap content that may be wider than a phone: it scrolls by itself, also by keyboard."""
    return f'<div class="scroll" tabindex="0">{body}</div>'


def _link(url: str, text: str) -> str:
    """A link to the web, if it is one; the text alone otherwise."""
    try:
        safe = urlsplit(url).scheme in {"http", "https"}
    except ValueError:
        safe = False
    if not safe:
        return escape(text)
    return f'<a href="{escape(url, quote=True)}" rel="noreferrer nofollow">{escape(text)}</a>'


def _moment(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def _clock(seconds: float) -> str:
    """Hours, minutes and seconds.

    >>> _clock(61.2), _clock(7261)
    ('1:01', '2:01:01')
    """
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
