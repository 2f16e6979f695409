"""HTML of the demo web's pages, rendered on request."""

from __future__ import annotations

import json
import random
import re
from datetime import datetime
from functools import cache
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from lab.demo.grammar import Writer, parse
from lab.demo.plan import Entry, Kind, Plan
from lab.demo.stories import CHINA, Edition, Editions
from lab.demo.vocabulary import Language, language, read_toml

if TYPE_CHECKING:
    from lab.demo.linkage import Block, Linkage
    from lab.demo.sites import Site

_MAIN = ("list", "channel", "related", "pager", "blogs", "comments", "extra")
_SIDE = ("hot", "friends", "adverts", "quiet")
_HEADED = frozenset({"related", "hot", "friends"})
_DATED = frozenset({"list", "blogs"})
_LONG_STORIES = 1_200
"""Number of stories on the very long page."""
_ANCHOR = 9
"""Length of a link in running text, in characters."""
_DEEP = 3000
"""Number of nested elements on the deep page."""


_LONG = 22
"""Characters of a headline that a narrow list shows; some lists cut it there."""
_NARROW = frozenset({"related", "hot", "channel"})


class Layout(NamedTuple):
    """Patterns of a layout, to be filled with ``%``: the whole page and its parts."""

    name: str
    page: str
    block: str
    item: str
    row: str
    article: str
    paragraph: str


@cache
def layouts() -> dict[str, Layout]:
    """Return all layouts by name."""
    return {
        name: Layout(name, **{part: _pattern(source) for part, source in parts.items()})
        for name, parts in read_toml("layouts.toml").items()
    }


def _pattern(source: str) -> str:
    """Return a ``$name`` template as a ``%`` pattern, which is filled five times faster."""
    return re.sub(r"\$(\w+)", r"%(\1)s", source.replace("%", "%%"))


class Renderer:
    """Renders pages as text; the web encodes them.

    Args:
        plan: Plan of the web.
        linkage: Link graph.
        editions: Texts of the articles.
    """

    def __init__(self, plan: Plan, linkage: Linkage, editions: Editions) -> None:
        self.plan = plan
        self.linkage = linkage
        self.editions = editions
        self.anchors = Anchors(plan, editions)

    def page(self, number: int) -> str:
        """Return the HTML of an entry."""
        entry = self.plan.entries[number]
        site = self.plan.sites[entry.site]
        blocks = self.linkage.blocks(number)
        edition = self.editions.edition(number) if entry.story >= 0 else None
        layout = layouts()[site.layout]
        say = self.editions.say
        heading = edition.title if edition else self._heading(number, entry)
        return layout.page % {
            "charset": charset_meta(site),
            "lang": "zh-CN" if site.language == "zh" else site.language,
            "title": escape(f"{heading} - {say(entry.site, site.name)}" if heading else site.name),
            "head": self._head(number, site, edition),
            "nav": self._links(number, blocks, "nav", layout),
            "crumbs": self._links(number, blocks, "crumbs", layout),
            "main": self._main(number, layout, edition, blocks),
            "side": "\n".join(self._block(number, b, layout) for b in blocks if b.role in _SIDE),
            "foot": self._links(number, blocks, "service", layout) + self._footer(entry),
        }

    # -- Head ------------------------------------------------------------------------------------

    def _head(self, number: int, site: Site, edition: Edition | None) -> str:
        entry, trait = self.plan.entries[number], self.plan.trait(number)
        lines = []
        if trait.robots:
            lines.append(f'<meta name="robots" content="{trait.robots}">')
        if trait.body == "base":
            lines.append(f'<base href="{entry.url}one/two/three.html">')
        if canonical := self.canonical(number):
            lines.append(f'<link rel="canonical" href="{escape(canonical)}">')
        if edition and site.layout in {"modern", "press", "portal"}:
            summary = escape(edition.paragraphs[0][:80])
            lines.append(f'<meta name="description" content="{summary}">')
        if edition and entry.kind == Kind.ARTICLE and site.layout in {"modern", "press"}:
            lines += _metadata(site.layout, edition)
        return "\n".join(lines)

    def canonical(self, number: int) -> str:
        """Return the canonical URL that a page declares, "" for none."""
        entry = self.plan.entries[number]
        if entry.kind == Kind.COPY:
            return self.plan.entries[entry.of].url
        named = entry.kind == Kind.ARTICLE and self.plan.sites[entry.site].layout == "modern"
        return entry.url if named else ""

    # -- Main part -------------------------------------------------------------------------------

    def _heading(self, number: int, entry: Entry) -> str:
        if entry.section >= 0:
            title = self.plan.sections[entry.section].title
            return self.editions.say(entry.site, title)
        if self.plan.fronts[entry.site] == number:
            return ""
        return self.anchors.label(number, number, "heading")

    def _main(
        self, number: int, layout: Layout, edition: Edition | None, blocks: tuple[Block, ...]
    ) -> str:
        parts = [self._story(number, layout, edition, blocks) if edition else self._text(number)]
        parts += [self._block(number, b, layout) for b in blocks if b.role in _MAIN]
        return "\n".join(parts)

    def _story(
        self, number: int, layout: Layout, edition: Edition, blocks: tuple[Block, ...]
    ) -> str:
        inline = next((b.targets[0] for b in blocks if b.role == "inline"), -1)
        lines = [escape(one, quote=False) for one in edition.paragraphs]
        if inline >= 0:
            at = min(1, len(lines) - 1)
            lines[at] = self._with_link(lines[at], number, inline)
        lines += [escape(note) for note in edition.notes]
        body = "\n".join(layout.paragraph % {"text": line} for line in lines)
        info = self._info(number, edition)
        return layout.article % {"title": escape(edition.title), "info": info, "body": body}

    def _with_link(self, line: str, source: int, target: int) -> str:
        """Link a few characters of a paragraph; its text does not change."""
        spaced = " " in line[:_ANCHOR]
        end = len(" ".join(line.split(" ")[:4])) if spaced else min(_ANCHOR, len(line))
        if "&" in line[:end]:
            end = line.index("&")
        return f'<a href="{self.anchors.href(source, target)}">{line[:end]}</a>{line[end:]}'

    def _info(self, number: int, edition: Edition) -> str:
        entry = self.plan.entries[number]
        lists = self.anchors.words(entry.site).lists
        pattern = lists["info"][entry.site % len(lists["info"])]
        dates = lists["dates"]
        when = datetime.fromtimestamp(edition.published, CHINA)
        line = self.editions.say(entry.site, pattern)
        return escape(
            line.format(
                date=f"{when:{dates[entry.site % len(dates)]}}",
                source=edition.source,
                author=edition.author,
            )
        )

    def _text(self, number: int) -> str:
        """Return the text of a page without a story."""
        entry, odd = self.plan.entries[number], self.plan.trait(number).body
        words = self.anchors.words(entry.site)
        rng = random.Random(number)  # noqa: S311
        if odd == "deep":
            return "<div>" * _DEEP + "·" + "</div>" * _DEEP
        if odd == "long":
            stories = range(min(_LONG_STORIES, len(self.plan.stories)))
            texts = (self.editions.book.text(story) for story in stories)
            return "".join(f"<p>{escape(p)}</p>\n" for text in texts for p in text.paragraphs)
        if entry.kind == Kind.COMMENT:
            templates = rng.sample(words.lists["comments"], 4)
        else:
            names = {Kind.LOGIN: "login_text", Kind.OTHER: "about_text"}
            name = "missing" if odd == "missing" else names.get(entry.kind)
            templates = [words.lines[name]] if name else []
        said = (self.editions.say(entry.site, _plain(words, one, rng)) for one in templates)
        return "".join(f"<p>{escape(line)}</p>" for line in said)

    # -- Blocks ----------------------------------------------------------------------------------

    def _links(self, number: int, blocks: tuple[Block, ...], role: str, layout: Layout) -> str:
        chosen = [target for block in blocks if block.role == role for target in block.targets]
        return "".join(self._item(number, target, role, layout) for target in chosen)

    def _block(self, number: int, block: Block, layout: Layout) -> str:
        items = "\n".join(
            self._item(number, target, block.role, layout) for target in block.targets
        )
        heading = self._block_heading(number, block)
        return layout.block % {"role": block.role, "heading": escape(heading), "items": items}

    def _block_heading(self, number: int, block: Block) -> str:
        entry = self.plan.entries[number]
        words = self.anchors.words(entry.site)
        if block.role == "channel":
            text = self.plan.sections[block.section].title
        elif block.role in _HEADED:
            text = words.lists[block.role][number % len(words.lists[block.role])]
        else:
            text = words.lines["advert_heading"] if block.role == "adverts" else ""
        return self.editions.say(entry.site, text)

    def _item(self, number: int, target: int, role: str, layout: Layout) -> str:
        entry = self.plan.entries[target]
        values = {
            "url": self.anchors.href(number, target),
            "text": escape(self.anchors.label(number, target, role)),
            "rel": ' rel="nofollow"' if role == "quiet" else "",
        }
        if role in _DATED and entry.story >= 0:
            when = datetime.fromtimestamp(self.plan.stories[entry.story].published, CHINA)
            return layout.row % {**values, "date": f"{when:%m-%d %H:%M}"}
        return layout.item % values

    def _footer(self, entry: Entry) -> str:
        site = self.plan.sites[entry.site]
        words = self.anchors.words(entry.site)
        line = words.lines["footer"].replace("{site}", site.name)
        said = self.editions.say(entry.site, _plain(words, line, random.Random(entry.site)))  # noqa: S311
        return f"<p>{escape(said)}</p>"


def charset_meta(site: Site) -> str:
    """Return the meta element of a site's charset, "" if it declares none."""
    name = site.charset.meta
    if not name:
        return ""
    if site.layout in {"modern", "press"}:
        return f'<meta charset="{name}">'
    return f'<meta http-equiv="Content-Type" content="text/html; charset={name}" />'


def _metadata(layout: str, edition: Edition) -> list[str]:
    when = datetime.fromtimestamp(edition.published, CHINA).isoformat()
    title = escape(edition.title)
    if layout == "press":
        return [
            f'<meta property="og:title" content="{title}">',
            '<meta property="og:type" content="article">',
            f'<meta property="article:published_time" content="{when}">',
            f'<meta name="author" content="{escape(edition.author)}">',
        ]
    data = {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": edition.title,
        "datePublished": when,
        "author": {"@type": "Person", "name": edition.author},
        "publisher": {"@type": "Organization", "name": edition.source},
    }
    text = json.dumps(data, ensure_ascii=False).replace("</", "<\\/")
    return [f'<script type="application/ld+json">{text}</script>']


def _plain(words: Language, template: str, rng: random.Random) -> str:
    """Fill a line of service text."""
    return Writer(words.words, {"site": ""}, rng, rng, rng).write(template)


class Anchors:
    """Labels and URLs of links between entries."""

    def __init__(self, plan: Plan, editions: Editions) -> None:
        self.plan = plan
        self.editions = editions

    def label(self, source: int, target: int, role: str) -> str:
        """Return the visible text of a link, in the source's script, not escaped."""
        entry = self.plan.entries[target]
        here = self.plan.entries[source].site
        return self.editions.say(here, self._text(source, target, entry, role))

    def _text(self, source: int, target: int, entry: Entry, role: str) -> str:
        words = self.words(entry.site)
        if entry.kind == Kind.HUB:
            return self._hub(source, target, role, words)
        if entry.kind == Kind.COPY:
            return words.lines["copy"]
        if entry.story >= 0:
            title = self.editions.title(target)
            cut = role in _NARROW and len(title) > _LONG and (source + target) % 4 == 0
            return title[: _LONG - 2] + "…" if cut else title
        return self._service(source, entry, words)

    def _hub(self, source: int, target: int, role: str, words: Language) -> str:
        entry, here = self.plan.entries[target], self.plan.entries[source]
        if entry.section < 0:
            if self.plan.fronts[entry.site] != target:
                return words.lines["archive_name"]
            return (
                words.lines["home"] if here.site == entry.site else self.plan.sites[entry.site].name
            )
        if role == "pager":
            turn = "next_page" if entry.page > here.page else "previous_page"
            options = words.lists[turn]
            return options[entry.site % len(options)]
        return self.plan.sections[entry.section].title

    def _service(self, source: int, entry: Entry, words: Language) -> str:
        if entry.kind == Kind.COMMENT:
            rng = random.Random(source)  # noqa: S311
            template = words.lists["comment_link"][source % len(words.lists["comment_link"])]
            pieces = (
                p if isinstance(p, str) else str(rng.randint(3, 900)) for p in parse(template)
            )
            return "".join(pieces)
        if entry.kind == Kind.OTHER and entry.url.endswith("/about.html"):
            return words.lines["about"]
        line = "login" if entry.kind == Kind.LOGIN else f"label_{entry.kind}"
        return words.lines[line]

    def words(self, site: int) -> Language:
        """Return the shared words of a site's language."""
        return language("en" if self.plan.sites[site].language == "en" else "zh")

    def href(self, source: int, target: int) -> str:
        """Return the escaped URL as in the page; relative on its own host."""
        host, path = _split(self.plan.entries[source].url)
        url = self.plan.entries[target].url
        there, to = _split(url)
        if host != there:
            return escape(url)
        if self.plan.trait(source).body == "base":
            return escape("../" * 4 + to)
        folder = path[: path.rfind("/") + 1]
        if (source + target) % 3 == 0 and to.startswith(folder) and to != folder:
            return escape("./" + to.removeprefix(folder))
        return escape("/" + to)


def _split(url: str) -> tuple[str, str]:
    """Return host and path without the first slash, including the query."""
    host, _, path = url.removeprefix("http://").partition("/")
    return host, path
