// List of all crawls and tasks, with their states and the reasons why they ended.
import { at, fill, get, h } from "./dom.js";
import { begin } from "./shell.js";
import * as tasks from "./tasks.js";
import { has, moment, number, t } from "./words.js";

const EVERY = 5000;
const TONES = { runs: "--good", paused: "--normal", ended: "--crawled", failed: "--error", dead: "--error" };
let last = null;

function reason({ reason: why, state, seen }) {
  if (state === "dead") return t("why-dead", moment(seen));
  for (const name of [`why-${why}`, `end-${why}`]) if (why && has(name)) return t(name);
  return why;
}
function row(one) {
  const cell = (key, value, kind = "") => h("td", { class: kind, "data-th": t(key) }, value);
  const address = `crawl?crawl=${encodeURIComponent(one.frontier)}`;
  return h("tr", {},
    h("td", { class: "main" }, h("a", { href: address, title: one.frontier }, one.topic || one.frontier)),
    cell("site", one.site || (one.hosts ? t("sitesOf", number(one.hosts)) : "")),
    cell("stateOf", h("span", { class: "chip", style: { "--tone": `var(${TONES[one.state]})` } }, h("i"), t(`state-${one.state}`))),
    cell("pages", number(one.pages)), cell("relevant", number(one.relevant)), cell("stories", number(one.articles)),
    cell("seen", moment(one.seen)), cell("ended-why", reason(one), ["failed", "dead"].includes(one.state) ? "long bad" : "long"));
}
function show() {
  if (!last) return;
  at("notice").hidden = last.length > 0;
  at("notice").textContent = t("nothingYet");
  at("crawls").hidden = !last.length;
  const heads = ["topic", "site", "stateOf", "pages", "relevant", "stories", "seen", "ended-why"];
  fill("crawl-head", h("tr", {}, heads.map((key) => h("th", { scope: "col" }, t(key)))));
  fill("crawl-rows", last.map(row));
}
async function look() {
  try { last = await get("api/crawls"); show(); } catch { /* the server is unavailable: keep the last list */ }
}
begin(() => { show(); tasks.show(); });
look();
tasks.begin();
setInterval(() => { if (!document.hidden) look(); }, EVERY);
