"""Libraries that extract bodies, for comparison; each is used as its authors document.

They are installed for the benchmark only; missing ones are skipped and reported.
"""

from __future__ import annotations

import importlib
import logging
import re
from typing import TYPE_CHECKING

from topiccrawl.extract.body import find_readable

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    Body = Callable[[str], str]
    """Function that extracts the body of a page in HTML, "" for none."""

_HAN = re.compile(r"[\u4e00-\u9fff]")
_SHORT, _LONG, _LINKED = 20, 60, 0.3
"""jusText for Chinese, which has no stop words: lengths in characters."""


def libraries() -> tuple[dict[str, Body], list[str]]:
    """Return the extractors of installed libraries by name, and the names of other libraries."""
    logging.getLogger("goose3").setLevel(logging.CRITICAL)
    found: dict[str, Body] = {"readability-lxml": _readability}
    absent: list[str] = []
    for name, module, build in _OPTIONAL:
        try:
            found[name] = build(importlib.import_module(module))
        except ImportError:
            absent.append(name)
    return found, absent


def is_chinese(html: str) -> bool:
    """Return whether a page is written in Chinese: more than 1 % are Chinese characters."""
    return len(_HAN.findall(html)) > len(html) // 100


def _readability(html: str) -> str:
    return find_readable(html).text


def _trafilatura(trafilatura: ModuleType) -> Body:
    return lambda html: trafilatura.extract(html, include_comments=False) or ""


def _justext(justext: ModuleType) -> Body:
    english = justext.get_stoplist("English")

    def body(html: str) -> str:
        if is_chinese(html):
            blocks = justext.justext(html, frozenset(), _SHORT, _LONG, 0, 0, _LINKED)
        else:
            blocks = justext.justext(html, english)
        return "\n".join(block.text for block in blocks if not block.is_boilerplate)

    return body


def _newspaper(newspaper: ModuleType) -> Body:
    def body(html: str) -> str:
        language = "zh" if is_chinese(html) else "en"
        article = newspaper.Article("http://example.test/", language=language, fetch_images=False)
        article.download(input_html=html)
        article.parse()
        return str(article.text)

    return body


def _goose(goose3: ModuleType) -> Body:
    chinese = importlib.import_module("goose3.text").StopWordsChinese
    plain = {"enable_image_fetching": False}
    english_one = goose3.Goose(plain)
    chinese_one = goose3.Goose({**plain, "stopwords_class": chinese})

    def body(html: str) -> str:
        one = chinese_one if is_chinese(html) else english_one
        return str(one.extract(raw_html=html).cleaned_text)

    return body


def _resiliparse(module: ModuleType) -> Body:
    def body(html: str) -> str:
        return str(module.extract_plain_text(html, main_content=True, alt_texts=False))

    return body


_OPTIONAL = (
    ("trafilatura", "trafilatura", _trafilatura),
    ("newspaper4k", "newspaper", _newspaper),
    ("jusText", "justext", _justext),
    ("goose3", "goose3", _goose),
    ("resiliparse", "resiliparse.extract.html2text", _resiliparse),
)
