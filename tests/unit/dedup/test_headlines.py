"""Tests of telling texts apart that are alike, by their headlines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import opencc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.dedup.headlines import differ_in_headline, spaced
from topiccrawl.dedup.verified import VerifiedShingles
from topiccrawl.model import Article
from topiccrawl.text.digest import digest_of

if TYPE_CHECKING:
    from collections.abc import Callable

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
BUSES = (
    "从本月10日起，城区将新开通六条夜班公交线路，末班车时间延长至凌晨一点。六条线路串联起火车站、医院、夜市和大学城，"
    "每二十分钟发一班车，票价与白天相同。此前，城区最后一班公交车在晚上十点半发车，不少下晚班的居民只能打车回家。"
    "护士小陈告诉记者，她每周要上三个夜班，打车一次要花三十多元。市交通运输局说，线路试运行三个月，再根据客流调整站点。"
    "参与运营的驾驶员均有五年以上驾龄，公司为他们安排了休息室和夜宵，并给车辆加装了照明和报警设备。"
)
BRIDGE = (
    "Harbor officials said they will close the old crossing for nine months so that crews can "
    "replace its rusted gears and rewire the control house. Drivers will be sent over the highway "
    "span two miles upstream while the work goes on. The contractor from Milford submitted the "
    "lowest of four bids, and most of the cost is paid by the state. Shop owners on Canal Street "
    "said they worry that customers will stay away, so the city plans a free shuttle bus and will "
    "waive parking fees downtown until the span reopens in December. An inspection last fall "
    "found cracks in two of the main bearings."
)
SCHOOL = (
    "{0}公司昨天宣布，向全市四十所中学的学生免费开放{1}课程，学生凭学号登录，在家里也能上课。课程由十二位教师讲授，每节课二十分钟，"
    "课后有练习和答疑。一位校长说，学生最需要的是有人及时回答他们的问题，这项服务正好补上了这一块。"
)


traditional: Callable[[str], str] = opencc.OpenCC("s2t").convert


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


@pytest.mark.parametrize(
    ("headlines", "body"),
    [
        (("让烟火气更温暖", "民生无小事 枝叶总关情"), BUSES),
        (("Mind the gap", "Troubled water for motorists"), BRIDGE),
    ],
)
def test_headlines_without_words_of_the_text_are_ignored_in_a_full_text(
    headlines: tuple[str, str], body: str
) -> None:
    assert judged(headlines, (body, body))
    assert judged(headlines, (body, body[30:]))


def test_headlines_in_words_of_another_region_are_not_compared() -> None:
    bodies = SCHOOL.format("软件", "网络"), traditional(SCHOOL.format("软体", "网路"))
    assert judged(("软件网络齐上阵", "軟體網路齊登場"), bodies)


def test_numbers_in_headlines_are_not_compared() -> None:
    headlines = "三成受访者每天走一万步", "问卷：30%受访者日行万步"
    texts = "三成的人走超过一万步，问卷显示，每天走。", "问卷显示，30%的人每天走超过1万步。"
    assert not differ_in_headline(headlines, (spaced(texts[0]), spaced(texts[1])))


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
