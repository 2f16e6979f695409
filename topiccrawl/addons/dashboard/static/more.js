// Sections that change slowly, fetched every few seconds: reprint chains, topic changes, patterns.
import { path } from "./crawl.js";
import { at, fill, get, h, link } from "./dom.js";
import { moment, number, percent, t } from "./words.js";

const EVERY = 6000;
let last = null;

export async function look() {
  try { last = await get(path("api/more")); show(); } catch { /* the event stream reports that the server is unavailable */ }
}
export function begin() {
  look();
  setInterval(() => { if (!document.hidden) look(); }, EVERY);
}
export function show() {
  if (!last) return;
  fill("chain-rows", last.chains.length ? last.chains.map(chain) : h("p", { class: "empty" }, t("noChains")));
  at("learnt-rows").hidden = !last.learnt.length;
  fill("learnt-rows", last.learnt.map(([term, weight]) => h("span", { class: "chip learnt", title: `${t("learnt")} · ${weight}` }, term)));
  fill("term-history", last.changes.map(change));
  fill("pattern-rows", last.patterns?.length ? last.patterns.map(site) : h("p", { class: "empty" }, t("noPatterns")));
}
function chain({ article, reprints, reprinted }) {
  const more = reprinted > 6 ? h("span", {}, `+${number(reprinted - 6)}`) : null;
  return h("div", { class: "chain" },
    h("p", { class: "title" }, link(article.url, article.title || article.url)),
    h("p", { class: "links" }, link(article.url, article.site, { class: "first" }),
      reprints.slice(0, 6).map((one) => [h("span", {}, "→"), link(one.url, `${one.site} ${percent(one.similarity)}`)]).flat(), more));
}
function change(one) {
  const came = one.came.map((term) => `+${term}`), went = one.went.map((term) => `−${term}`);
  return h("li", { title: one.reason }, h("b", {}, `${one.number}`), ` · ${moment(one.at)} · ${t("nPages", number(one.pages))}  `,
    h("span", { class: "up" }, came.join(" ")), " ", h("span", { class: "down" }, went.join(" ")));
}
function site(one) {
  const state = `${t(one.ready ? "filters" : "learns")} · ${t("judged", number(one.pages))}`;
  const dropped = one.dropped ? ` · ${t("filed", number(one.dropped))}` : "";
  return h("div", { class: "site" }, h("p", {}, one.site, h("span", {}, state + dropped)),
    one.patterns.map(({ label, expression, seen }) => h("div", { class: "pattern" },
      h("span", { class: `tag ${label}` }, t(label === "other" ? "otherPage" : label)), h("code", { title: expression }, expression),
      h("span", { class: "label" }, number(seen)))));
}
