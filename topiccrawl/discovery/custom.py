"""Custom search engine: URL pattern and CSS selectors from a TOML file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, field_validator
from selectolax.lexbor import LexborHTMLParser, SelectolaxError
from typing_extensions import override

from topiccrawl.discovery.contract import ALTERNATIVES, Results
from topiccrawl.discovery.engines import SearchEngine
from topiccrawl.discovery.pages import hits_of
from topiccrawl.errors import ConfigurationError, FieldError, translated
from topiccrawl.links.limits import parse_html
from topiccrawl.links.urls import canonical
from topiccrawl.messages import message
from topiccrawl.userfiles import FileKind, read_model

if TYPE_CHECKING:
    from pathlib import Path


_SELECTORS = ("results", "container", "next", "nothing", "blocked")


class Engine(BaseModel):
    """Content of the file; selectors are CSS selectors.

    Attributes:
        url: URL pattern with ``{query}``, and ``{page}`` or ``{start}`` for numbered pages.
        results: Selector of the anchors of results.
        container: Selector of an element of all result pages; it detects changed page formats.
        next: Selector of the link to the next page, if the pattern has no page number.
        nothing: Selector of an element of pages without results.
        blocked: Selector of an element of pages that reject crawlers.
        first: Number of the first page.
        step: Increment of ``{start}`` from page to page.
        encoding: Encoding of the query.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: Annotated[str, Field(min_length=1)]
    results: Annotated[str, Field(min_length=1)]
    container: str = ""
    next: str = ""
    nothing: str = ""
    blocked: str = ""
    first: Annotated[int, Field(ge=0)] = 1
    step: Annotated[int, Field(ge=1)] = 10
    encoding: str = "utf-8"

    @field_validator("url")
    @classmethod
    def _check_url(cls, url: str) -> str:
        if "{query}" not in url or canonical(url.split("{", maxsplit=1)[0]) is None:
            raise FieldError(
                "{url!r}: write https://host/search?q={{query}}&page={{page}}", url=url
            )
        return url

    @field_validator("encoding")
    @classmethod
    def _check_encoding(cls, encoding: str) -> str:
        text = message("{encoding!r} is not an encoding: write utf-8 or gb18030")
        with translated(FieldError, text, (LookupError,), encoding=encoding):
            "".encode(encoding)
        return encoding

    @field_validator(*_SELECTORS)
    @classmethod
    def _check_selector(cls, selector: str) -> str:
        text, causes = message("{selector!r} is not a CSS selector"), (SelectolaxError, ValueError)
        with translated(FieldError, text, causes, selector=selector):
            parse_html("<p>").css(selector or "p")
        return selector


class CustomEngine(SearchEngine):
    """Provider for a custom search engine.

    Args:
        engine: Description of the engine.
        name: Name for messages.
    """

    blocked_message = "the page rejects crawlers"
    slow_down = f"wait and crawl more slowly, or {ALTERNATIVES}"
    update = "check the page and update the selectors in the file"

    def __init__(self, engine: Engine, name: str = "generic") -> None:
        self.engine, self.name, self.blocked_selector = engine, name, engine.blocked

    @override
    def start(self, query: str) -> Results:
        """See ``SeedProvider.start``."""
        return Results((), (self._page(quote(query, safe="", encoding=self.engine.encoding), 0),))

    @override
    def _results(self, elements: LexborHTMLParser, here: str) -> Results | None:
        engine = self.engine
        if engine.nothing and elements.css_first(engine.nothing) is not None:
            return Results()
        hits = hits_of(elements.css(engine.results), here)
        known = elements.css_first(engine.container) is not None if engine.container else bool(hits)
        return Results(hits, self._next(elements, here) if hits else ()) if known else None

    def _next(self, elements: LexborHTMLParser, here: str) -> tuple[str, ...]:
        if self.engine.next:
            anchor = elements.css_first(self.engine.next)
            url = canonical(anchor.attributes.get("href") or "", here) if anchor else None
            return (url,) if url else ()
        query, number = self._parse_url(here)
        return (self._page(query, number + 1),) if number >= 0 else ()

    def _page(self, query: str, number: int) -> str:
        """Return the URL of a page, counted from 0; ``query`` is percent-encoded."""
        engine = self.engine
        page, start = engine.first + number, engine.first + number * engine.step
        url = engine.url.replace("{query}", query).replace("{page}", str(page))
        return url.replace("{start}", str(start))

    def _parse_url(self, url: str) -> tuple[str, int]:
        """Return query and page number of a URL of this engine; number -1 if unknown."""
        head, _, rest = self.engine.url.partition("{query}")
        if not ("{page}" in rest or "{start}" in rest):
            return "", -1
        query = url[len(head) :].partition(rest.partition("{")[0])[0]
        numbers = (number for number in range(1000) if self._page(query, number) == url)
        return query, next(numbers, -1)


def read_engine(path: Path) -> CustomEngine:
    """Return the engine described by a file.

    Raises:
        ConfigurationError: The file is invalid; the message has field and error.
    """
    kind = FileKind(
        ConfigurationError, message("engine file"), message("docs/discovery.md shows one"), Engine,
        numbers={
            "first": message("give a whole number, 0 or more"),
            "step": message("give a whole number, 1 or more"),
        },
    )  # fmt: skip
    return CustomEngine(read_model(path, kind), path.stem)
