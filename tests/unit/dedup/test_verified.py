"""Tests of ``VerifiedShingles``, which verifies candidates by facts, dates and names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.demo.stories import traditional
from topiccrawl.dedup.factory import NAMES, load_detector
from topiccrawl.dedup.names import swaps
from topiccrawl.dedup.verified import VerifiedShingles
from topiccrawl.errors import SettingError
from topiccrawl.model import Article
from topiccrawl.text.digest import digest_of

PARAGRAPHS = (
    "本市交通部门昨日公布了新一轮公交线网的调整方案，其中新开通勤快线12条，撤并重复线路9条。",
    "方案提出，早晚高峰时段快线每6分钟发一班车，沿途只停靠换乘站，全程票价3元。",
    "家住城北的赵女士说，过去上班路上要花70分钟，换了快线以后估计能省下一半时间。",
    "公交集团负责人介绍，首批投入运营的纯电动客车共有85辆，车上装有无障碍踏板。",
    "此前征求意见期间，部门共收到市民来信1640封，关于末班车时间的意见最多。",
    "按照计划，调整后的线网从4月18日首班车起执行，临时站牌将保留到5月底。",
)


def article(number: int, *paragraphs: str, published: str = "2020-03-02") -> Article:
    body = "\n".join(paragraphs)
    site = f"s{number}.test"
    return Article(f"http://{site}/", "", body, site=site, published=published,
                   digest=digest_of(body))  # fmt: skip


STORY = article(1, *PARAGRAPHS)


@pytest.mark.parametrize(
    ("paragraphs", "reason"),
    [
        (PARAGRAPHS[1:], "trimmed"),
        (PARAGRAPHS[:3], "trimmed"),
        ((PARAGRAPHS[4],), "trimmed"),
        (("".join(PARAGRAPHS),), "same-text"),
        (("来源：晨报", *PARAGRAPHS), "near-copy"),
        (
            (
                "线网调整之后出行会方便一些，这是许多市民的期待，也是部门的目标。",
                *PARAGRAPHS[:3],
                "记者还了解到，有关方面正在研究夜班车和社区小巴的开行办法，并将另行公布。",
            ),
            "edited",
        ),
        (tuple(map(traditional, PARAGRAPHS)), "same-text"),
    ],
)
def test_edited_copies_are_reprints(paragraphs: tuple[str, ...], reason: str) -> None:
    match = VerifiedShingles().judge(article(2, *paragraphs), [STORY])
    assert match is not None
    assert match.url == STORY.url
    assert match.reason in {reason, "near-copy"}
    assert 0.5 <= match.similarity <= 1.0


OTHER_HALF = (
    "新的班次将在站台屏幕和手机应用上显示，换乘站会有志愿者为乘客指路，老年乘客可以向站长索取纸质时刻表。",
    "一位研究城市交通的学者认为，撤并线路之后步行到车站的路程变长，主管部门应当把省下的车辆用在郊区。",
)


@pytest.mark.parametrize(
    ("published", "fleet", "same"),
    [("2020-03-02", "85辆", True), ("2020-03-03", "85辆", False), ("2020-03-02", "95辆", False)],
)
def test_reports_of_one_day_with_equal_facts_are_one_story(
    published: str, fleet: str, *, same: bool
) -> None:
    written = (*PARAGRAPHS[:2], PARAGRAPHS[3][:30], *OTHER_HALF)
    text = [paragraph.replace("85辆", fleet) for paragraph in written]
    match = VerifiedShingles().judge(article(2, *text, published=published), [STORY])
    assert (match is not None) == same


@pytest.mark.parametrize(
    ("old", "new"), [(("12条", "9条", "6分钟", "85辆"), ("15条", "7条", "8分钟", "60辆"))]
)
def test_other_numbers_are_another_story(old: tuple[str, ...], new: tuple[str, ...]) -> None:
    text = "\n".join(PARAGRAPHS)
    for before, after in zip(old, new, strict=True):
        text = text.replace(before, after)
    assert VerifiedShingles().judge(article(2, *text.split("\n")), [STORY]) is None


def test_best_of_several_candidates_is_returned() -> None:
    method = VerifiedShingles()
    piece, whole = article(3, *PARAGRAPHS[:3]), article(4, *PARAGRAPHS[:5])
    match = method.judge(article(5, *PARAGRAPHS), [piece, whole])
    assert match is not None
    assert match.url == whole.url


def test_outside_the_window_only_the_same_text_matches() -> None:
    old = replace(STORY, published="2019-03-02")
    method = VerifiedShingles(window=30)
    assert method.judge(article(2, *PARAGRAPHS[1:]), [old]) is None
    assert method.judge(article(2, *PARAGRAPHS[1:], published=""), [old]) is not None
    assert method.judge(article(2, *PARAGRAPHS), [old]) is not None
    assert VerifiedShingles(window=0).judge(article(2, *PARAGRAPHS[1:]), [old]) is not None
    odd = article(2, *PARAGRAPHS[1:], published="gestern")
    assert method.judge(odd, [old]) is not None


def test_repeated_lines_of_a_site_are_not_compared() -> None:
    foot = tuple(f"本站{word}栏目长期征集稿件，欢迎各界人士踊跃来信来电" * 3 for word in "甲乙丙")
    method = VerifiedShingles()
    bodies = [f"{chr(0x4E00 + 7 * n)}城举行了一场讨论会，到会的人不多" for n in range(9)]
    articles = [replace(article(n, body, *foot), site="s.test") for n, body in enumerate(bodies)]
    for known in articles[:3]:
        method.learn(known)
    assert method.judge(articles[4], [articles[5]]) is None
    assert VerifiedShingles().judge(articles[4], [articles[5]]) is not None


def test_too_short_texts_are_not_compared() -> None:
    method = VerifiedShingles()
    short = article(2, "图为现场。")
    assert method.keys(short) == ()
    assert method.judge(short, [STORY, article(3, "图为现场。")]) is None


def test_detectors_are_loaded_by_name() -> None:
    assert [load_detector(name).scheme.partition("/")[0] for name in NAMES] == list(NAMES)
    with pytest.raises(SettingError, match="choose one of shingles"):
        load_detector("md5")
    with pytest.raises(SettingError, match="WINDOW = -1"):
        load_detector("shingles", -1)


NOTICE = (
    "经查，{0}丧失理想信念，背弃初心使命，违规收受礼品礼金，接受可能影响公正执行公务的宴请。",
    "{0}身为领导干部，利用职务便利为他人在工程承揽等方面谋取利益，应予严肃处理。",
    "经研究，决定给予{0}开除公职处分，收缴其违纪违法所得，将其涉嫌犯罪问题移送审查起诉。",
)


@pytest.mark.parametrize("names", [("高建平", "陈立群"), ("高建平", "高远明"), ("王某某", "林某")])
def test_same_notice_with_another_name_is_another_story(names: tuple[str, str]) -> None:
    one, other = (
        article(at, *(line.format(name) for line in NOTICE)) for at, name in enumerate(names)
    )
    assert VerifiedShingles().judge(one, [other]) is None
    reprint = article(3, *(line.format(names[0]) for line in NOTICE), "本报记者报道，特此说明。")
    assert VerifiedShingles().judge(reprint, [one]) is not None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("老街巷（之一）", "老街巷（之二）", False),
        ("第三届书展观察（上）", "第三届书展观察（下）", False),
        ("गाँव की डायरी ४", "गाँव की डायरी ५", False),
        ("गाँव की डायरी ४", "गाँव की डायरी 4", True),
        ("公交线网调整方案公布", "公交线网怎么调", True),
    ],
)
def test_parts_of_a_series_are_separate_stories(one: str, other: str, *, same: bool) -> None:
    first = replace(STORY, title=one)
    second = replace(article(2, *PARAGRAPHS[1:]), title=other)
    assert (VerifiedShingles().judge(second, [first]) is not None) is same


def test_different_last_words_are_no_swapped_names() -> None:
    assert swaps("昨天上午甲乙丙丁", "昨天上午戊己庚辛") == {}


def test_identical_texts_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a reprint that changes nothing, neither shingles nor facts are computed."""
    monkeypatch.setattr("topiccrawl.dedup.verified._ComparedText", None)
    found = VerifiedShingles().judge(article(2, *PARAGRAPHS), [STORY])
    assert found is not None
    assert (found.url, found.reason) == (STORY.url, "same-text")
