// Virtual list of articles, newest first: only visible rows are DOM elements.
import { path } from "./crawl.js";
import { at, bar, get, h, link } from "./dom.js";
import { day, number, t } from "./words.js";

const PAGE = 50, SPARE = 6;
let best = 0.3, total = 0, pages = new Map(), rows = new Map(), newest = "", generation = 0, timer = 0;

const height = () => (matchMedia("(max-width: 640px)").matches ? 84 : 62);

export async function refresh() {
  const mine = ++generation;
  const found = await get(path(`api/articles?offset=0&limit=${PAGE}`));
  if (mine !== generation) return;
  const fresh = found.articles[0]?.url ?? "";
  const moved = found.total !== total || fresh !== newest;
  const list = at("list"), tall = height();
  if (total && list.scrollTop > tall) list.scrollTop += (found.total - total) * tall;  // keep the reader's position
  total = found.total;
  if (moved) { pages = new Map([[0, found.articles]]); mark(found.articles, newest); newest = fresh; }
  at("stored").textContent = t("stored", number(total));
  paint(true);
}
export function soon() {
  if (!timer) timer = setTimeout(() => { timer = 0; refresh().catch(() => {}); }, 2500);
}
function mark(articles, before) {
  if (!before) return;
  for (const one of articles) { if (one.url === before) break; one.fresh = true; }
}
async function load(page) {
  const mine = generation;
  pages.set(page, []);
  try {
    const found = await get(path(`api/articles?offset=${page * PAGE}&limit=${PAGE}`));
    if (mine === generation) { pages.set(page, found.articles); paint(); }
  } catch { pages.delete(page); }
}
export function paint(redraw = false) {
  const list = at("list"), tall = height();
  at("spacer").style.height = `${Math.max(total, 1) * tall}px`;
  const stood = redraw && list.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  if (redraw) { for (const row of rows.values()) row.remove(); rows.clear(); }
  const first = Math.max(0, Math.floor(list.scrollTop / tall) - SPARE);
  const last = Math.min(total, Math.ceil((list.scrollTop + list.clientHeight) / tall) + SPARE);
  for (const [i, row] of rows) if (i < first || i >= last) { row.remove(); rows.delete(i); }
  for (let i = first; i < last; i++) {
    if (rows.has(i)) continue;
    const page = pages.get(Math.floor(i / PAGE));
    if (!page) { load(Math.floor(i / PAGE)); continue; }
    const one = page[i % PAGE];
    if (!one) continue;
    const made = row(one, i * tall);
    rows.set(i, made);
    at("spacer").append(made);
  }
  list.classList.toggle("bare", !total);
  if (!total && !rows.size) {
    const empty = h("p", { class: "row empty" }, t("none"));
    rows.set(0, empty);
    at("spacer").append(empty);
  }
  if (stood) [...list.querySelectorAll("a")].find((one) => one.dataset.key === stood)?.focus({ preventScroll: true });
}
function row(one, top) {
  best = Math.max(best, one.score);
  const terms = one.terms.map(([term]) => term).slice(0, 4).join(" · ");
  const meta = [one.site, day(one.published)].filter(Boolean).join("  ·  ");
  const again = one.reprints ? h("span", { class: "again" }, `   ${t("republished", one.reprints)}`) : null;
  const made = h("div", { class: one.fresh ? "row new" : "row", style: { top: `${top}px` } },
    h("div", { class: "score", title: t("score") }, one.score.toFixed(2), bar(one.score / best)),
    h("div", {}, h("p", { class: "title" }, link(one.url, one.title || one.url)),
      h("p", { class: "meta" }, h("bdi", {}, meta), terms ? "  ·  " : "", h("em", {}, h("bdi", {}, terms)), again)));
  one.fresh = false;
  return made;
}
at("list").addEventListener("scroll", () => paint(), { passive: true });
