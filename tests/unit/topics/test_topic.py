"""Tests of topic files, topics from sentences, and topic digests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from topiccrawl.errors import TopicError
from topiccrawl.text.normal import has_han
from topiccrawl.topics.fields import MAX_NAME_LENGTH, Budget, Thresholds
from topiccrawl.topics.scorer import Scorer
from topiccrawl.topics.topic import (
    MOST_TERMS,
    Topic,
    available,
    default_seeds,
    from_words,
    read,
    resolve,
)

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """
name = "足球"
languages = ["zh"]
seeds = ["HTTP://Sport.Example.com:80/a#top", "http://sport.example.com/a"]
allowed_hosts = ["Example.com"]

[terms]
"足球" = 1.0
"premier league" = 0.5

[synonyms]
"足球" = ["绿茵场"]

[negative]
"篮球" = 0.4

[limits]
pages = 300
depth = 0

[thresholds]
lower_limit = 0.04
upper_limit = 0.2
"""


def topic_file(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def message(folder: Path, text: str) -> list[str]:
    path = topic_file(folder, text)
    with pytest.raises(TopicError) as caught:
        resolve(str(path))
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{path}: ") for line in lines)
    return [line.removeprefix(f"{path}: ") for line in lines]


def test_topic_file_is_read(tmp_path: Path) -> None:
    topic = resolve(str(topic_file(tmp_path, GOOD)))
    assert topic.terms == {"足球": 1.0, "premier league": 0.5}
    assert topic.synonyms == {"足球": ("绿茵场",)}
    assert topic.negative == {"篮球": 0.4}
    assert topic.seeds == ("http://sport.example.com/a",)
    assert topic.allowed_hosts == ("example.com",)
    assert topic.limits.settings() == {"CLOSESPIDER_PAGECOUNT": 300, "DEPTH_LIMIT": 0}
    assert topic.thresholds == Thresholds(lower_limit=0.04, upper_limit=0.2)


def test_listed_terms_have_weight_one_and_the_name_is_the_files(tmp_path: Path) -> None:
    topic = read(topic_file(tmp_path, 'terms = ["足球", "中超"]'))
    assert (topic.name, topic.terms) == ("mine", {"足球": 1.0, "中超": 1.0})


def test_user_folder_precedes_the_package(tmp_path: Path) -> None:
    topic_file(tmp_path, 'name = "own"\nterms = ["a1"]', "football.toml")
    assert resolve("football", tmp_path).name == "own"
    assert resolve("football", tmp_path / "none").name == "足球"
    assert resolve("足球", tmp_path / "none") == resolve("football", tmp_path / "none")
    assert resolve("新能源汽車", tmp_path).name == "新能源汽车"
    assert resolve("ｆｏｏｔｂａｌｌ", tmp_path).name == "own"


@pytest.mark.parametrize("name", ["cars.yaml", "cars.yml", "topics/cars.json", "CARS.TOML"])
def test_file_of_another_format_is_not_read_as_a_sentence(name: str) -> None:
    with pytest.raises(TopicError, match=r"its name ends in \.toml"):
        resolve(name)


def test_path_without_suffix_is_not_read_as_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('terms = ["a"]')
    with pytest.raises(TopicError, match=r"write .*/mine\.toml"):
        resolve(str(tmp_path / "mine"))
    assert resolve(f"电池/{'汽车' * 200}").terms


def test_shipped_topics_are_valid_and_listed() -> None:
    names = {name: place for name, _, place in available()}
    assert "新能源汽车" in {own for _, own, _ in available()}
    assert {"football", "new-energy-vehicles", "electric-vehicles"} <= names.keys()
    assert "portals" not in names
    topics = [resolve(name) for name in names]
    assert len({topic.slug for topic in topics}) == len(names)
    assert any("zh" in topic.languages for topic in topics)
    assert any("en" in topic.languages for topic in topics)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("体育", "主教练说，球队在联赛里还有机会，球员都已归队。"),
        ("教育", "今年的招生计划公布后，考生和家长到高校咨询。"),
        ("房产", "开发商降价之后，楼盘的购房者多了起来。"),
        ("politics", "The governor vetoed the legislation, and the senate will vote again."),
        ("sports", "The coach said that his players had a good season."),
    ],
)
def test_sections_of_newspapers_are_known_by_more_than_their_names(name: str, text: str) -> None:
    assert Scorer(resolve(name)).score_text(text).relevant
    assert Scorer(resolve(name)).score_text(name).relevance > 0.4
    assert not Scorer(from_words(name)).score_text(text).relevant


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ('terms = ["x"]\ntitel = 1', "unknown field titel: "),
        ('terms = ["x"]\nsynonym = {}', "unknown field synonym: did you mean synonyms?"),
        ('terms = ["x"]\n[limits]\npage = 1', "unknown field limits.page: did you mean pages?"),
        ('name = "n"', "field terms is missing: add it"),
        ("terms = []", "field terms is {}: "),
        ('terms = 5\nmust = ["x"]', "field terms is 5: write a table"),
        ("[terms]\nx = -1", "field terms.x is -1: give a number above 0, at most 100"),
        ("[terms]\nx = nan", "field terms.x is nan: give a number above 0"),
        ("[terms]\nx = 1000", "field terms.x is 1000: give a number above 0"),
        ('[terms]\nx = "much"', "field terms.x is 'much': give a number above 0"),
        ('[terms]\n"，" = 1', "field terms: '，' contains no letter or number: remove it"),
        ('terms = ["ABC", "abc"]', "field terms: 'abc' is the same as 'ABC'"),
        ('terms = ["車", "车"]', "field terms: '车' is the same as '車'"),
        ('terms = ["x", 3]', "field terms is ['x', 3]: write a table"),
        ('terms = ["x"]\nseeds = ["ftp://a.test"]', "field seeds: 'ftp://a.test' is no http"),
        ('terms = ["x"]\nseeds = "http://a.test"', "field seeds is 'http://a.test': write a list"),
        ('terms = ["x"]\ndenied_hosts = ["http://a.test/"]', "field denied_hosts: "),
        ('terms = ["x"]\ndenied_hosts = ["."]', "field denied_hosts: '.' is no host"),
        ('terms = ["x"]\nlanguages = ["chinese"]', "field languages.0 is 'chinese': give a lang"),
        ('terms = ["x"]\n[limits]\ndepth = 1.5', "field limits.depth is 1.5: give a whole number"),
        ('terms = ["x"]\nlimits = 3', "field limits is 3: write a table of its own"),
        ('terms = ["x"]\n[thresholds]\nlower_limit = 2', "field thresholds.lower_limit is 2: give"),
        ('terms = ["x"]\n[thresholds]\nlower_limit = 0.5\nupper_limit = 0.2', "field thresholds: "),
        (
            'terms = ["足球"]\n[synonyms]\n"足秋" = ["a"]',
            "'足秋' has synonyms but is no term: did you mean '足球'?",
        ),
        ('terms = ["a1"]\n[synonyms]\nzz = ["b"]', "'zz' has synonyms but is no term: add it"),
        ('terms = ["车"]\n[negative]\n"車" = 1', "'车' is both a term and in negative"),
        ('terms = ["a1", "b1"]\n[synonyms]\na1 = ["b1"]', "'b1' is both a term and a synonym"),
        ('terms = ["a1"]\nall_of = [[]]', "field all_of.0 is []: "),
        ('terms = ["a1"]\nall_of = ["b1"]', "field all_of.0 is 'b1': write a list"),
        ('terms = ["车"]\nmust_not = ["車"]', "'车' is both a term and in must_not"),
        ("terms = [", "invalid TOML: "),
        (
            "[terms]\n足球 = 1",
            "invalid TOML: Invalid statement (at line 2, column 1); line 2: ",
        ),
    ],
)
def test_error_of_an_invalid_file_names_field_value_and_remedy(
    tmp_path: Path, text: str, start: str
) -> None:
    lines = message(tmp_path, text)
    assert len(lines) == 1
    assert lines[0].startswith(start)


def test_all_errors_are_reported_together(tmp_path: Path) -> None:
    text = 'name = ""\nnmae = 1\nseeds = ["x"]\n[terms]\na = 0\n[limits]\npages = -1'
    assert len(message(tmp_path, text)) == 5


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TopicError, match="no such topic file"):
        resolve(str(tmp_path / "none.toml"))
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(TopicError, match="cannot be read"):
        resolve(str(tmp_path / "folder.toml"))
    (tmp_path / "gbk.toml").write_bytes("name = '足球'".encode("gbk"))
    with pytest.raises(TopicError, match="save it as UTF-8"):
        resolve(str(tmp_path / "gbk.toml"))


@pytest.mark.parametrize(
    ("sentence", "terms"),
    [
        ("新能源汽车", ["新能源", "汽车", "新能源汽车"]),
        ("關於新能源汽車的最新報導", ["新能源", "汽车", "新能源汽车"]),
        ("我想看足球和篮球的新闻", ["足球", "篮球"]),
        ("足球 中超", ["足球", "中超"]),
        ("中超联赛", None),
        ("茶", ["茶"]),
        ("5G手机", ["5g", "手机", "5g手机"]),
        ("news about electric vehicles in China", ["electric", "vehicle", "electric vehicle"]),
        ('"premier league" football', ["premier league", "football"]),
        ("《红楼梦》研究", ["红楼梦", "研究"]),
        ("AT&T", ["at&t"]),
        ("新冠疫情对经济的影响", ["新冠疫情", "经济", "影响"]),
        ("我要找涉及特斯拉降价的新闻", ["特斯拉", "降价"]),
        ("关注北京冬奥会的最新进展", ["北京", "冬奥会", "北京冬奥会"]),
        ("有没有关于量子计算的文章", ["量子计算"]),
        ("跟踪报道北京冬奥会", ["北京", "冬奥会", "北京冬奥会"]),
    ],
)
def test_terms_of_a_sentence(sentence: str, terms: list[str] | None) -> None:
    topic = from_words(sentence)
    assert topic.name == sentence
    assert set(topic.terms.values()) == {1.0}
    if terms is None:
        assert sentence in topic.terms
    else:
        assert list(topic.terms)[: len(terms)] == terms


@pytest.mark.parametrize("nothing", ["", "  ", "的", "最新新闻", "the latest news", "，！", "2026"])
def test_sentence_without_terms_is_refused(nothing: str) -> None:
    with pytest.raises(TopicError, match="has no word that can be a search term"):
        resolve(nothing)


def test_very_long_text_is_limited_to_a_topic() -> None:
    topic = resolve(" ".join(f"word{number}x" for number in range(500)))
    assert len(topic.name) <= MAX_NAME_LENGTH
    assert len(topic.terms) == MOST_TERMS


@given(st.text(max_size=80))
def test_any_text_gives_a_topic_or_a_topic_error(text: str) -> None:
    try:
        topic = resolve(text.replace(".toml", ""))
    except TopicError as error:
        assert repr(text.strip().replace(".toml", "")) in str(error) or "topic" in str(error)  # noqa: PT017
    else:
        assert topic.terms
        assert all(any(map(str.isalnum, term)) for term in topic.terms)


names = st.text(min_size=1, max_size=100).filter(str.strip)


@given(names, names)
def test_slugs_are_safe_and_distinct(one: str, other: str) -> None:
    first, second = (Topic(name=name, terms={"a": 1}) for name in (one, other))
    assert first.slug.strip(".") == first.slug
    assert not set('/\\:*?"<>|\0 ') & set(first.slug)
    assert len(first.slug.encode()) < 255
    assert (first.slug == second.slug) == (first.name == second.name)


def test_digest_depends_on_the_content() -> None:
    topic = Topic(name="a", terms={"x": 1})
    assert topic.digest == Topic(name="a", terms={"x": 1.0}).digest
    assert topic.digest != Topic(name="a", terms={"x": 2}).digest
    assert topic.digest != topic.model_copy(update={"limits": Budget(pages=1)}).digest


def test_topic_is_immutable() -> None:
    topic = Topic(name="a", terms={"x": 1})
    with pytest.raises(ValidationError, match="frozen"):
        topic.name = "b"


@pytest.mark.parametrize(
    ("topic", "chinese"),
    [
        (Topic(name="a", terms={"足球": 1}), True),
        (Topic(name="a", terms={"football": 1}), False),
        (Topic(name="a", terms={"足球": 1}, languages=("en",)), False),
    ],
)
def test_default_seeds_depend_on_the_language(*, topic: Topic, chinese: bool) -> None:
    seeds = default_seeds(topic)
    assert len(seeds) >= 5
    assert ("https://news.sina.com.cn/" in seeds) is chinese
    both = topic.model_copy(update={"languages": ("zh", "en")})
    assert set(seeds) < set(default_seeds(both))
    assert not any(map(has_han, seeds))


def test_groups_of_a_topic_file(tmp_path: Path) -> None:
    text = 'all_of = [["AI", "人工智能"], ["医疗"]]\nmust = ["医院"]\nmust_not = ["招聘"]\n'
    topic = read(
        topic_file(tmp_path, text + "[terms]\n人工智能 = 2.0\n".replace("人工智能", '"人工智能"'))
    )
    assert topic.terms == {"人工智能": 2.0, "AI": 1.0, "医疗": 1.0, "医院": 1.0}
    assert topic.groups == (("AI", "人工智能"), ("医疗",), ("医院",))
    plain = topic.model_copy(update={"must_not": ()})
    assert plain.version != topic.version


@pytest.mark.parametrize(
    ("sentence", "groups"),
    [
        ("人工智能在医疗中的应用", [["人工智能"], ["医疗"]]),
        ("人工智能在醫療領域的應用", [["人工智能"], ["医疗"]]),
        ("新冠疫情对经济的影响", [["新冠疫情"], ["经济"]]),
        ("AI or robots in medicine", [["ai", "robot"], ["medicine"]]),
        ("我想看关于足球和篮球的新闻", []),
        ("足球、篮球或网球", []),
        ("news about football, tennis and golf", []),
        ("正在发展的新能源汽车", []),
        ("人工智能对就业的冲击", [["人工智能"], ["就业"]]),
        ("我对足球以及它对经济的影响感兴趣", [["足球"], ["经济"]]),
    ],
)
def test_sentence_on_two_concepts_requires_both(sentence: str, groups: list[list[str]]) -> None:
    assert [list(group) for group in from_words(sentence).groups] == groups


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("玻利维亚总统辞职", 2),
        ("关于玻利維亞總統辭職的新闻", 2),
        ("新能源汽车", 1),
        ("玻利维亚总统辞职、军队、足球", 1),
        ("玻利维亚总统辞职 NBA", 1),
        ("“总统” 玻利维亚总统辞职", 1),
        ("(玻利维亚 | 总统)", 1),
        ("business economy market", 1),
        ("中" * 300, 1),
    ],
)
def test_adjacent_chinese_words_are_one_subject(text: str, least: int) -> None:
    topic = from_words(text)
    assert topic.min_terms == least <= len(topic.terms)


def test_fewest_terms_of_a_file(tmp_path: Path) -> None:
    text = 'min_terms = 2\nterms = ["足球", "中超", "转会"]\n'
    topic = read(topic_file(tmp_path, text))
    assert topic.min_terms == 2
    assert topic.version != topic.model_copy(update={"min_terms": 1}).version
    assert any("1 or more" in line for line in message(tmp_path, text.replace("2", "0")))
    assert any("number up to 3" in line for line in message(tmp_path, text.replace("2", "4")))


def test_a_query() -> None:
    topic = from_words('(足球 | "premier league") +转会 -彩票 中超^0.5')
    assert topic.terms == {"足球": 1.0, "premier league": 1.0, "转会": 1.0, "中超": 0.5}
    assert topic.groups == (("足球", "premier league"), ("转会",))
    assert topic.must_not == ("彩票",)
    with pytest.raises(TopicError, match="and in must_not"):
        from_words("+足球 -足球")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("+充电，＋汽车、-招聘", "+充电 +汽车 -招聘"),
        ("足球，篮球；-彩票", "足球 篮球 -彩票"),
        ("（电动汽车、电动车） +充电", "(电动汽车 | 电动车) +充电"),
        ("＋“电动 汽车”＾２ －「二手 车」", '+"电动 汽车"^2 -"二手 车"'),
        ("《三体》 -电影", '"三体" -电影'),
    ],
)
def test_a_query_with_chinese_punctuation(text: str, same: str) -> None:
    topic = from_words(text)
    assert topic == from_words(same).model_copy(update={"name": topic.name})


def test_weights_of_a_query() -> None:
    assert from_words("汽车^100 充电^2.5").terms == {"汽车": 100.0, "充电": 2.5}
    for wrong in ("汽车^101", "汽车^0"):
        with pytest.raises(
            TopicError, match=r"terms.汽车 is .*: give a number above 0, at most 100"
        ):
            from_words(wrong)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("資訊安全", ["资讯", "安全", "资讯安全"]),
        ("关于信息公开的最新消息", ["信息", "公开", "信息公开"]),
        ("news about information technology", ["information", "technology"]),
        ("人工智能信息", ["人工智能"]),
        ("内容涉及人工智能的文章", ["人工智能"]),
        ("人工智能 资讯", ["人工智能"]),
    ],
)
def test_nouns_for_news_belong_to_the_word_that_follows(text: str, terms: list[str]) -> None:
    assert list(from_words(text).terms)[: len(terms)] == terms


@pytest.mark.parametrize(
    ("text", "terms", "excluded"),
    [
        ("不要娱乐新闻，只要体育", {"体育"}, ("娱乐",)),
        ("除了足球、篮球以外的教育", {"教育"}, ("足球", "篮球")),
        ("汽车，除了二手车", {"汽车"}, ("二手车",)),
        ("教育新闻，我不想看高考的消息", {"教育"}, ("高考",)),
        ("体育，不包括足球、只要篮球", {"体育", "篮球"}, ("足球",)),
        ("篮球而不是足球", {"篮球"}, ("足球",)),
        ("汽車 NOT 摩托", {"汽车"}, ("摩托",)),
        ("旅游，除了海外游", {"旅游"}, ("海外游",)),
        ("手机新闻，除了苹果的手机", {"手机"}, ("苹果",)),
        ("体育 不要娱乐 篮球", {"体育", "篮球"}, ("娱乐",)),
        ("人工智能，不要一", {"人工智能"}, ()),
        ("phones excluding Apple, Samsung and Huawei", {"phone"}, ("apple", "samsung", "huawei")),
        ("THINGS NOT TO DO IN PARIS", {"paris"}, ()),
        ("football except the Premier League", {"football"}, ("premier league",)),
        ("news on sports, but not golf or tennis", {"sport"}, ("golf", "tennis")),
        ("除了足球以外，还想看篮球", {"足球", "篮球"}, ()),
        ("年轻人不要孩子的原因", {"年轻人", "孩子", "原因"}, ()),
        ("不要停止改变", {"停止", "改变", "停止改变"}, ()),
        ("Doctors Without Borders", {"doctor", "border"}, ()),
    ],
)
def test_sentences_may_exclude_subjects(
    text: str, terms: set[str], excluded: tuple[str, ...]
) -> None:
    topic = from_words(text)
    assert (set(topic.terms), topic.must_not) == (terms, excluded)


def test_words_get_the_synonyms_of_shipped_topics() -> None:
    assert "AI" in from_words("关于人工智能的新闻").synonyms["人工智能"]
    assert from_words("人工智能 AI").synonyms.get("人工智能", ()) == ("智能体",)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("A股", ["a股"]),
        ("Ｋ线图", ["k线图"]),
        ("中国A股", ["中国", "a股", "中国a股"]),
        ("关于C语言的新闻", ["c语言"]),
        ("维生素D缺乏", ["维生素", "缺乏", "维生素d缺乏"]),
        ("at&t中国", ["中国", "t中国"]),
        ("I/O芯片", ["芯片", "o芯片"]),
        ("IT行业", ["行业", "it行业"]),
        ("𠮷野家", ["野家", "𠮷野家"]),
        ("𪚥", ["𪚥"]),
        ("茶", ["茶"]),
        ("A和B的足球", ["足球"]),
    ],
)
def test_short_latin_words_and_rare_characters_of_a_compound_are_kept(
    text: str, terms: list[str]
) -> None:
    assert list(from_words(text).terms) == terms


@pytest.mark.parametrize(
    ("line", "sign"),
    [
        ("terms = [“充电桩”]", "'“'"),
        ('terms = ["充电桩"，"换电站"]', "'，'"),
        ('terms ＝ ["充电桩"]', "'＝'"),
        ('terms = ["C#"，"换电站"]', "'，'"),
        ('terms = ["“充电”，桩" 1]  # “，', ""),
        ("terms = ['充电，“桩”' 1]", ""),
    ],
)
def test_full_width_punctuation_of_a_topic_file_is_named(
    line: str, sign: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.toml"
    path.write_text(f'name = """\r\n充电，“桩”"""\r\n{line}\r\n', encoding="utf-8")
    with pytest.raises(TopicError) as caught:
        read(path)
    assert (f"line 3: {sign}" in str(caught.value)) == bool(sign)
    assert ("half-width" in str(caught.value)) == bool(sign)
