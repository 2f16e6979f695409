"""Report of a crawl: one self-contained HTML page, from the records of runs and the stores."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from heapq import nlargest
from math import floor, log10
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from topiccrawl import messages
from topiccrawl.addons.dashboard.merge import thinned
from topiccrawl.addons.dashboard.stored import RunsSource
from topiccrawl.errors import SettingError, StateError, StorageError, translated
from topiccrawl.frontier.entries import HostEntry, UrlEntry
from topiccrawl.messages import LANGUAGES, message, translate
from topiccrawl.scheduler.frontiers import read_frontier
from topiccrawl.scheduler.review import explain_review
from topiccrawl.storage.factory import closed_after
from topiccrawl.storage.formats import template
from topiccrawl.text.normal import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from scrapy.settings import BaseSettings

    from topiccrawl.storage.contract import Listed
    from topiccrawl.storage.runs import State

CANDIDATES = 2_000
"""Number of newest articles from which the shown ones are selected."""
ARTICLES = 100
"""Number of articles shown, those with the best scores."""
SITES = 40
"""Number of hosts shown, those with the most pages."""

WIDTH, HEIGHT = 720, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 12, 12, 30
MAX_POINTS = 400
"""Maximum number of points of a drawn curve."""


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
    async with closed_after(RunsSource(settings, topic)) as source:
        records = await source.records()
        if not records:
            of = messages.tr(" for topic {name!r}", name=topic) if topic else ""
            raise StateError(
                "no crawl{of} has a record in {topiccrawl_data_dir} or its "
                "Redis: name another folder with -s TOPICCRAWL_DATA_DIR=FOLDER",
                of=of,
                topiccrawl_data_dir=settings["TOPICCRAWL_DATA_DIR"],
            )
        content = await content_of(source, records[0].state["run"]["frontier"], settings)
    await asyncio.to_thread(_write, path, clean(report_page(content, language)))


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
            "TOPICCRAWL_REPORT_LANGUAGE is {language!r}: set it to en or zh", language=language
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


def report_page(content: Content, language: str = "en") -> str:
    """Return a report as an HTML page; ``templates/report.html`` is its template.

    Args:
        content: Content of the report.
        language: One of ``LANGUAGES``.
    """

    def tr(text: str) -> str:
        return translate(text, language)

    points = thinned([one for one in content.state["series"]["points"] if one[1]], MAX_POINTS)
    return template("topiccrawl.addons.dashboard", "templates/report.html").render(
        content._asdict(),
        language={"en": "en", "zh": "zh-CN"}[language],
        errors=sorted(content.state["errors"].items(), key=lambda one: -one[1]),
        rates=[
            Curve(tr("last 100 pages"), "recent", [(at, last) for at, _, _, last, *_ in points]),
            Curve(tr("running mean"), "mean", [(at, found / n) for at, n, found, *_ in points]),
        ],
        gains=[
            Curve(tr("On topic"), "recent", [(n, found) for _, n, found, *_ in points]),
            Curve(tr("New articles"), "mean", [(n, new) for _, n, _, _, new, *_ in points]),
        ],
        tr=tr, chart=chart, clock=_clock, moment=_moment, is_web=_is_web,
        explain_review=explain_review,
    )  # fmt: skip


def _is_web(url: str) -> bool:
    try:
        return urlsplit(url).scheme in {"http", "https"}
    except ValueError:
        return False


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


class Curve(NamedTuple):
    """A line through points (x, y); ``style`` is a class of the page's style sheet."""

    name: str
    style: str
    points: Sequence[tuple[float, float]]


def chart(
    label: str,
    curves: Sequence[Curve],
    *,
    top: float = 0.0,
    x_text: Callable[[float], str],
    y_text: Callable[[float], str],
) -> str:
    """Draw curves over a common x axis as an SVG element.

    Args:
        label: Text alternative for screen readers.
        curves: Curves; the area below the first one is filled.
        top: End of the y axis; 0 derives it from the largest value.
        x_text: Formats labels of the x axis.
        y_text: Formats labels of the y axis.
    """
    points = [point for curve in curves for point in curve.points]
    right = max((x for x, _ in points), default=0.0) or 1.0
    top = top or axis_end(max((y for _, y in points), default=0.0))
    return template("topiccrawl.addons.dashboard", "templates/curves.svg").render(
        label=label, lines=[(one.style, one.points) for one in curves],
        width=WIDTH, height=HEIGHT, right=right, top=top, x_text=x_text, y_text=y_text,
        x=lambda value: _LEFT + value / right * (WIDTH - _LEFT - _RIGHT),
        y=lambda value: HEIGHT - _BOTTOM - value / top * (HEIGHT - _TOP - _BOTTOM),
    )  # fmt: skip


def axis_end(value: float) -> float:
    """Return the end of an axis with four equal steps of round numbers, not below a value.

    >>> axis_end(186.0), axis_end(3.0), axis_end(0.0)
    (200.0, 4.0, 4.0)
    """
    step = 10.0 ** floor(log10(max(value, 4.0) / 4.0))
    return next(4.0 * step * n for n in (1.0, 2.0, 2.5, 5.0, 10.0) if 4.0 * step * n >= value)
