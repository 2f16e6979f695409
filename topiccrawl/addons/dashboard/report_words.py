"""Style of a report, and its texts."""

from __future__ import annotations

from topiccrawl.text.messages import message

WORDS = {
    "harvest": message("Harvest rate"),
    "pages": message("Pages"),
    "relevant": message("On topic"),
    "hubs": message("Of these, lists of articles"),
    "new": message("New articles"),
    "stored": message("Articles stored"),
    "reprints": message("Reprints"),
    "queued": message("URLs queued"),
    "failed": message("URLs failed"),
    "time": message("Time"),
    "goes-on": message("goes on"),
    "recent": message("last 100 pages"),
    "mean": message("running mean"),
    "gain": message("Found by pages fetched"),
    "host": message("Host"),
    "worth": message("On topic"),
    "score": message("Score"),
    "title": message("Title"),
    "site": message("Site"),
    "published": message("Published"),
    "terms": message("Terms"),
    "reason": message("Reason"),
    "urls": message("URLs"),
    "none": message("Nothing."),
    "harvest-title": message("Harvest"),
    "why-title": message("Why nothing on topic was found"),
    "sites-title": message("Sites"),
    "articles-title": message("Articles"),
    "chains-title": message("Duplicates"),
    "errors-title": message("Errors by reason"),
    "changes-title": message("Topic changes"),
}
"""Texts in English, by name; the catalogue of messages has them in other languages."""

STYLE = """
:root{--ground:#f6f6f3;--card:#fff;--ink:#1c2124;--soft:#5f696f;--line:#e6e6e0;--accent:#0f766e;
--mean:#8a5a12;--good:#2a7a52;--bad:#b4483a}
@media (prefers-color-scheme:dark){:root{--ground:#101315;--card:#181c1f;--ink:#e7eaeb;
--soft:#98a2a8;--line:#272d31;--accent:#3cc4b4;--mean:#e0b060;--good:#5cc08c;--bad:#e4796a}}
*{box-sizing:border-box}body{margin:0 auto;max-width:960px;padding:28px 20px 48px;
background:var(--ground);color:var(--ink);font:14px/1.55 ui-sans-serif,system-ui,"PingFang SC",
"Microsoft YaHei","Noto Sans CJK SC",sans-serif;font-variant-numeric:tabular-nums}
h1{font-size:28px;margin:0;letter-spacing:-.01em}h2{font-size:15px;margin:0 0 12px}
h3{font-size:13px;color:var(--soft);margin:18px 0 6px}p{margin:0}a{color:inherit;
text-decoration-color:var(--line);text-underline-offset:3px}header{margin-bottom:20px}
header p:first-child,.soft{color:var(--soft);font-size:12.5px;overflow-wrap:anywhere}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:0;font-size:12.5px}
section{background:var(--card);border:1px solid var(--line);border-radius:14px;padding:18px 20px;
margin-bottom:16px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(124px,1fr));gap:14px 18px}
.tiles p{color:var(--soft);font-size:12.5px}.tiles b{font-size:22px;font-weight:640;
letter-spacing:-.02em}.legend{display:flex;gap:18px;font-size:12.5px;color:var(--soft)}
.legend span::before{content:"";display:inline-block;width:14px;height:3px;border-radius:2px;
margin:0 6px 3px 0;background:var(--accent)}.legend .mean::before{background:var(--mean)}
svg{width:100%;height:auto;display:block}text{font-size:11px;fill:var(--soft)}
.grid{stroke:var(--line);fill:none}polyline{fill:none;stroke-width:2;stroke-linejoin:round}
polyline.recent{stroke:var(--accent)}polyline.mean{stroke:var(--mean);stroke-dasharray:6 4}
.fill{fill:var(--accent);opacity:.12}.scroll{overflow-x:auto}
table{width:100%;border-collapse:collapse;font-size:13px}th{text-align:left;color:var(--soft);
font-weight:550;font-size:12px;padding:5px 14px 5px 0;white-space:nowrap}td{padding:5px 14px 5px 0;
border-top:1px solid var(--line);vertical-align:top}td:last-child,th:last-child{padding-right:0}
.bar{display:inline-block;width:64px;height:5px;fill:var(--accent);vertical-align:middle;
border-radius:3px}.bar .rest{fill:var(--line)}ul{list-style:none;margin:0;padding:0}
li{padding:8px 0;border-top:1px solid var(--line)}li:first-child{border-top:0;padding-top:0}
td:last-child{white-space:nowrap}main section{scroll-margin:12px}
.came{color:var(--good)}.went{color:var(--bad)}
@media (max-width:640px){body{padding:18px 12px 32px}section{padding:15px}
svg[role=img]{min-width:600px}.tiles{grid-template-columns:repeat(2,1fr)}td,th{padding-right:10px}}
@media print{body{background:#fff}section{break-inside:avoid}}
"""
