"""Factories of small recorded webs for tests."""

from __future__ import annotations

from topiccrawl.addons.simulate.collection import RecordedPage, RecordedWeb

HTML = (("Content-Type", "text/html; charset=utf-8"),)
SITE = "http://a.test"


def page(path: str, text: str, *links: str, marks: tuple[str, ...] = ()) -> RecordedPage:
    """Return a page; the anchor of each link is the last part of its URL."""
    anchors = " ".join(
        f'<p>see <a href="{link}">{link.rpartition("/")[2]}</a></p>' for link in links
    )
    body = f"<title>{text[:20]}</title><body><p>{text}</p>{anchors}".encode()
    return RecordedPage(f"{SITE}{path}", 200, HTML, body, marks)


def answer(path: str, status: int = 200, body: str = "", **headers: str) -> RecordedPage:
    """Return any other response."""
    return RecordedPage(f"{SITE}{path}", status, tuple(headers.items()), body.encode())


def web(*pages: RecordedPage) -> RecordedWeb:
    return RecordedWeb(pages)
