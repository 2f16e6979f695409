// Tasks: what was asked for, how far each is, who works at it; steered from here.
import { buttons } from "./control.js";
import { at, fill, get, h } from "./dom.js";
import { number, t } from "./words.js";

const EVERY = 3000;
const TONES = { waiting: "--normal", running: "--good", done: "--crawled", failed: "--error" };
let last = [], timer = 0;

export async function look() {
  try { last = await get("/api/tasks"); show(); } catch (error) {
    if (String(error).includes("404")) clearInterval(timer);  // TOPICCRAWL_CONTROL is off
  }
}
export function begin() {
  look();
  timer = setInterval(() => { if (!document.hidden) look(); }, EVERY);
}
export function show() {
  const shown = document.activeElement;
  if (at("task-rows").contains(shown) && shown.tagName === "SELECT") return;
  fill("task-rows", last.map(task).reverse());
}
function task({ task: asked, state, speed, pages, articles, sites }) {
  const done = sites.filter((one) => one.state === "done" || one.state === "failed").length;
  const name = asked.arguments.topic ?? asked.arguments.template ?? asked.spider;
  const open = ["waiting", "running", "paused"].includes(state);
  const figures = [t(`task-${state}`), t("shards", number(done), number(sites.length)), `${number(pages)} ${t("pages").toLowerCase()}`, `${number(articles)} ${t("stories").toLowerCase()}`, asked.owner];
  return h("div", { class: "node task" }, h("p", { title: name }, `${t("task")} ${asked.id} · ${name}`),
    h("span", { class: "acts" }, open ? buttons(`/api/tasks/${asked.id}`, { paused: state === "paused", speed }, look) : t(`task-${state}`)),
    h("span", {}, figures.filter(Boolean).join(" · ")),
    h("span", { class: "chips" }, sites.slice(0, 24).map((one) =>
      h("span", { class: "chip", style: { "--tone": `var(${TONES[one.state] ?? "--line"})` }, title: [one.worker, one.reason].filter(Boolean).join(" · ") },
        h("i"), one.site, h("b", {}, number(one.pages))))));
}
