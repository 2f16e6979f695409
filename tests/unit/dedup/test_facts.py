"""Tests of comparing the facts of two texts: figures, dates, places and names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.dedup.facts import Agreement, compare, place_names, slots

REPORT = "3月1日0时至24时，湖北省新增确诊病例3例，累计确诊120例；湖南省新增确诊病例1例。"


@given(st.text())
def test_text_does_not_contradict_itself(text: str) -> None:
    assert compare(slots(text), slots(text)).contradictions == 0


@given(st.text(alphabet="0123456789年月日例湖北省新增。,", max_size=40), st.text(max_size=40))
def test_comparison_is_symmetric(one: str, other: str) -> None:
    assert compare(slots(one), slots(other)) == compare(slots(other), slots(one))


@pytest.mark.parametrize("text", ["编辑＠晨报，＃3号线＃", "Mail us﹫home, ﹟12"])
def test_wide_forms_of_the_marks_are_no_facts(text: str) -> None:
    assert all(len(facts) == 1 for facts in slots(text).values())


def test_report_of_the_next_day_is_a_contradiction() -> None:
    tomorrow = REPORT.replace("1日", "2日").replace("3例", "5例").replace("120", "125")
    found = compare(slots(REPORT), slots(tomorrow))
    assert (found.figures.other, found.dates.other) == (2, 1)
    assert found.contradicts


def test_same_report_of_other_places_is_a_contradiction() -> None:
    elsewhere = REPORT.replace("湖北", "四川").replace("湖南", "云南")
    found = compare(slots(REPORT), slots(elsewhere))
    assert (found.figures.other, found.places.other) == (0, 2)
    assert found.contradicts


def test_omitted_fact_is_no_contradiction() -> None:
    whole = REPORT + "当日有20人出院，另有8人转院。"
    assert compare(slots(whole), slots(REPORT)).contradictions == 0


def test_one_correction_among_many_is_no_contradiction() -> None:
    streets = ("东门", "西门", "南门", "北门", "桥头", "河边")
    text = "".join(f"{name}登记住户{11 * at}户。" for at, name in enumerate(streets, 1))
    assert not compare(slots(text), slots(text.replace("33户", "34户"))).contradicts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "The fire killed three people and hurt 1,200",
            "The fire killed nine people and hurt 1,300",
        ),
        ("It rained in March and on Monday", "It rained in April and on Friday"),
        ("Police in Leeds said so to Smith", "Police in Paris said so to Brown"),
    ],
)
def test_english_numbers_days_and_names_are_facts(one: str, other: str) -> None:
    assert compare(slots(one), slots(other)).contradicts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "دیروز ۱۲ نفر در این شهر و ۲٬۴۵۰ نفر در کشور",
            "دیروز ۱۷ نفر در این شهر و ۲٬۸۱۰ نفر در کشور",
        ),
        ("गुरुवार को १२ लोग घायल और ४५ लापता", "गुरुवार को १९ लोग घायल और ६३ लापता"),
        ("в четверг поезд шёл в Тверь через Клин", "в четверг поезд шёл в Псков через Лугу"),
        ("w piątek pociąg z Łodzi do Żywca stał", "w piątek pociąg z Świdnicy do Ełku stał"),
    ],
)
def test_figures_and_names_of_other_scripts_are_facts(one: str, other: str) -> None:
    assert compare(slots(one), slots(other)).contradicts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("۱۲ نفر و ۲٬۴۵۰ نفر و ۳٫۵ درصد", "12 نفر و 2,450 نفر و 3.5 درصد"),
        ("गुरुवार को १२ लोग घायल और ४५ लापता", "गुरुवार को 12 लोग घायल और 45 लापता"),
    ],
)
def test_figures_are_equal_in_all_scripts(one: str, other: str) -> None:
    assert slots(one) == slots(other)


def test_thousands_separators_are_ignored() -> None:
    assert slots("共1,234,567人") == slots("共1234567人")
    assert slots("حدود ۲٬۴۵۰ نفر") == slots("حدود ۲۴۵۰ نفر")


def test_number_words_count_with_the_figures() -> None:
    found = compare(slots("三人死亡，5人受伤"), slots("四人死亡，5人受伤"))
    assert found.words == Agreement(0, 1)
    assert found.contradicts


def test_place_names_come_from_the_dictionary() -> None:
    assert {"北京", "四川", "呼和浩特"} <= place_names()
    assert not place_names() & {"足球", "一", ""}


def test_dates_and_figures_are_counted_separately() -> None:
    notice = "3月7日全天停运，间隔8分钟，首班6时，末班23时，票价3元，快线12条，慢线9条"
    found = compare(slots(notice), slots(notice.replace("3月7日", "3月14日")))
    assert (found.figures.other, found.dates) == (0, Agreement(0, 1))
    assert found.contradicts
    assert compare(slots("周六停运"), slots("周日停运")).contradicts


@pytest.mark.parametrize("other", ["7日全天停运", "3月7号全天停运", "7号全天停运"])
def test_date_without_its_month_agrees(other: str) -> None:
    assert compare(slots("通知3月7日全天停运"), slots(f"通知{other}")).dates == Agreement(1, 0)
    assert compare(slots("通知4月7日全天停运"), slots("通知3月7日全天停运")).dates.other == 1
