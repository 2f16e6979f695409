"""Tests of the scorer of pages by the words of a topic."""

from __future__ import annotations

import math
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from topiccrawl.model import Link, Page, Verdict
from topiccrawl.text.idf import Idf, corpus_idf
from topiccrawl.text.measure import PROSE, SAMPLED, Measurer
from topiccrawl.text.tokens import Tokenizer, shared_tokenizer
from topiccrawl.topics import LOWER_LIMIT, Scorer, SiteWords, TopicVector
from topiccrawl.topics.linked import with_links
from topiccrawl.topics.topic import Topic, from_words

if TYPE_CHECKING:
    from collections.abc import Callable

    Build = Callable[..., Scorer]

ON = "新能源汽车的销量今年继续增长，充电桩也越来越多，车企纷纷推出新车型。"
OFF = "乐团昨晚在音乐厅演奏了两部交响曲，观众掌声不断。"


def test_score_equals_a_hand_computed_cosine() -> None:
    """Two words of the text, one of them the term: cos = idf·√2 / sqrt(2 idf² + other²)."""
    topic = Topic(name="t", terms={"football": 1})
    scorer = Scorer(topic, Tokenizer("rjieba"), Idf({"football": 3.0, "stadium": 4.0}))
    verdict = scorer.score_text("Football in the stadium: football!")
    expected = 3 * math.sqrt(2) / math.sqrt(3**2 * 2 + 4**2)
    assert verdict.relevance == pytest.approx(expected)
    assert dict(verdict.terms) == {"football": pytest.approx(expected)}
    assert verdict.relevant


def test_title_counts_three_times() -> None:
    idf = Idf({"football": 3.0, "stadium": 4.0})
    scorer = Scorer(Topic(name="t", terms={"football": 1}), Tokenizer("rjieba"), idf)
    expected = 3 * math.sqrt(3) / math.sqrt(3**2 * 3 + 4**2)
    assert scorer.score_text("stadium", "Football").relevance == pytest.approx(expected)


def test_on_topic_page_scores_above_off_topic_page(scorer_for: Build) -> None:
    scorer = scorer_for("新能源", "汽车", "新能源汽车")
    assert scorer.score_text(ON).relevant
    assert scorer.score_text(OFF) == Verdict(0.0, relevant=False)


def test_phrase_scores_above_its_separate_words(scorer_for: Build) -> None:
    scorer = scorer_for("新能源", "汽车", "新能源汽车")
    phrase, apart = scorer.score_many(["新能源汽车的未来", "汽车与新能源的未来"])
    assert phrase > apart > 0


def test_traditional_and_full_width_texts_match(scorer_for: Build) -> None:
    scorer = scorer_for("汽车", "nba")
    assert scorer.score_short("汽車") == scorer.score_short("汽车") > 0
    assert scorer.score_short("ＮＢＡ") == scorer.score_short("nba") > 0


def test_synonym_scores_as_its_term(scorer_for: Build) -> None:
    scorer = scorer_for("足球", "电影", synonyms={"足球": ["绿茵场"]})
    assert scorer.score_text("绿茵场").terms[0][0] == "足球"
    assert scorer.score_short("绿茵场") == pytest.approx(scorer.score_short("足球"))


def test_negative_terms_lower_the_score_to_zero_at_least(scorer_for: Build) -> None:
    plain, against = scorer_for("足球"), scorer_for("足球", negative={"彩票": 1.0})
    text = "足球彩票"
    assert 0 <= against.score_short(text) < plain.score_short(text)
    assert against.score_text("彩票彩票彩票彩票足球").relevance == 0.0
    terms = dict(against.score_text(text).terms)
    assert terms["足球"] > 0 > terms["彩票"]


def test_only_negative_terms(scorer_for: Build) -> None:
    verdict = scorer_for("足球", negative={"彩票": 1.0}).score_text("彩票")
    assert (verdict.relevance, verdict.relevant) == (0.0, False)


def test_heavier_term_scores_higher(scorer_for: Build) -> None:
    scorer = scorer_for(terms={"足球": 1.0, "篮球": 0.2})
    football, basketball = scorer.score_many(["足球", "篮球"])
    assert football > basketball > 0


def test_numbers_count_only_as_terms(scorer_for: Build) -> None:
    scorer = Scorer(Topic(name="t", terms={"足球": 1.0}))
    assert scorer.score_short("足球 2026 15 7") == pytest.approx(scorer.score_short("足球"))
    assert scorer_for("足球", "2026").score_short("2026") > 0


@pytest.mark.parametrize("engine", ["rjieba", "jieba"])
def test_lone_surrogate_in_a_text_raises_no_error(engine: str) -> None:
    scorer = Scorer(
        from_words("新能源汽车"), Tokenizer("rjieba" if engine == "rjieba" else "jieba")
    )
    assert scorer.score_short("中文" * 60 + "\udc00新能源汽车") > 0


def test_limits(scorer_for: Build) -> None:
    assert scorer_for("足球").lower_limit == LOWER_LIMIT
    strict = scorer_for("足球", thresholds={"lower_limit": 1.0})
    lax = scorer_for("足球", thresholds={"lower_limit": 0.0})
    assert not strict.score_text("足球比赛开始").relevant
    assert lax.score_text(OFF).relevant


def test_another_vector(scorer_for: Build) -> None:
    scorer = scorer_for("足球", synonyms={"足球": ["绿茵场"]})
    adapted = scorer.with_vector(TopicVector.of({"足球": 1.0, "中超": 0.5}))
    assert adapted.score_short("中超") > 0 == scorer.score_short("中超")
    assert adapted.score_short("绿茵场") > 0
    assert adapted.topic is scorer.topic


def test_contains(scorer_for: Build) -> None:
    scorer = scorer_for("汽车", synonyms={"汽车": ["car"]}, negative={"玩具车": 1})
    assert scorer.contains("汽車之家")
    assert scorer.contains("New Cars")
    assert scorer.contains("http://a.test/cars/1.html")
    assert not scorer.contains("http://a.test/scarves/")
    assert not scorer.contains("玩具车")
    assert not scorer.contains("")


def test_english(scorer_for: Build) -> None:
    scorer = scorer_for("electric vehicle", "battery")
    on, off = scorer.score_many(
        ["Electric vehicles need better batteries", "The orchestra played a symphony"]
    )
    assert on > 0.5
    assert off == 0.0


@pytest.mark.parametrize("engine", ["rjieba", "jieba"])
def test_both_engines_give_the_same_scores(engine: str) -> None:
    topic = Topic(name="t", terms={"新能源": 1, "汽车": 1, "vehicle": 1})
    scorer = Scorer(topic, Tokenizer("rjieba" if engine == "rjieba" else "jieba"))
    reference = Scorer(topic, Tokenizer("jieba"))
    for text in (ON, OFF, "electric-vehicles 汽车 3.5%"):
        assert scorer.score_text(text) == reference.score_text(text)


@pytest.mark.parametrize(
    ("terms", "weights"), [(("a",), ()), (("a", "a"), (1.0, 1.0)), (("a",), (math.inf,))]
)
def test_invalid_vectors(terms: tuple[str, ...], weights: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match=r"topic vector|weights"):
        TopicVector(terms, weights)


def test_vectors_of_weights() -> None:
    vector = TopicVector.of({"ＡＢ": 0.5, "ab": 1.0, "x": -2.0, "": 1.0, "zero": 0.0})
    assert dict(vector.items()) == {"ab": 1.0, "x": -2.0}
    assert vector.norm == 1.0


def test_menu_counts_only_on_a_page_without_prose() -> None:
    scorer = Scorer(Topic(name="t", terms={"足球": 1.0}))
    menu = "足球 足球 篮球 足球"
    prose = "今天上午新的图书馆开放了，市民可以借阅各类图书，也可以参加讲座。" * 8
    assert len(prose) >= PROSE
    article = Page("http://a.test/1", "图书馆开放", f"{menu} {prose}", prose=prose)
    hub = Page("http://a.test/", "体育", menu, prose="更多")
    assert scorer.score_page(article).relevance == 0
    assert scorer.score_page(hub) == scorer.score_text(menu, "体育")


def test_long_text_is_scored_by_a_sample(scorer_for: Build) -> None:
    """Count all terms; estimate the length from a sample, to some percent."""
    scorer = scorer_for("新能源", "汽车", "vehicle")
    rng = random.Random(1)  # noqa: S311
    parts = [ON, OFF, "The city opened a new library on Monday. "]
    text = "".join(rng.choice(parts) for _ in range(600))
    page = scorer.page_vector(text)
    exact = sum(weight * page.get(term, 0.0) for term, weight in scorer.vector.items())
    assert len(text) > 3 * SAMPLED
    relevance = scorer.score_text(text).relevance
    assert relevance != exact / scorer.vector.norm
    assert relevance == pytest.approx(exact / scorer.vector.norm, rel=0.05)


def test_page_words_exclude_numbers_and_topic_terms(
    scorer_for: Build,
) -> None:
    scorer = scorer_for("新能源")
    text, title = "新能源补贴，electric vehicles in 2026，补贴", "Strikers"
    words = scorer.page_words(text, title)
    assert words == {"补贴", "electric", "vehicle", "striker"}
    assert words == {*scorer.page_vector(text, title)} - {"新能源"}


def test_cached_text_scores_as_a_new_one(
    scorer_for: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("topiccrawl.topics.scorer._CACHED_TEXTS", 3)
    texts = [ON, OFF, "汽车", ON, "新能源"]
    scorer = scorer_for("新能源", "汽车")
    alone = [scorer_for("新能源", "汽车").score_text(text).relevance for text in texts]
    assert scorer.score_many(texts) == scorer.score_many(texts) == pytest.approx(alone)
    assert scorer.score_many(texts[3:] + texts[:2]) == pytest.approx(alone[3:] + alone[:2])


def local_paper(number: int, text: str) -> Page:
    """Return a page of a newspaper that names its town on every page."""
    prose = f"Springfield Gazette, all the news of Springfield. {text} " + "Read more here. " * 15
    return Page(f"http://gazette.test/{number}", "Springfield Gazette", prose, prose=prose)


def test_term_on_every_page_of_a_site_stops_counting_there() -> None:
    topic = Topic(name="t", terms={"springfield": 1.0, "school": 1.0})
    scorer = Scorer(topic, sites=SiteWords())
    on, off = local_paper(1, "The school opened."), local_paper(2, "The bakery opened.")
    before = scorer.score_page(off)
    assert before.relevance > 0.2
    for number in range(200):
        scorer.observe(local_paper(number, "Something opened."))
    assert scorer.score_page(off).relevance < before.relevance / 4
    assert scorer.score_page(on).relevance > 2 * scorer.score_page(off).relevance
    elsewhere = off._replace(url="http://other.test/2")
    assert scorer.score_page(elsewhere) == before
    assert scorer.with_vector(scorer.vector).score_page(off) == scorer.score_page(off)


def test_terms_count_fully_on_a_site_about_the_topic() -> None:
    for terms in ({"springfield": 1.0}, {"springfield": 1.0, "gazette": 1.0}):
        scorer = Scorer(Topic(name="t", terms=terms), sites=SiteWords())
        page = local_paper(1, "The school opened.")
        before = scorer.score_page(page).relevance
        for number in range(200):
            scorer.observe(local_paper(number, "Something opened."))
        assert scorer.score_page(page).relevance == pytest.approx(before, rel=0.02)


def test_negative_term_counts_equally_on_all_sites() -> None:
    topic = Topic(name="t", terms={"springfield": 1.0}, negative={"lottery": 0.5})
    scorer = Scorer(topic, sites=SiteWords())
    page = local_paper(1, "The lottery opened.")
    before = dict(scorer.score_page(page).terms)
    for number in range(200):
        scorer.observe(local_paper(number, "Something opened."))
    after = dict(scorer.score_page(page).terms)
    assert after["lottery"] == pytest.approx(before["lottery"], rel=0.02) != 0.0
    assert after["springfield"] == pytest.approx(before["springfield"], rel=0.02)


def test_without_sites_nothing_is_counted() -> None:
    scorer = Scorer(Topic(name="t", terms={"springfield": 1.0}))
    page = local_paper(1, "")
    before = scorer.score_page(page)
    for _ in range(50):
        scorer.observe(page)
    assert scorer.score_page(page) == before


def test_list_of_headlines_is_relevant_but_not_harvested() -> None:
    scorer = Scorer(Topic(name="t", terms={"足球": 1.0}))
    headline = "国家足球队昨晚赢得了友谊赛的胜利"
    links = tuple(Link(f"http://a.test/{n}", f"{headline}{n}", block=0) for n in range(20))
    text = " ".join(link.anchor for link in links)
    hub = scorer.score_page(Page("http://a.test/", "足球", text, links, prose="足球 更多"))
    story = f"{headline}，比分是二比一。" * 20
    read = scorer.score_page(Page("http://a.test/1", headline, story, links[:2], prose=story))
    assert hub.relevance > 0.1
    assert hub.harvest < hub.relevance / 10
    assert read.harvest > read.relevance / 2


STORIES = {
    "both": "市中心医院启用了人工智能影像系统，医疗团队用它读片，患者的医疗费用也随之下降。",
    "concept": "一家创业公司发布了新的人工智能芯片，人工智能模型的训练因此更省电，订单不断。",
    "field": "新的医疗保险办法下月实施，社区医疗中心将延长门诊时间，医疗费用可以在线结算。",
    "neither": "本届音乐节在湖边的应用广场开幕，乐队演出到深夜，门票早在上周就已经售完。",
}


@pytest.mark.parametrize(
    "statement", ["人工智能在医疗中的应用", "人工智能在醫療領域的應用", "+人工智能 +医疗"]
)
def test_one_of_four_stories_matches_both_concepts(statement: str) -> None:
    scorer = Scorer(from_words(statement))
    relevant = [name for name, text in STORIES.items() if scorer.score_text(text).relevant]
    assert relevant == ["both"]


def test_more_matched_groups_score_higher_but_below_the_limit() -> None:
    scorer = Scorer(from_words("人工智能在医疗中的应用"))
    both, concept, field, neither = (scorer.score_text(text) for text in STORIES.values())
    assert both.relevance > scorer.lower_limit > concept.relevance > neither.relevance
    assert scorer.lower_limit > field.relevance > neither.relevance
    assert dict(concept.terms)["人工智能"] > 0


def test_one_word_of_a_subject_is_below_the_limit() -> None:
    scorer = Scorer(from_words("玻利维亚总统辞职"))
    two = scorer.score_text("玻利维亚的总统宣布了选举结果")
    one = scorer.score_text("总统，总统，还是总统")
    assert two.relevant
    assert not one.relevant
    assert two.relevance > scorer.lower_limit > one.relevance > 0
    assert one.for_links.relevance > scorer.lower_limit  # a list with one of the words
    assert with_links(one, 0.0, scorer.lower_limit).for_links == one.for_links


def test_fewest_terms_count_synonyms_as_their_term(scorer_for: Build) -> None:
    scorer = scorer_for("足球", "北京", min_terms=2, synonyms={"北京": ["首都"]})
    assert scorer.score_text("首都的足球比赛").relevant
    assert not scorer.score_text("首都北京").relevant


def test_group_is_matched_by_a_synonym_or_an_alternative(scorer_for: Build) -> None:
    scorer = scorer_for(all_of=[["足球", "篮球"], ["北京"]], synonyms={"北京": ["首都"]})
    assert scorer.score_text("首都的篮球比赛").relevant
    assert scorer.score_text("北京的足球比赛").relevant
    assert not scorer.score_text("足球与篮球比赛").relevant


def test_excluded_word_rejects_a_page(scorer_for: Build) -> None:
    scorer = scorer_for("足球", must_not=["彩票"])
    assert scorer.score_text("足球比赛").relevant
    assert scorer.score_text("足球彩票").relevance == 0.0
    assert scorer.score_text("足球比赛", "彩票开奖").relevance == 0.0
    assert (
        not scorer_for("足球", must_not=["彩票"], thresholds={"lower_limit": 0.0})
        .score_text("足球彩票")
        .relevant
    )
    anything = scorer_for("足球", must_not=["彩票"], thresholds={"lower_limit": 0.0})
    assert anything.score_text("音乐会").relevant
    assert not anything.score_text("彩票").relevant


@pytest.mark.parametrize(
    ("term", "languages", "forms", "others"),
    [
        (
            "электромобили", [],
            ["Электромобиль", "электромобилей", "электромобилями"], ["электричество", "мобильный"],
        ),
        ("wahl", ["de"], ["Die Wahlen", "Wahl"], ["Wahlkampfleiter"]),
        ("élection", ["fr"], ["les élections"], ["électricité"]),
    ],
)  # fmt: skip
def test_term_matches_its_inflected_forms(
    term: str, languages: list[str], forms: list[str], others: list[str], scorer_for: Build
) -> None:
    scorer = scorer_for(term, languages=languages)
    assert all(scorer.score_text(text).relevant for text in forms)
    assert not any(scorer.score_text(text).relevant for text in others)


def test_term_of_the_title_alone_is_scored() -> None:
    found = Scorer(Topic(name="t", terms={"football": 1})).score_text("", "football")
    assert found.relevance == pytest.approx(1.0)


@pytest.mark.parametrize("score", [0.0, 0.2])
def test_links_do_not_count_for_a_topic_without_a_limit(score: float) -> None:
    assert with_links(Verdict(score, relevant=True), 0.9, 0.0).relevance == score


def test_link_text_with_negative_words_alone_scores_zero() -> None:
    topic = Topic(name="t", terms={}, examples=("A text.",), negative={"advert": 1})
    assert Scorer(topic).score_many(["advert", "other"]) == [0.0, 0.0]


def test_threads_may_share_a_scorer() -> None:
    scorer = Scorer(from_words("足球"))
    measures = Measurer(scorer.vocabulary, shared_tokenizer(), corpus_idf()).measure("足球", "")
    pages = [Page("http://a.test/1", f"足球 {number}", "") for number in range(1000)]

    def record(start: int) -> None:
        for page in pages[start:] + pages[:start]:
            scorer.record(page, scorer.vocabulary, measures)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(record, range(0, 1000, 3)))
    finally:
        sys.setswitchinterval(interval)
