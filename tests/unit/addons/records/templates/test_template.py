"""Tests of template files: reading, defaults and error messages."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.addons.records.templates.template import (
    PACKAGE,
    CrawlWord,
    Limits,
    Search,
    Template,
    read,
    resolve,
)
from topiccrawl.errors import TemplateError

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """
name = "书店-杭州"
seeds = ["HTTP://Shu.Example.com:80/a#top"]
providers = ["baidu", { name = "searxng", url = "http://localhost:8080/" }]

[search]
name = ["书店", "书局"]
extension = ["杭州"]

[[filter]]
"分店" = []
[[filter]]
"联系我们" = ["联系", "contact"]

[crawl]
"店名" = "name"
"地址" = { kind = "address", synonyms = ["address"] }
"电话" = { kind = "telephone", many = false }

[limits]
seeds = 10
"""
CRAWL = '[crawl]\n"电话" = "telephone"\n'
SEED = 'seeds = ["http://a.test/"]\n'


def template_file(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def message(folder: Path, text: str) -> list[str]:
    path = template_file(folder, text)
    with pytest.raises(TemplateError) as caught:
        resolve(str(path))
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{path}: ") for line in lines)
    return [line.removeprefix(f"{path}: ") for line in lines]


def test_template_file_is_read(tmp_path: Path) -> None:
    template = resolve(str(template_file(tmp_path, GOOD)))
    assert template.search.queries == ("杭州 书店", "杭州 书局")
    assert template.seeds == ("http://shu.example.com/a",)
    assert template.filter == ({"分店": ()}, {"联系我们": ("联系", "contact")})
    assert template.crawl["地址"].synonyms == ("address",)
    assert (template.crawl["电话"].several, template.crawl["电话"].kind) == (False, "telephone")
    assert template.limits == Limits(seeds=10)
    assert template.naming == "店名"
    assert template.providers == ("baidu", {"name": "searxng", "url": "http://localhost:8080/"})


def test_shipped_templates_are_valid_and_found_by_both_names() -> None:
    files = [one.name for one in resources.files(PACKAGE).iterdir()]
    names = {file.removesuffix(".toml") for file in files if file.endswith(".toml")}
    assert {"software-companies-sichuan", "bicycle-workshops-cornwall"} <= names
    for name in names:
        template = resolve(name)
        assert template == resolve(template.name)
        assert template.naming is not None
    source = resolve("软件公司-四川")
    assert source.search == Search(name=("软件公司",), extension=("四川",))
    assert set(source.crawl) == {"名称", "地址", "联系方式", "邮箱", "网址", "传真", "邮编", "QQ"}


def test_folder_of_the_user_precedes_the_package(tmp_path: Path) -> None:
    template_file(tmp_path, GOOD, "software-companies-sichuan.toml")
    assert resolve("software-companies-sichuan", tmp_path).name == "书店-杭州"
    assert resolve("书店-杭州", tmp_path).naming == "店名"


def test_unknown_name_is_reported_with_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("name =")
    with pytest.raises(TemplateError, match=r"'x'.*one of broken, .*software-companies-sichuan"):
        resolve("x", tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SEED, "field crawl is missing: add it"),
        (SEED + "[crawl]", "field crawl is {}: write a table"),
        (CRAWL, "no search words and no seeds: set search.name or seeds"),
        (SEED + "sedes = 1\n" + CRAWL, "unknown field sedes: did you mean seeds?"),
        (SEED + '[crawl]\n"a" = "phone"', "field crawl.a.kind is 'phone': use one of name, text"),
        (SEED + '[crawl]\n"a" = 3', "field crawl.a is 3: write a separate table"),
        (
            SEED + '[crawl]\n"a" = {kind = "qq", synonym = ["b"]}',
            "unknown field crawl.a.synonym: did you mean synonyms?",
        ),
        (
            SEED + '[crawl]\n"电话" = "telephone"\n"传真" = {synonyms = ["電 話"]}',
            "field crawl: '電 話' is a word of '电话' and of '传真': keep one of them",
        ),
        (
            SEED + '[crawl]\n"a" = "name"\n"b" = "name"',
            "field crawl: 'a' and 'b' are both of kind name: make one of them text",
        ),
        (SEED + '[crawl]\n"：" = "name"', "field crawl: '：' of '：' has no letter or digit"),
        (SEED + 'region = "china"\n' + CRAWL, "field region is 'china': use a two-letter country"),
        ('seeds = ["x"]\n' + CRAWL, "field seeds: 'x' is no http or https URL"),
        (SEED + 'denied_hosts = ["a/"]\n' + CRAWL, "field denied_hosts: 'a/' is no host"),
        (SEED + "[[filter]]\n" + CRAWL, 'field filter: layer 1 has no keyword: write "联系我们"'),
        (SEED + '[[filter]]\n"--" = []\n' + CRAWL, "field filter: '--' has no letter"),
        (SEED + '[[filter]]\n"a" = "b"\n' + CRAWL, "field filter.0.a is 'b': write a list"),
        (
            SEED + "[limits]\nresult_pages = 100\n" + CRAWL,
            "field limits.result_pages is 100: use a whole number",
        ),
        (SEED + "[search]\nname = 软件\n", "invalid TOML: "),
        (
            SEED + "[crawl]\n电话 = 1\n",
            "invalid TOML: Invalid statement (at line 3, column 1); ",
        ),
    ],
)
def test_invalid_file_is_reported_with_field_value_and_remedy(
    tmp_path: Path, text: str, expected: str
) -> None:
    lines = message(tmp_path, text)
    assert len(lines) == 1
    assert lines[0].startswith(expected)


def test_all_errors_are_reported_at_once(tmp_path: Path) -> None:
    assert len(message(tmp_path, 'seeds = ["x"]\nregion = "c"\nnam = 1\n[crawl]\na = "b"')) == 4


def test_ten_thousand_seeds_keep_their_order_without_duplicates(tmp_path: Path) -> None:
    urls = [f"http://host{number}.test/" for number in range(10_000)]
    text = f"seeds = {[*urls, *urls[:9]]}\n{CRAWL}"
    assert list(read(template_file(tmp_path, text)).seeds) == urls


words = st.lists(st.text("软件公司四川ab", min_size=1, max_size=3), max_size=4)


@given(words, words)
def test_every_name_is_combined_with_every_extension(names: list[str], places: list[str]) -> None:
    queries = Search(name=tuple(names), extension=tuple(places)).queries
    expected = {f"{place} {name}".strip() for place in places or [""] for name in names}
    assert (set(queries), len(queries)) == (expected, len(expected))


@given(st.text(max_size=20), st.text(max_size=20))
def test_keyword_is_found_within_the_anchor(before: str, after: str) -> None:
    template = Template(name="t", seeds=("http://a.test/",), crawl={"QQ": CrawlWord(kind="qq")},
                        filter=({"联系我们": ("联系",)},))  # fmt: skip
    assert template.layer_word(0, f"{before}，联 系，{after}") == "联系我们"
    assert template.layer_word(1, "联系") is None


def test_limits_do_not_change_the_version() -> None:
    one = resolve("软件公司-四川")
    other = one.model_copy(update={"limits": Limits(seeds=1)})
    assert (one.digest != other.digest, one.version == other.version) == (True, True)
