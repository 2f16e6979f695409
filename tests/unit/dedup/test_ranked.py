"""Tests of ``RankedKeywords``, which compares the ranked keywords of titles and bodies."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.dedup.factory import index_of
from topiccrawl.dedup.ranked import BODY, TITLE, RankCounts, RankedKeywords, blocks, count_agreeing
from topiccrawl.model import Article
from topiccrawl.text.digest import digest_of

words = st.lists(st.sampled_from("甲乙丙丁戊己庚辛壬癸"), max_size=10, unique=True)
TEXT = (
    "工信部发布新能源汽车销量数据，动力电池装机量同比增长，充电桩数量翻番，出口欧洲的车型占四成。"
)


def article(number: int, title: str, body: str) -> Article:
    return Article(f"http://a.test/{number}", title, body, digest=digest_of(body))


@given(words, words, st.sampled_from((TITLE, BODY, RankCounts(5, 2), RankCounts(4, 4))))
def test_articles_that_agree_in_enough_ranks_share_a_block(
    one: list[str], other: list[str], ranks: RankCounts
) -> None:
    one, other = one[: ranks.taken], other[: ranks.taken]
    if count_agreeing(one, other) >= ranks.agree:
        assert set(blocks("t", one, ranks)) & set(blocks("t", other, ranks))


def test_title_is_compared_before_the_body() -> None:
    method = RankedKeywords()
    title = "新能源汽车销量创新高，动力电池供应紧张"
    known = [article(1, "无关的标题", TEXT), article(2, title, "别的正文，讲的是另外一回事情。")]
    by_title = method.judge(article(3, title, TEXT), known)
    by_body = method.judge(article(4, "另一个题目", TEXT), known)
    assert by_title is not None
    assert (by_title.url, by_title.reason) == ("http://a.test/2", "ranked-title")
    assert by_body is not None
    assert (by_body.url, by_body.reason) == ("http://a.test/1", "ranked-body")


def test_word_at_the_first_rank_shifts_all_others() -> None:
    method = RankedKeywords(title=RankCounts(6, 4), body=RankCounts(10, 11))
    title = "新能源汽车销量创新高，动力电池供应紧张"
    known = [article(1, title, "")]
    rare = "哥斯达黎加哥斯达黎加哥斯达黎加"
    assert method.judge(article(2, rare + title, ""), known) is None


def test_method_learns_nothing() -> None:
    method = RankedKeywords()
    method.know([1])
    assert method.learn(article(1, "题", TEXT)) == ()
    assert method.keys(article(1, "", "")) == []


def test_index_finds_the_same_duplicates_as_a_scan() -> None:
    subjects = [
        f"{a}{b}" for a in ("电池", "汽车", "钢铁", "煤炭", "港口") for b in ("产能", "价格")
    ]
    titles = [
        f"{one}{verb}，{place}{other}{verb}"
        for one in subjects
        for other in subjects
        for verb in ("增长", "回落")
        for place in ("四川", "湖北", "广东")
    ]
    method = RankedKeywords()
    index, known = index_of(method), dict[int, Article]()
    scanned = found = 0
    for number, title in enumerate(titles, 1):
        new = article(number, title, "")
        keys = method.keys(new)
        by_index = method.judge(new, [known[n] for n in index.find(keys)])
        scanned += method.judge(new, known.values()) is not None
        found += by_index is not None
        index.add(number, keys)
        known[number] = new
    assert 0 < scanned < len(titles)
    assert found == scanned
