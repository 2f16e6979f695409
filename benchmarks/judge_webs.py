"""Labelled webs for ``benchmarks.judge``: pages, topics, and other statements of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import opencc

from topiccrawl.addons.simulate.collection import OK, RecordedWeb
from topiccrawl.addons.simulate.harvest import LabelledTopic, read_truth
from topiccrawl.text.normal import has_han
from topiccrawl.topics.topic import from_words, named_file, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from topiccrawl.model import Page
    from topiccrawl.topics import Topic

WEBS = ("wikispeedia", "lohelp_zh", "okc", "linuxcn")
SENTENCES = {
    ("wikispeedia", "chemistry"): "articles about chemistry, chemical elements and compounds, and "
    "how molecules react",
    ("wikispeedia", "railway"): "I want to read about railways, trains and locomotives",
    ("wikispeedia", "storms"): "news about tropical storms, hurricanes and cyclones and the damage "
    "they do",
    ("wikispeedia", "music"): "articles about music: composers, songs, bands, opera and jazz",
    ("wikispeedia", "computing"): "stories about computers, software, programming and the internet",
    ("wikispeedia", "religion"): "articles on religion, churches, the Bible, Islam and other "
    "faiths",
    ("wikispeedia", "africa-far"): "articles about African countries, the Sahara and the Nile",
    ("wikispeedia", "food-far"): "articles about food and agriculture, crops, fruit and vegetables",
    ("lohelp_zh", "calc"): "关于电子表格、单元格和函数公式的帮助",
    ("lohelp_zh", "basic"): "我想看关于Basic宏编程、变量和语句的文章",
    ("lohelp_zh", "writer"): "关于文本、段落样式和页面、脚注的内容",
    ("lohelp_zh", "impress"): "关于演示文稿、幻灯片动画和母版的文章",
    ("okc", "education"): "news about public schools, teachers and students in Oklahoma City",
    ("okc", "politics"): "news about elections, candidates, the city council and the state "
    "legislature in Oklahoma City",
    ("okc", "culture"): "stories about music, art, film and festivals in Oklahoma City",
    ("okc", "business"): "news about local businesses, startups, technology and jobs in Oklahoma",
    ("linuxcn", "ai"): "我想看关于人工智能、机器学习和大语言模型的新闻",
    ("linuxcn", "security"): "我想看关于网络安全、漏洞和黑客攻击的新闻",
    ("linuxcn", "desktop"): "关于GNOME、KDE等桌面环境的文章",
    ("linuxcn", "programming"): "关于编程语言Python和Rust以及代码的文章",
    ("linuxcn", "hardware"): "有关芯片、处理器和RISC-V的最新消息",
}
"""Topics as a user would state them, written before any of them was scored."""


class Web(NamedTuple):
    """A labelled collection.

    Attributes:
        name: Its name.
        pages: Its readable pages.
        marks: The labels of each.
        topics: Its topics.
    """

    name: str
    pages: tuple[Page, ...]
    marks: tuple[tuple[str, ...], ...]
    topics: tuple[LabelledTopic, ...]

    def relevant(self, topic: LabelledTopic) -> list[bool]:
        """The label of each page."""
        return [
            any(m == s or m.startswith(f"{s}.") for m in marks for s in topic.relevant)
            for marks in self.marks
        ]


def read_web(name: str, data: Path) -> Web:
    """Return a collection: ``NAME.web.jsonl.gz`` and ``NAME.topics.json`` of a folder.

    Raises:
        ConfigurationError: If a file is absent or cannot be read.
    """
    web = RecordedWeb.read(data / f"{name}.web.jsonl.gz")
    read = [(page, one.marks) for key, one in web.pages.items()
            if one.status == OK and (page := web.page(key)) is not None]  # fmt: skip
    topics = read_truth(data / f"{name}.topics.json")
    pages, marks = zip(*read, strict=True) if read else ((), ())
    return Web(name, pages, marks, tuple(topics.values()))


def statements(web: str, topic: LabelledTopic) -> Iterator[tuple[str, str]]:
    """Yield the ways in which a topic is stated as words on the command line: kind and text."""
    yield "word", next(iter(topic.terms))
    if sentence := SENTENCES.get((web, topic.name)):
        yield "sentence", sentence
        if has_han(sentence):
            yield "traditional", opencc.OpenCC("s2t").convert(sentence)
    yield "restated", _restated(list(topic.terms))


def stated_topic(web: str, labelled: LabelledTopic, kind: str) -> Topic | None:
    """Return a topic stated in another way (``statements``), with its own seeds and hosts.

    Args:
        web: Name of the collection.
        labelled: The topic.
        kind: Name of the statement; "file" for the topic's own terms, "section" for the built-in
            topic of its name.
    """
    topic, texts = labelled.topic, dict(statements(web, labelled))
    if kind == "file":
        return topic
    rules = {name: getattr(topic, name) for name in ("seeds", "allowed_hosts", "denied_hosts")}
    if kind == "section" and (file := named_file(topic.name)):
        return read(file).model_copy(update=rules)
    return from_words(texts[kind]).model_copy(update=rules) if kind in texts else None


def _restated(terms: Sequence[str]) -> str:
    """A sentence that lists terms.

    >>> _restated(["车", "电池", "充电"]), _restated(["cars", "trains"])
    ('我想看关于车、电池和充电的新闻', 'news about cars and trains')
    """
    chinese = any(map(has_han, terms))
    joined = ("、" if chinese else ", ").join(terms[:-1])
    both = ("和" if chinese else " and ").join(filter(None, (joined, terms[-1])))
    return f"我想看关于{both}的新闻" if chinese else f"news about {both}"
