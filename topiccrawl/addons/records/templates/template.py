"""Template files: queries to search for, links to follow, values to extract [S1; methods 7].

A file has three levels of keywords, each with synonyms. *Search keywords* are sent to a search
engine. *Filter keywords*, in layers, select links by their anchors. *Crawl keywords* are the labels
of the values of a record. ``[S1]`` writes ``联系我们(联系)``; here that is
``"联系我们" = ["联系"]``.
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from topiccrawl.errors import FieldError, TemplateError
from topiccrawl.messages import NameList, message
from topiccrawl.text.normal import fold
from topiccrawl.topics.fields import Hosts, NamedPart, Part, Seeds
from topiccrawl.userfiles import FileKind, list_files, read_model, read_name

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

PACKAGE = "topiccrawl.addons.records.templates"
FOLDER = Path("templates")
"""Folder of the user's template files, searched by name."""
MOST_RESULT_PAGES = 76
"""Number of result pages that Baidu shows [S1]."""

ValueKind = Literal[
    "name", "text", "telephone", "mail", "url", "postcode", "qq", "number", "date", "address"
]
"""Kind of a value; ``name`` is the name of the record's entity."""

MANY = frozenset({"telephone", "mail", "qq"})
"""Kinds of which a record may have several values by default."""

Word = Annotated[str, Field(min_length=1, max_length=100)]
Count = Annotated[int, Field(ge=0)]
_SPACED = re.compile(r"(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])")


class Search(Part):
    """Queries for a search engine: each name combined with each extension.

    Attributes:
        name: Words to search for.
        extension: Words that narrow the search, such as a place; if empty, only the names are used.
    """

    name: tuple[Word, ...] = ()
    extension: tuple[Word, ...] = ()

    @property
    def queries(self) -> tuple[str, ...]:
        """Queries of the form "extension name" [S1], without duplicates, in order.

        >>> Search(name=("软件公司",), extension=("四川", "重庆")).queries
        ('四川 软件公司', '重庆 软件公司')
        """
        before = [f"{one} " for one in self.extension] or [""]
        return tuple(dict.fromkeys(one + name for one in before for name in self.name))


class CrawlWord(Part):
    """One field of a record.

    Attributes:
        kind: Kind of its values.
        synonyms: Other labels of the field.
        many: Whether a record may have several values; None: the default of the kind (``MANY``).
        required: Whether records without a value are discarded.
    """

    kind: ValueKind = "text"
    synonyms: tuple[Word, ...] = ()
    many: bool | None = None
    required: bool = False

    @property
    def several(self) -> bool:
        """Return whether a record may have several values of the field."""
        return self.kind in MANY if self.many is None else self.many


class Limits(Part):
    """Limits of a template's crawl; 0 means no limit.

    Attributes:
        seeds: Maximum number of search results to crawl, over all queries.
        result_pages: Result pages requested per query and provider, 1 to 76.
        pages_per_seed: Maximum number of pages per seed.
        next_pages: Maximum number of "next page" links followed, per layer and seed.
        records: Number of records after which the crawl ends.
    """

    seeds: Count = 760
    result_pages: Annotated[int, Field(ge=1, le=MOST_RESULT_PAGES)] = 10
    pages_per_seed: Count = 30
    next_pages: Count = 20
    records: Count = 0


class Template(NamedPart):
    """Content of a template file; validated and immutable.

    Attributes:
        name: Name of the template in the store and in reports.
        region: Two-letter country code for telephone numbers and postcodes.
        search: Queries for the search engine.
        filter: Layers of filter keywords, each keyword with its synonyms. Without layers, values
            are extracted from the seeds' own pages.
        crawl: Fields of a record by their keyword.
        limits: Limits of the crawl.
        seeds: Canonical URLs that are crawled before the search results.
        providers: Seed providers: names, or tables with the provider's options. They are validated
            by ``topiccrawl.discovery``.
        allowed_hosts: Hosts or domains that may be crawled; empty: all.
        denied_hosts: Hosts or domains that must not be crawled.
    """

    region: Annotated[str, Field(pattern="^[A-Z]{2}$")] = "CN"
    search: Search = Search()
    filter: tuple[dict[Word, tuple[Word, ...]], ...] = ()
    crawl: Annotated[dict[Word, CrawlWord], Field(min_length=1)]
    limits: Limits = Limits()
    seeds: Seeds = ()
    providers: tuple[str | dict[str, Any], ...] = ()
    allowed_hosts: Hosts = ()
    denied_hosts: Hosts = ()

    @field_validator("crawl", mode="before")
    @classmethod
    def _expand_kind(cls, value: Any) -> Any:  # noqa: ANN401  (values of a file have any type)
        if not isinstance(value, dict):
            return value
        return {
            word: {"kind": what} if isinstance(what, str) else what for word, what in value.items()
        }

    @field_validator("filter")
    @classmethod
    def _check_layers(
        cls, layers: tuple[dict[str, tuple[str, ...]], ...]
    ) -> tuple[dict[str, tuple[str, ...]], ...]:
        for number, layer in enumerate(layers):
            if not layer:
                raise FieldError(
                    'layer {number} has no keyword: write "联系我们" = ["联系"], or remove it',
                    number=number + 1,
                )
            for word in (one for key, synonyms in layer.items() for one in (key, *synonyms)):
                if not _bare(word):
                    raise FieldError("{word!r} has no letter or digit: remove it", word=word)
        return layers

    @field_validator("crawl")
    @classmethod
    def _check_words(cls, crawl: dict[str, CrawlWord]) -> dict[str, CrawlWord]:
        owner: dict[str, str] = {}
        for field, how in crawl.items():
            for word in (field, *how.synonyms):
                bare = _bare(word)
                if not bare:
                    raise FieldError(
                        "{word!r} of {field!r} has no letter or digit: remove it",
                        word=word,
                        field=field,
                    )
                if owner.setdefault(bare, field) != field:
                    raise FieldError(
                        "{word!r} is a word of {owner!r} and of {field!r}: keep one of them",
                        word=word,
                        owner=owner[bare],
                        field=field,
                    )
        names = [field for field, how in crawl.items() if how.kind == "name"]
        if len(names) > 1:
            raise FieldError(
                "{first!r} and {second!r} are both of kind name: make one of them text",
                first=names[0],
                second=names[1],
            )
        return crawl

    @model_validator(mode="after")
    def _check_start(self) -> Template:
        if not self.search.name and not self.seeds:
            raise FieldError("no search words and no seeds: set search.name or seeds")
        return self

    def layer_word(self, layer: int, anchor: str) -> str | None:
        """Return the keyword of a filter layer that an anchor matches, or None [S1].

        An anchor matches a keyword if it contains the keyword or one of its synonyms. Character
        width, case, script and spaces between Chinese characters are ignored.

        >>> t = Template(name="t", seeds=["http://a.test/"], crawl={"QQ": "qq"},
        ...              filter=[{"联系我们": ["联系", "contact"]}])
        >>> t.layer_word(0, "联　系 方式"), t.layer_word(0, "Contact us"), t.layer_word(0, "首页")
        ('联系我们', '联系我们', None)
        """
        if not 0 <= layer < len(self.filter):
            return None
        text = _bare(anchor)
        for word, synonyms in self.filter[layer].items():
            if any(_bare(one) in text for one in (word, *synonyms)):
                return word
        return None

    @property
    def naming(self) -> str | None:
        """Field with the name of the record's entity, or None."""
        return next((field for field, how in self.crawl.items() if how.kind == "name"), None)

    @property
    def version(self) -> int:
        """Hash of the region and the crawl keywords, below 2**24."""
        return self.version_of({"region", "crawl"})


def _bare(word: str) -> str:
    """Normalise a word for comparisons with anchors and labels."""
    return _SPACED.sub("", fold(word)).strip(" :：.·-_|")


def resolve(argument: str, folder: Path = FOLDER) -> Template:
    """Return the template for a path or a name.

    A name is the stem of a file in ``folder`` or in the package, or the ``name`` in such a file.

    Raises:
        TemplateError: If there is no such template, or it is invalid.

    >>> resolve("软件公司-四川").search.queries
    ('四川 软件公司',)
    """
    text = argument.strip()
    if text.endswith(".toml"):
        return read(Path(text))
    shipped = (one for one in resources.files(PACKAGE).iterdir() if one.name.endswith(".toml"))
    named = [(name, read_name(where, _KIND), where) for name, where in list_files(folder, shipped)]
    for name, own, where in named:
        if text in {name, own}:
            return read(where)
    known = NameList(f"{name} ({own})" if own else name for name, own, _ in named)
    raise TemplateError(
        "template {text!r}: no such template; pass a path ending in .toml, or one of {known}",
        text=text,
        known=known,
    )


def read(path: Path | Traversable) -> Template:
    """Read a template file.

    Raises:
        TemplateError: Lists all errors in the file, each with field, value and remedy.
    """
    return read_model(path, _KIND, name=path.name.removesuffix(".toml"))


_KIND = FileKind(
    error=TemplateError,
    called=message("template file"),
    listing=message("write one, or pass the name of a template included in topiccrawl"),
    model=Template,
    parts={"search": Search, "limits": Limits, "crawl": CrawlWord},
    numbers={"limits": message("use a whole number, 0 or more (result_pages: 1 to 76)")},
    remedies={
        "string_pattern_mismatch": message("use a two-letter country code: CN, GB"),
        "literal_error": message(
            "use one of name, text, telephone, mail, url, postcode, qq, number, date, address"
        ),
        "dict_type": message('write a table, one line each: "word" = ...'),
        "too_short": message('write a table, one line each: "word" = { kind = "text" }'),
        "model_type": message("write a separate table: [search] or [limits]"),
    },
)
