"""Two editions of a demo web."""

from __future__ import annotations

import pytest

from lab.demo import generate
from lab.demo.changes import Changing
from lab.demo.plan import Kind


@pytest.fixture(scope="module")
def changing() -> Changing:
    return Changing(generate(3, 240, traps=False, faults=False), each=4)


def test_what_changes_is_what_it_says(changing: Changing) -> None:
    before, after = changing.editions
    new, changed, gone = changing.changes
    assert {len(part) for part in changing.changes} == {4}
    assert [before.answer(url).status for url in new] == [404] * 4
    assert {after.answer(url).status for url in new} == {200}
    assert {after.answer(url).status for url in gone} <= {404, 410}
    for url in changed:
        assert before.truth[url].body != after.truth[url].body
        assert before.truth[url].title == after.truth[url].title


def test_pages_differ_only_where_they_or_their_links_do(changing: Changing) -> None:
    before, after = changing.editions
    touched = {url for part in changing.changes for url in part}
    differ = 0
    for number, entry in enumerate(before.plan.entries):
        one, other = before.answer(entry.url), after.answer(entry.url)
        if entry.url in touched or one.body == other.body:
            assert entry.url in touched or one.headers == other.headers
            continue
        differ += 1
        assert set(before.linkage.followed(number)) != set(after.linkage.followed(number))
    assert 0 < differ < len(before.plan.entries) / 2


def test_no_page_links_to_what_is_absent_and_every_page_has_a_validator(changing: Changing) -> None:
    for web in changing.editions:
        linked = {n for m in range(len(web.plan.entries)) for n in web.linkage.followed(m)}
        assert web.plan.absent
        assert not linked & web.plan.absent
        names = {"ETag", "Last-Modified"}
        articles = (e.url for e in web.plan.entries if e.kind == Kind.ARTICLE)
        found = [dict(web.answer(url).headers) for url in articles if web.answer(url).status == 200]
        assert all(len(names & headers.keys()) == 1 for headers in found)
        assert {next(iter(names & headers.keys())) for headers in found} == names
