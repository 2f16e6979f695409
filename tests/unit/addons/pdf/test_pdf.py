"""Tests of reading PDF files as pages."""

from __future__ import annotations

import asyncio

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from topiccrawl.addons.pdf.middleware import PdfMiddleware, check_pdf, page_of
from topiccrawl.errors import SettingError
from topiccrawl.extract.extract import extract
from topiccrawl.links.page import read_page
from topiccrawl.links.traps import TrapRules, trap
from topiccrawl.scheduler.build import traps_of

URL = "http://a.test/report.pdf"
LINES = (
    "老城区三座旧桥年内大修",
    "2026年9月14日 市政工程处",
    "市政工程处昨天宣布，老城区的三座旧桥将在年内大修。第一座是",
    "建于1931年的石拱桥，石料已经风化，栏杆有多处裂缝。",
    "大修期间车辆绕行河东路，行人可以走浮桥。工程处说，浮桥每天",
    "早上六点开放，晚上十点关闭，遇到大风时停用。",
    "三座桥的预算一共是2400万元，工期为十一周。附近居民希望工程",
    "不要影响孩子上学，工程处答应在校门口增派引导员。",
)


def made_pdf(
    pages: list[tuple[str, ...]], title: str = "", made: str = "", large: tuple[str, ...] = ()
) -> bytes:
    """Return a PDF file with these lines, letters coded by their code point, some in large type."""
    letters = sorted({letter for page in pages for line in page for letter in line})
    codes = "\n".join(f"<{ord(one):04X}> <{ord(one):04X}>" for one in letters)
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def "
        "1 begincodespacerange <0000> <FFFF> endcodespacerange "
        f"{len(letters)} beginbfchar\n{codes}\nendbfchar endcmap end end"
    )
    kids = [5 + 2 * number for number in range(len(pages))]
    about = f"<FEFF{title.encode('utf-16-be').hex()}>"
    objects = {
        1: "<< /Type /Catalog /Pages 2 0 R >>",
        2: f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(f'{k} 0 R' for k in kids)}] >>",
        3: "<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /ToUnicode 4 0 R "
        "/DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /DW 1000 "
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>] >>",
        4: f"<< /Length {len(cmap)} >>\nstream\n{cmap}\nendstream",
    }
    for kid, page in zip(kids, pages, strict=True):
        shown = " ".join(
            f"/F {24 if line in large else 12} Tf <{line.encode('utf-16-be').hex()}> Tj 0 -20 Td"
            for line in page
        )
        text = f"BT 50 800 Td {shown} ET"
        objects[kid] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 850] /Contents {kid + 1} 0 R "
            "/Resources << /Font << /F 3 0 R >> >> >>"
        )
        objects[kid + 1] = f"<< /Length {len(text)} >>\nstream\n{text}\nendstream"
    last = max(objects) + 1
    objects[last] = f"<< /Title {about} /CreationDate (D:{made}) >>"
    data, places = b"%PDF-1.7\n", {}
    for number in sorted(objects):
        places[number] = len(data)
        data += f"{number} 0 obj\n{objects[number]}\nendobj\n".encode("latin-1")
    table = "".join(f"{places[number]:010} 00000 n \n" for number in sorted(objects))
    start = len(data)
    data += f"xref\n0 {last + 1}\n0000000000 65535 f \n{table}".encode()
    return (
        data
        + (
            f"trailer << /Size {last + 1} /Root 1 0 R /Info {last} 0 R >>\n"
            f"startxref\n{start}\n%%EOF"
        ).encode()
    )


def read(data: bytes, most_bytes: int = 1_000_000, pages: int = 20) -> tuple[Response, list[str]]:
    limits = {"TOPICCRAWL_PDF_PAGES": pages, "TOPICCRAWL_PDF_BYTES": most_bytes}
    crawler = get_crawler(settings_dict={"TOPICCRAWL_PDF": True, **limits})

    async def act() -> Response:
        middleware = PdfMiddleware.from_crawler(crawler)
        answer = Response(URL, headers={"Content-Type": "application/pdf"}, body=data)
        return await middleware.process_response(Request(URL), answer)

    response = asyncio.run(act())
    return response, [name.rpartition("/")[2] for name in crawler.stats.get_stats()]


def test_file_is_an_article_with_title_day_and_paragraphs() -> None:
    response, counted = read(made_pdf([LINES]))
    assert counted == ["read"]
    assert isinstance(response, HtmlResponse)
    found = extract(response.text, URL, read_page(response.text, URL))
    assert found is not None
    assert found.title == LINES[0]
    assert found.published.startswith("2026-09-14")
    assert "第一座是建于1931年的石拱桥" in found.body


def test_title_and_day_fall_back_to_the_metadata() -> None:
    response, _ = read(made_pdf([LINES[2:]], "旧桥大修", "20260913080000Z"))
    found = extract(response.text, URL, read_page(response.text, URL))
    assert found is not None
    assert (found.title, found.published[:10]) == ("旧桥大修", "2026-09-13")


@pytest.mark.parametrize(
    "stated", ["", "905_Notice_final", "10811.exe", "162..177", "Microsoft Word - notice 7.doc"]
)
def test_headline_is_the_largest_type_below_a_letterhead(stated: str) -> None:
    large = ("三座旧桥年内", "大修计划公布")
    page: tuple[str, ...] = ("河西市市政工程处", "新闻稿", *large, *LINES[1:])
    response, _ = read(made_pdf([page], stated, large=large))
    found = extract(response.text, URL, read_page(response.text, URL))
    assert found is not None
    assert found.title == "三座旧桥年内大修计划公布"
    assert found.published.startswith("2026-09-14")
    assert "大修计划公布" not in found.body


def test_unreadable_page_is_skipped() -> None:
    data = made_pdf([LINES, LINES[2:]])
    begin = data.index(b"6 0 obj\n<< /Length")
    broken = data[:begin] + data[begin:].replace(b"/Length", b"/Filter /None /Length", 1)
    response, counted = read(broken)
    assert counted == ["read"]
    assert "浮桥每天早上六点开放".encode() in response.body


def test_file_with_unmapped_fonts_is_not_read() -> None:
    _, counted = read(made_pdf([("ୈ ࡾ߸தủؚΉỐθỨΛ ͖ỏҎԼ͜ͷ৚ʹ͓ ߲ͷදͷՐ",)]))
    assert counted == ["unread"]


def test_numbered_headers_are_removed_and_table_rows_kept() -> None:
    pages = [
        [f"市政公报 2026 第{n}期 {n}", line, f"06/{10 + n}/2026"] for n, line in enumerate(LINES)
    ]
    page = page_of("旧桥大修", "", pages)
    assert "市政公报" not in page
    assert "06/11/2026" in page


def test_ligatures_and_radicals_become_plain_letters() -> None:
    page = page_of("Conﬂict", "", [["⽼城⼈⼝ work-family conﬂict", LINES[2]]])
    assert "老城人口 work-family conflict" in page
    assert "<h1>Conflict</h1>" in page


@pytest.mark.parametrize(
    ("data", "counted"),
    [
        (b"%PDF-1.7\nnothing of a file", ["unread"]),
        (b"<html>no file</html>", []),
        (b"%PDF-" + b"x" * 2_000_000, ["too_large"]),
    ],
)
def test_unreadable_file_is_passed_on_and_counted(data: bytes, counted: list[str]) -> None:
    response, output = read(data)
    assert response.body == data
    assert output == counted


def test_pages_beyond_the_limit_are_left_out() -> None:
    response, _ = read(made_pdf([LINES, LINES[2:4], LINES[4:]]), pages=1)
    whole, _ = read(made_pdf([LINES[:4], LINES[4:6], LINES[6:]]))
    assert b"2400" in whole.body
    assert response.body.count("石拱桥".encode()) == 1


def test_headers_footers_and_page_numbers_are_removed() -> None:
    pages = [["市政公报", line, "第 3 页"] for line in LINES[2:]]
    page = page_of("旧桥大修", "", pages)
    assert "市政公报" not in page
    assert "第 3 页" not in page


def test_links_to_pdf_files_are_followed_only_if_enabled() -> None:
    assert trap(URL, TrapRules()) == "file-type"
    rules = traps_of(Settings({"TOPICCRAWL_TRAPS_ENABLED": True, "TOPICCRAWL_PDF": True}))
    assert trap(URL, rules) is None


def test_limits_are_checked_before_a_crawl() -> None:
    with pytest.raises(SettingError, match="TOPICCRAWL_PDF_PAGES"):
        check_pdf(Settings({"TOPICCRAWL_PDF": True, "TOPICCRAWL_PDF_PAGES": 0}))
    check_pdf(Settings({"TOPICCRAWL_PDF": False, "TOPICCRAWL_PDF_PAGES": 0}))
