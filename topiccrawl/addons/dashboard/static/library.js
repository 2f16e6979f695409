// Stored articles of all topics: search, filters, reading, marks and exports.
import { at, fill, get, h, link, post } from "./dom.js";
import { begin } from "./shell.js";
import { day, number, percent, t } from "./words.js";

const PAGE = 50, KINDS = ["xlsx", "csv", "jsonl", "html", "md"];
const asked = new URLSearchParams(location.search);
let found = null, articles = [], generation = 0;

const query = (more = {}) => new URLSearchParams([...Object.entries({ ...Object.fromEntries(asked), ...more })].filter(([, value]) => value !== "")).toString();

async function search(offset = 0) {
  const mine = ++generation;
  try {
    const next = await get(`api/library?${query({ offset, limit: PAGE })}`);
    if (mine !== generation) return;
    found = next;
    articles = offset ? [...articles, ...next.articles] : next.articles;
  } catch (error) {
    if (mine !== generation) return;
    at("stored").textContent = error.message;
    if (!offset) { fill("rows"); at("more").hidden = true; }  // the rows are those of the last search
    return;
  }
  show();
}
function filter(name, value) {
  if (value) asked.set(name, value); else asked.delete(name);
  history.replaceState(null, "", `?${asked}`);
  at("reading").hidden = true;
  search();
  doubtful();
}
function facet(name) {
  const values = found.facets[name], chosen = asked.get(name) ?? "", rarer = found.values[name] - values.length;
  if (!values.length && !chosen) return null;
  const one = (value, label, n) => h("button", { type: "button", class: "facet", "aria-pressed": String(value === chosen), onclick: () => filter(name, value) }, label, n === undefined ? null : h("b", {}, number(n)));
  const shown = chosen && !values.some(([value]) => value === chosen) ? [[chosen], ...values] : values;
  return h("div", { role: "group", "aria-label": t(`facet-${name}`) }, h("p", { class: "name" }, t(`facet-${name}`)), one("", t("all")), shown.map(([value, n, title]) => one(value, title || value, n)),
    rarer > 0 ? h("span", { class: "aside" }, t("rarer", number(rarer))) : null);
}
// Highlights the search words and the topic's terms; the text stays text nodes.
function marked(text, words) {
  const wanted = words.filter(Boolean).sort((a, b) => b.length - a.length);
  if (!wanted.length) return [text];
  const pattern = new RegExp(`(${wanted.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "gi");
  return text.split(pattern).map((part, i) => (i % 2 ? h("mark", {}, part) : part));
}
const words = (one) => [...(asked.get("q") ?? "").split(/\s+/), ...one.terms.map(([term]) => term)];

function marks(one) {
  const topic = asked.get("topic") || one.topics?.[0];
  const status = h("span", { class: "aside", role: "status" });
  const set = async (wanted) => {
    try {
      one.mark = (await post("api/marks", { topic, url: one.url, wanted })).mark;
      status.textContent = t("marked");
      for (const button of group.querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.dataset.mark === said(one.mark)));
    } catch (error) { status.textContent = t("notMarked", error.message); }
  };
  const group = h("p", { class: "marks", role: "group", "aria-label": t("wanted") }, ["yes", "no", "unsure"].map((name) =>
    h("button", { type: "button", "data-mark": name, "aria-pressed": String(said(one.mark) === name), onclick: () => set(name === "unsure" ? "none" : name) }, t(name))), status);
  return topic ? group : null;
}
const said = (mark) => (mark === true ? "yes" : mark === false ? "no" : "");

function row(one) {
  const meta = [one.site, day(one.published), one.author].filter(Boolean).join("  ·  ");
  return h("article", { class: "found" },
    h("h3", {}, h("button", { type: "button", class: "open", onclick: () => read(one) }, marked(one.title || one.url, words(one)))),
    h("p", { class: "aside" }, h("b", {}, one.score.toFixed(2)), "  ·  ", h("bdi", {}, meta)),
    h("p", { class: "snippet" }, marked(one.text, words(one))), marks(one));
}
async function read(brief) {
  let one;
  try { one = await get(`api/article?url=${encodeURIComponent(brief.url)}&topic=${encodeURIComponent(asked.get("topic") ?? "")}`); } catch (error) {
    at("stored").textContent = error.message;  // it was deleted, or the store is away
    return;
  }
  const text = one.body ? one.body.split("\n").map((part) => h("p", {}, marked(part, words(one)))) : h("p", { class: "empty" }, t("noText"));
  const about = [one.site, one.published.replace("T", " "), one.author, one.source, one.versions ? t("versions", number(one.versions)) : ""].filter(Boolean).join("  ·  ");
  fill("reading", h("div", { class: "head" }, h("h2", {}, one.title || one.url), h("button", { type: "button", class: "tool", onclick: () => { at("reading").hidden = true; } }, t("close"))),
    h("p", { class: "aside" }, h("bdi", {}, about)), h("p", {}, link(one.url, t("original"), { class: "original" }), h("span", { id: "copies" }),
      one.event ? h("button", { type: "button", class: "facet", onclick: () => filter("event", one.event) }, t("sameEvent")) : null),
    marks({ ...one, topics: Object.keys(one.topics) }), h("div", { class: "text" }, text),
    one.reprints.length ? h("p", { class: "links" }, one.reprints.slice(0, 20).map((copy) => link(copy.url, copy.site))) : null);
  at("reading").hidden = false;
  at("reading").focus();
  copies(one.url);
}
// Link to the last archived copy, which the server shows without scripts and requests.
async function copies(url) {
  const where = `url=${encodeURIComponent(url)}`;
  let known = [];
  try { known = await get(`api/copies?${where}`); } catch { /* the server has no routes of archives */ }
  const day = known[0]?.replace(/^(\d{4})(\d\d)(\d\d).*/, "$1-$2-$3");
  if (day && at("copies")) fill("copies", h("a", { href: `api/copy?${where}&at=${known[0]}`, class: "original", target: "_blank", rel: "noopener noreferrer" }, t("copy", day)));
}
function outs() {
  const topic = asked.get("topic") ?? "", name = topic || "articles";
  fill("exports", KINDS.map((kind) => h("a", { class: "tool", href: `api/export/${encodeURIComponent(name)}.${kind}?${query()}`, download: "" }, `.${kind}`)));
  fill("feeds", topic ? [["atom", "Atom"], ["json", "JSON"]].map(([kind, label]) => h("a", { class: "tool", href: `feed/${encodeURIComponent(topic)}.${kind}` }, label)) : "–");
}
async function doubtful() {
  const topic = asked.get("topic") ?? "";
  let pages = [];
  try { if (topic) pages = await get(`api/doubtful?topic=${encodeURIComponent(topic)}`); } catch { /* no pages were scored for the topic */ }
  at("doubtful").hidden = !pages.length;
  fill("doubtful-rows", pages.map((one) => h("article", { class: "found" }, h("h3", {}, link(one.url, one.title || one.url)),
    h("p", { class: "aside" }, t("chance", percent(one.chance))), marks({ ...one, topics: [topic] }))));
}
function show() {
  if (!found) return;
  at("stored").textContent = t(found.more ? "foundMore" : "found", number(found.total));
  fill("facets", ["topic", "site", "day", "event"].map(facet), found.more ? h("p", { class: "aside" }, t("counted", number(found.counted))) : null);
  fill("rows", articles.length ? articles.map(row) : h("p", { class: "empty" }, t("none")));
  at("more").hidden = articles.length >= found.total;
  outs();
}
at("q").value = asked.get("q") ?? "";
at("form").addEventListener("submit", (event) => { event.preventDefault(); filter("q", at("q").value.trim()); });
at("more").addEventListener("click", () => search(articles.length));
begin(() => { show(); doubtful(); });
search();
doubtful();
