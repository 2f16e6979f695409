// Cards of the page; each is drawn from one section of the state.
import { at, bar, fill, h, link, put } from "./dom.js";
import { clock, moment, number, percent, say, t } from "./words.js";

const QUEUES = ["prior", "normal", "leased", "crawled", "error"];
const TONES = { fetching: "--leased", ready: "--good", waiting: "--normal", robots: "--crawled", failing: "--error", idle: "--faint" };

export function tiles({ totals, run, series }) {
  const { pages, relevant, recent, hubs = 0 } = totals;
  const mean = pages ? relevant / pages : 0;
  const points = series.points, last = points.at(-1), back = points.at(-Math.min(points.length, 11));
  const rate = last && last[0] > back[0] ? (last[1] - back[1]) / (last[0] - back[0]) : 0;
  const tile = (label, value, unit, note, kind = "") =>
    h("div", { class: `tile ${kind}` }, h("p", { class: "label" }, label),
      h("p", { class: "value" }, value, unit ? h("small", {}, unit) : null), h("p", { class: "note" }, note));
  const [whole, part] = (100 * recent).toFixed(1).split(".");
  fill("tiles",
    tile(`${t("harvest")} · ${t("recent")}`, whole, `.${part}%`, t("meanIs", percent(mean, 1)), "first"),
    tile(t("pages"), number(pages), "", t("perSecond", run.finished ? (pages / Math.max(1, run.seconds)).toFixed(1) : rate.toFixed(1))),
    tile(t("relevant"), number(relevant), "", hubs ? t("kinds", number(relevant - hubs), number(hubs)) : t("ofPages", percent(mean, 1))),
    tile(t("stories"), number(totals.articles), "", t("reprints", number(totals.duplicates))),
    tile(t(run.finished ? "took" : "time"), clock(run.seconds), "", run.began ? t("since", moment(run.began)) : ""));
}
const FAILURES = ["storage_error", "store-failed", "state_error", "setting_error", "start_error", "seeds_unreachable", "processing_failed", "discovery_failed"];
// Nodes that neither finished nor report: killed or disconnected.
const silent = (nodes) => Boolean(nodes?.length) && nodes.every(({ live, run }) => !live && !run.finished);

export function heading({ run, waiting, nodes }, connected) {
  const empty = !run.id;
  put(at("topic"), empty ? t("notBegun") : run.topic);
  at("topic").title = run.topic;
  put(at("version"), run.version);
  at("to-articles").href = empty ? "articles" : `articles?topic=${encodeURIComponent(run.topic)}`;
  document.title = `${run.topic} · topiccrawl`;
  const dead = silent(nodes), over = Boolean(run.finished);
  const failed = over && !dead && FAILURES.includes(run.reason), goes = waiting.reason === "store-away" && waiting.seconds < 5;
  const why = dead ? "dead" : failed ? run.reason : over ? "" : waiting.reason;
  const bad = dead || failed || !connected || ["redis-away", "store-away", "failing"].includes(why);
  const word = empty ? "none" : dead ? "dead" : over ? "ended" : !connected ? "lost" : why && !goes ? "waiting" : "runs";
  const state = at("state"), notice = at("notice");
  state.className = `state ${over && !dead && !failed ? "" : bad ? "broken" : why ? "waits" : "runs"}`;
  put(state.lastElementChild, t(word));
  notice.hidden = !(why || empty) || !connected;
  notice.className = `notice ${bad ? "broken" : ""}`;
  put(notice.firstElementChild, empty ? t("nothingYet") : t(`why-${why}`, moment(run.finished)));  // screen readers announce this part once; the counter below is not announced
  const detail = waiting.detail ? ` (${waiting.detail})` : "", quiet = waiting.seconds >= 5 ? ` · ${t("quiet", waiting.seconds.toFixed(0))}` : "";
  put(notice.lastElementChild, over ? "" : detail + quiet);
  fill("foot", h("span", {}, `${t("strategy")} ${run.strategy}`), h("span", {}, run.node), h("span", {}, run.frontier),
    h("a", { href: "metrics" }, t("metrics")), h("a", { href: "api/openapi.json" }, t("api")));
}
// Why nothing was found: shown if pages were fetched or seeds failed, and no page is on topic.
export function review({ review: met, totals }) {
  const shown = Boolean(met?.seeds) && !totals.relevant && (met.best.length || met.seeds.some((one) => one.queue === "error"));
  at("why").hidden = !shown;
  if (!shown) return;
  const result = (one) => (one.queue === "error" ? one.reason : one.relevance !== null ? t("relevanceIs", one.relevance.toFixed(3)) : t("notFetched"));
  const list = (title, rows) => (rows.length ? h("div", {}, h("h3", {}, title), h("ul", {}, rows.map((row) => h("li", {}, row)))) : null);
  fill("why-rows", [
    list(t("whySeeds"), met.seeds.map((one) => [h("bdi", {}, one.url), ` · ${result(one)}`])),
    list(t("whyBest", met.threshold.toFixed(3)), met.best.map(([score, url, title]) => [`${score.toFixed(3)} · `, link(url, title || url)])),
    list(t("whyMet"), Object.entries(met.met).sort((a, b) => b[1] - a[1]).slice(0, 12).map(([term, n]) => `${term} · ${t("nPages", number(n))}`)),
    list(t("whyNever"), met.never.slice(0, 12)),
    list(t("whyHosts"), Object.entries(met.hosts).map(([reason, hosts]) => `${reason} · ${hosts.join(", ")}`)),
  ].filter(Boolean));
}
export function queues({ queues: sizes, errors }) {
  const most = Math.max(1, ...QUEUES.map((name) => sizes[name]));
  const width = (n) => (n ? Math.max(0.01, n / most) : 0);
  fill("queue-rows", QUEUES.map((name) => h("div", { class: "queue", style: { "--tone": `var(--${name})` } },
    h("span", { class: "what" }, h("i"), t(name)), bar(width(sizes[name])), h("b", {}, number(sizes[name])))));
  at("known").textContent = t("known", number(sizes.known));
  const reasons = Object.entries(errors).sort((a, b) => b[1] - a[1]).slice(0, 8), top = Math.max(1, ...Object.values(errors));
  at("error-rows").hidden = !reasons.length;
  fill("error-rows", h("h3", {}, t("reasons")), reasons.map(([reason, n]) => h("div", { class: "reason" }, h("span", {}, reason), bar(n / top), h("b", {}, number(n)))));
}
export function hosts({ hosts: { states, list } }) {
  fill("host-states", Object.entries(states).filter(([, n]) => n).map(([name, n]) =>
    h("span", { class: "chip", style: { "--tone": `var(${TONES[name]})` } }, h("i"), t(name), h("b", {}, number(n)))));
  const heads = ["host", "queued", "fetched", "worth", "delay", "failed"];
  fill("host-head", h("tr", {}, heads.map((key) => h("th", { scope: "col", class: key === "delay" ? "wide" : "" }, t(key)))));
  if (!list.length) return fill("host-rows", h("tr", {}, h("td", { class: "empty", colspan: heads.length }, t("none"))));
  fill("host-rows", list.map((one) => h("tr", {},
    h("td", { title: `${one.name} · ${t(one.state)}` }, h("i", { class: "dot", role: "img", "aria-label": t(one.state), style: { "--tone": `var(${TONES[one.state]})` } }), one.name),
    h("td", {}, number(one.queued)), h("td", {}, number(one.pages)),
    h("td", {}, one.pages ? bar(one.worth) : ""), h("td", { class: "wide" }, `${one.delay.toFixed(1)} s`),
    h("td", { class: one.failed ? "bad" : "" }, one.failed || ""))));
}
export function terms({ terms: { changes, own, now } }) {
  now = now.filter(([, weight]) => weight > 0);
  const known = new Set(own), most = Math.max(1e-9, ...now.map(([, weight]) => weight));
  at("changes").textContent = changes ? t("changed", number(changes)) : t("unchanged");
  fill("term-rows", now.length ? now.map(([term, weight]) =>
    h("div", { class: known.has(term) ? "term" : "term learnt", title: `${say(known.has(term) ? "own" : "learnt")} · ${weight}` },
      h("span", {}, term), bar(weight / most))) : h("p", { class: "empty" }, t("none")));
  at("term-key").hidden = !now.some(([term]) => !known.has(term));
}
