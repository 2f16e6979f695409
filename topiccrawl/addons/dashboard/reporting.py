"""Report of a crawl: one self-contained HTML page, from the records of runs and the stores."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from heapq import nlargest
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from topiccrawl.addons.dashboard.curves import Curve, bar, chart
from topiccrawl.addons.dashboard.stored import RunsSource
from topiccrawl.errors import SettingError, StateError, StorageError
from topiccrawl.frontier.entries import HostEntry, UrlEntry
from topiccrawl.messages import message, translate
from topiccrawl.scheduler.build import read_frontier
from topiccrawl.scheduler.review import explain_review
from topiccrawl.storage.factory import closed_after
from topiccrawl.storage.files import translated
from topiccrawl.storage.rows import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from scrapy.settings import BaseSettings

    from topiccrawl.storage.contract import Listed
    from topiccrawl.storage.status import State

LANGUAGES = ("en", "zh")
CANDIDATES = 2_000
"""Number of newest articles from which the shown ones are selected."""
ARTICLES = 100
"""Number of articles shown, those with the best scores."""
SITES = 40
"""Number of hosts shown, those with the most pages."""


async def write_report(
    path: Path, settings: BaseSettings, *, topic: str = "", language: str
) -> None:
    """Write the report of a crawl.

    Args:
        path: The file; its folder is created if needed.
        settings: Settings of the run records, the frontier and the article store.
        topic: Topic of the crawl; "" for the latest crawl.
        language: One of ``LANGUAGES``.

    Raises:
        StateError: If no crawl, or none of this topic, is recorded.
        StorageError: If a store cannot be read or the file cannot be written.
    """
    async with closed_after(RunsSource(settings)) as source:
        runs = [one.state["run"] for one in await source.runs.all()]
        crawls = [run["frontier"] for run in runs if not topic or run["topic"] == topic]
        if not crawls:
            of = f" for topic {topic!r}" if topic else ""
            raise StateError(
                "no crawl{of} has a record in {topiccrawl_data_dir} or its "
                "Redis: name another folder with -s TOPICCRAWL_DATA_DIR=FOLDER",
                of=of,
                topiccrawl_data_dir=settings["TOPICCRAWL_DATA_DIR"],
            )
        content = await content_of(source, crawls[0], settings)
    html = Report(content, language).html()
    await asyncio.to_thread(_write, path, clean(html))


async def content_of(source: RunsSource, crawl: str, settings: BaseSettings) -> Content:
    """Return the content of a report on a crawl."""
    state, more = await source.state(crawl), await source.more(crawl)
    total, articles = await source.articles(crawl, 0, CANDIDATES)
    best = nlargest(ARTICLES, articles, key=lambda one: one.score)
    sites = await asyncio.to_thread(_sites, state, settings)
    return Content(state, more, total, best, sites)


def language_of(settings: BaseSettings) -> str:
    """Return the language of reports.

    Raises:
        SettingError: If the language is not supported.
    """
    language = str(settings.get("TOPICCRAWL_REPORT_LANGUAGE") or "en").lower()
    if language not in LANGUAGES:
        raise SettingError(
            "TOPICCRAWL_REPORT_LANGUAGE is {language!r}: set it to {choices}",
            language=language,
            choices=" or ".join(LANGUAGES),
        )
    return language


def _sites(state: State, settings: BaseSettings) -> list[Site]:
    """Return the hosts with the most pages, from the frontier if readable, or from the record."""
    hosts = [Site(one["name"], one["pages"], one["worth"]) for one in state["hosts"]["list"]]
    try:
        with closing(read_frontier(state["run"]["frontier"], settings)) as frontier:
            found = []
            for entry in frontier.export():
                if isinstance(entry, UrlEntry):
                    break
                if isinstance(entry, HostEntry):
                    worth = entry.worth / entry.pages if entry.pages else 0.0
                    found.append(Site(entry.name, entry.fetched, worth))
            hosts = found
    except (StateError, StorageError):
        pass  # the frontier was deleted, or belongs to another strategy now
    return nlargest(SITES, hosts, key=lambda site: site.pages)


def _write(path: Path, html: str) -> None:
    with translated(StorageError, message("{path}: cannot be written: {strerror}"), path=path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html, encoding="utf-8")


class Site(NamedTuple):
    """A host of the report: number of fetched pages, and their mean relevance in [0, 1]."""

    name: str
    pages: int
    worth: float


class Content(NamedTuple):
    """Content of a report.

    Attributes:
        state: Last state of the crawl; see ``Source.state``.
        more: Reprint chains and topic changes; see ``Source.more``.
        stored: Number of articles stored for the topic.
        articles: Articles to show.
        sites: Hosts, those with the most pages first.
    """

    state: State
    more: State
    stored: int
    articles: Sequence[Listed]
    sites: Sequence[Site]


class Report:
    """Renders a report in one language.

    Args:
        content: Content of the report.
        language: ``en`` or ``zh``.
    """

    def __init__(self, content: Content, language: str = "en") -> None:
        self._content = content
        self._to = language
        self._language = {"en": "en", "zh": "zh-CN"}[language]

    def html(self) -> str:
        """Return the whole page."""
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
            f"<title>{escape(run['topic'])} · topiccrawl</title><style>{_style()}</style></head>\n"
            f"<body><header><p>topiccrawl {escape(run['version'])}</p>"
            f"<h1>{escape(run['topic'])}</h1>{self._when()}</header>\n<main>"
            + "\n".join(sections)
            + "\n</main></body></html>\n"
        )

    def _when(self) -> str:
        run = self._content.state["run"]
        end = self.tr("running") if run["finished"] is None else _moment(run["finished"])
        reason = f" ({escape(run['reason'])})" if run["reason"] else ""
        return (
            f'<p class="soft">{_moment(run["began"])} – {end}{reason} · {escape(run["strategy"])}'
            f" · {escape(run['node'])} · {escape(run['frontier'])}</p>"
        )

    def _figures(self) -> str:
        tr, totals, queues = self.tr, self._content.state["totals"], self._content.state["queues"]
        pages, relevant = totals["pages"], totals["relevant"]
        tiles = {
            tr("Harvest rate"): f"{relevant / pages if pages else 0:.1%}",
            tr("Pages"): f"{pages:,}",
            tr("On topic"): f"{relevant:,}",
            tr("Lists of articles"): f"{totals.get('hubs', 0):,}",
            tr("New articles"): f"{totals['articles']:,}",
            tr("Articles stored"): f"{self._content.stored:,}",
            tr("Reprints"): f"{totals['duplicates']:,}",
            tr("URLs queued"): f"{queues['prior'] + queues['normal']:,}",
            tr("URLs failed"): f"{queues['error']:,}",
            tr("Time"): _clock(self._content.state["run"]["seconds"]),
        }
        made = (f"<div><p>{name}</p><b>{value}</b></div>" for name, value in tiles.items())
        return f'<section class="tiles">{"".join(made)}</section>'

    def _why(self) -> str:
        """Return the section that explains why no page on topic was found, if so."""
        review = self._content.state.get("review")
        if not review or self._content.state["totals"]["relevant"]:
            return ""
        lines = "\n".join(map(escape, explain_review(review)))
        return self._section(self.tr("Why nothing on topic was found"), f"<pre>{lines}</pre>")

    def _harvest(self) -> str:
        tr, points = self.tr, [one for one in self._content.state["series"]["points"] if one[1]]
        rates = [
            Curve(tr("last 100 pages"), "recent", [(at, last) for at, _, _, last, *_ in points]),
            Curve(tr("running mean"), "mean", [(at, found / n) for at, n, found, *_ in points]),
        ]
        gains = [
            Curve(tr("On topic"), "recent", [(n, found) for _, n, found, *_ in points]),
            Curve(tr("New articles"), "mean", [(n, new) for _, n, _, _, new, *_ in points]),
        ]
        rate = chart(tr("Harvest rate"), rates, top=1.0, x_text=_clock, y_text="{:.0%}".format)
        title = tr("Pages on topic and articles, by parsed pages")
        gain = chart(title, gains, x_text="{:,.0f}".format, y_text="{:,.0f}".format)
        body = f"{_legend(rates)}{_wide(rate)}<h3>{title}</h3>{_legend(gains)}{_wide(gain)}"
        return self._section(tr("Harvest"), body)

    def _sites(self) -> str:
        rows = (
            (escape(site.name), f"{site.pages:,}", f"{bar(site.worth)} {site.worth:.2f}")
            for site in self._content.sites
        )
        heads = (self.tr("Host"), self.tr("Pages"), self.tr("On topic"))
        return self._section(self.tr("Sites"), _table(heads, rows))

    def _articles(self) -> str:
        rows = (
            (f"{one.score:.2f}", _link(one.url, one.title or one.url), escape(one.site),
             escape(one.published[:16].replace("T", " ")),
             escape(" · ".join(term for term, _ in one.terms[:4])), str(one.reprints or ""))
            for one in self._content.articles
        )  # fmt: skip
        tr = self.tr
        heads = tr("Score"), tr("Title"), tr("Site"), tr("Published"), tr("Terms"), tr("Reprints")
        return self._section(tr("Articles"), _table(heads, rows))

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
        return self._section(self.tr("Duplicates"), f"<ul>{''.join(items)}</ul>" if items else "")

    def _errors(self) -> str:
        errors = sorted(self._content.state["errors"].items(), key=lambda one: -one[1])
        most = max((number for _, number in errors), default=1)
        rows = ((escape(reason), f"{n:,}", bar(n / most)) for reason, n in errors)
        heads = (self.tr("Reason"), self.tr("URLs"), "")
        return self._section(self.tr("Errors by reason"), _table(heads, rows))

    def _changes(self) -> str:
        items, pages = [], self.tr("Pages")
        for change in self._content.more.get("changes", []):
            came = " ".join(f"+{term}" for term in change["came"])
            went = " ".join(f"−{term}" for term in change["went"])
            items.append(
                f"<li><b>{change['number']}</b> {_moment(change['at'])} · "
                f"{change['pages']:,} {pages} "
                f"<span class='came'>{escape(came)}</span> <span class='went'>{escape(went)}</span>"
                f"<p class='soft'>{escape(change['reason'])}</p></li>"
            )
        return self._section(
            self.tr("Topic changes"), f"<ul>{''.join(items)}</ul>" if items else ""
        )

    def _section(self, title: str, body: str) -> str:
        none = self.tr("None.")
        body = body or f'<p class="soft">{none}</p>'
        return f"<section><h2>{title}</h2>{body}</section>"

    def tr(self, text: str) -> str:
        """Return a text in the language of the report."""
        return translate(text, self._to)


def _style() -> str:
    css = files("topiccrawl.addons.dashboard").joinpath("static", "report.css")
    return css.read_text("utf-8")


def _legend(curves: Iterable[Curve]) -> str:
    names = "".join(f'<span class="{curve.style}">{curve.name}</span>' for curve in curves)
    return f'<p class="legend">{names}</p>'


def _table(heads: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    if not body:
        return ""
    named = (f'<th scope="col">{head}</th>' if head else "<td></td>" for head in heads)
    return _wide(f"<table><tr>{''.join(named)}</tr>{body}</table>")


def _wide(body: str) -> str:
    """Wrap wide content in a box that scrolls on its own, also by keyboard."""
    return f'<div class="scroll" tabindex="0">{body}</div>'


def _link(url: str, text: str) -> str:
    """Return a link for an HTTP URL; return only the text for other URLs."""
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
    """Format a duration as hours, minutes and seconds.

    >>> _clock(61.2), _clock(7261)
    ('1:01', '2:01:01')
    """
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
