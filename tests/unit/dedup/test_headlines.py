"""Tests of telling texts apart that are alike, by their headlines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.dedup.headlines import differ_in_headline, spaced
from topiccrawl.dedup.verified import VerifiedShingles
from topiccrawl.model import Article
from topiccrawl.text.digest import digest_of

NOTICE = (
    "本站图片由网友提供，如果侵犯了您的权利，请来信告知，我们会在收到来信以后立刻删除有关内容。"
)
TABLE = "Qtly div 20 cts vs 20 cts prior\nPay April 15\nRecord March 23"
FOOTER = "© 2021 Tous droits réservés. Ce site est édité par une association de quartier bénévole."
LECTURE = (
    "本期大课堂邀请到{0}，主题是“{1}”。讲座在市文化馆的网络平台播出，观众可以免费收看，也可以在留言区提问。"
    "主讲人将用一小时的时间回答观众的问题，并推荐几本适合初学者的书。"
    "下一期的主讲人和题目将在周末公布，欢迎继续关注本馆的网络平台。"
)


def judged(headlines: tuple[str, str], bodies: tuple[str, str]) -> bool:
    """Return whether two articles of different sites are one story."""
    one, other = (
        Article(f"http://s{at}.test/", title, body, site=f"s{at}.test", digest=digest_of(body),
                published="2020-03-02")
        for at, (title, body) in enumerate(zip(headlines, bodies, strict=True))
    )  # fmt: skip
    return VerifiedShingles().judge(other, [one]) is not None


@pytest.mark.parametrize(
    ("headlines", "body"),
    [
        (("城南老茶馆的黄昏", "环湖自行车赛路线图"), NOTICE),
        (("Oakmill Foods sets payout", "Regular dividend of Harbor Bancorp"), TABLE),
        (("Fête de la musique au parc", "Nouvelle ligne de tramway"), FOOTER),
        (("Hội chợ hoa xuân", "Đường sắt nối sân bay"), FOOTER),
    ],
)
def test_equal_text_without_the_words_of_the_headlines_is_no_reprint(
    headlines: tuple[str, str], body: str
) -> None:
    assert not judged(headlines, (body, body))
    assert judged((headlines[0], headlines[0]), (body, body))
    assert judged((headlines[0], ""), (body, body))


def test_announcements_from_a_template_are_different_stories() -> None:
    lectures = ("画家韩立群", "颜色从哪里来"), ("歌手佟雨桐", "怎样练习呼吸")
    headlines = "韩立群：颜色从哪里来", "佟雨桐：怎样练习呼吸"
    one, other = (LECTURE.format(*lecture) for lecture in lectures)
    assert not judged(headlines, (one, other))
    assert judged((headlines[0], "网络大课堂邀请到韩立群"), (one, one))


@pytest.mark.parametrize(
    ("headlines", "text"),
    [
        (("公交线网调整方案公布", "早高峰新增3D导航"), "早高峰的车站今起有3D导航，公交线网调整。"),
        (
            ("Three cities plan trams", "Rail plans of the north"),
            "Leeds and two other cities plan trams",
        ),
        (("Новые трамваи для Твери", "Город закупит вагоны"), "Тверь купит новый трамвай и вагон"),
        (
            ("Đường sắt nối sân bay", "Tàu chạy từ tháng sau"),
            "Từ tháng sau tàu chạy trên đường sắt",
        ),
        (("รถไฟฟ้าสายใหม่", "กรุงเทพ เปิดเดินรถ"), "กรุงเทพเปิดเดินรถไฟฟ้าสายใหม่วันนี้"),
    ],
)
def test_headline_with_words_of_the_text_is_another_one_for_it(
    headlines: tuple[str, str], text: str
) -> None:
    assert not differ_in_headline(headlines, (spaced(text), spaced(text)))


@given(
    st.text() | st.from_regex(r"([a-z]{1,6}(ies|es|s)? |第3D一段.){1,4}", fullmatch=True), st.text()
)
def test_equal_headlines_do_not_differ(headline: str, text: str) -> None:
    assert not differ_in_headline((headline, headline), (spaced(text), spaced(text)))
