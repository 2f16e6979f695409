"""Style of a report, and its texts in each language."""

from __future__ import annotations

WORDS: dict[str, dict[str, str]] = {
    "en": {
        "harvest": "Harvest rate", "pages": "Pages", "relevant": "On topic",
        "hubs": "Of these, lists of articles",
        "new": "New articles", "stored": "Articles stored", "reprints": "Reprints",
        "queued": "URLs queued", "failed": "URLs failed", "time": "Time", "goes-on": "goes on",
        "recent": "last 100 pages", "mean": "running mean", "gain": "Found by pages fetched",
        "host": "Host", "worth": "On topic", "score": "Score",
        "title": "Title", "site": "Site", "published": "Published", "terms": "Terms",
        "reason": "Reason", "urls": "URLs", "none": "Nothing.",
        "harvest-title": "Harvest", "why-title": "Why nothing on topic was found",
        "sites-title": "Sites", "articles-title": "Articles",
        "chains-title": "Duplicates", "errors-title": "Errors by reason",
        "changes-title": "Topic changes",
    },
    "zh": {
        "harvest": "收获率", "pages": "网页", "relevant": "切题", "hubs": "其中文章列表",
        "new": "新文章",
        "stored": "已存文章", "reprints": "转载", "queued": "待抓网址", "failed": "失败网址",
        "time": "用时", "goes-on": "进行中", "recent": "最近 100 页", "mean": "累计均值",
        "gain": "随抓取页数的收获", "host": "主机", "worth": "切题",
        "score": "得分", "title": "标题", "site": "站点", "published": "发布时间",
        "terms": "主题词", "reason": "原因", "urls": "网址", "none": "无。",
        "harvest-title": "收获", "why-title": "为何没有切题的内容",
        "sites-title": "站点", "articles-title": "文章",
        "chains-title": "重复与转载", "errors-title": "错误原因", "changes-title": "主题变化",
    },
}  # fmt: skip

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
