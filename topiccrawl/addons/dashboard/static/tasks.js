// List of tasks with progress, workers and controls.
import { buttons } from "./control.js";
import { at, get, h, renew } from "./dom.js";
import { language, number, t } from "./words.js";

const EVERY = 3000;
const TONES = { waiting: "--normal", running: "--good", done: "--crawled", failed: "--error" };
const MOST = 30;
let last = [], timer = 0, orders = "";

export async function look() {
  try { last = await get("api/tasks"); show(); } catch (error) {
    if (String(error).includes("404")) clearInterval(timer);  // the routes are missing: TOPICCRAWL_CONTROL is off
  }
}
export function begin() {
  look();
  timer = setInterval(() => { if (!document.hidden) look(); }, EVERY);
}
export function show() {
  const shown = JSON.stringify([language, last.map(({ task: { id }, state, speed }) => [id, state, speed])]);
  const focus = document.activeElement, choosing = at("task-rows").contains(focus) && focus.tagName === "SELECT";
  if (choosing && shown === orders) return;  // keep an open select list
  orders = shown;
  const older = last.length - MOST;
  renew("task-rows", last.slice(-MOST).reverse().map(task), older > 0 ? h("p", { class: "empty" }, t("older", number(older))) : last.length ? [] : h("p", { class: "empty" }, t("none")));
}
function task({ task: asked, state, speed, pages, articles, sites }) {
  const done = sites.filter((one) => one.state === "done" || one.state === "failed").length;
  const name = asked.arguments.topic ?? asked.arguments.template ?? asked.spider;
  const open = ["waiting", "running", "paused"].includes(state);
  const ofTemplate = asked.spider === "template";
  const figures = [open ? t(`task-${state}`) : "", ofTemplate ? t("template") : t("shards", number(done), number(sites.length)), t("nPages", number(pages)), t(ofTemplate ? "nRecords" : "nStories", number(articles)), asked.owner];
  return h("div", { class: "node task" }, h("p", { title: name }, `${t("task")} ${asked.id} · ${name}`),
    h("span", { class: "acts" }, open ? buttons(`api/tasks/${asked.id}`, { paused: state === "paused", speed }, look) : t(`task-${state}`)),
    h("span", {}, figures.filter(Boolean).join(" · ")),
    h("span", { class: "chips", hidden: open && !ofTemplate ? null : "" }, sites.slice(0, 24).map((one) =>
      h("span", { class: "chip", style: { "--tone": `var(${TONES[one.state] ?? "--line"})` }, title: [one.worker, one.reason].filter(Boolean).join(" · ") },
        h("i"), one.site, h("b", {}, number(one.pages)), one.chosen && one.chosen !== one.worker ? h("span", {}, t("assigned", one.chosen)) : null)), sites.length > 24 ? h("span", { class: "chip" }, `+${number(sites.length - 24)}`) : null),
    sites.map(tried));
}
// Guessed start URLs of a site, if its https:// URL had no response.
function tried({ site, tried: urls = {} }) {
  const results = Object.entries(urls).map(([url, why]) => `${url} ${why || t("triedFetched")}`);
  return Object.values(urls).some(Boolean) ? h("span", { class: "tried" }, `${site}: ${t("tried")} ${results.join(", ")}`) : null;
}
