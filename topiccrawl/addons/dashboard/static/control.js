// Operator controls: pause, resume and speed of a crawl or task.
import { h, post, renew } from "./dom.js";
import { language, number, percent, t } from "./words.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4];
const ICONS = { pause: "M7 5h3.5v14H7zM13.5 5H17v14h-3.5z", resume: "M8 5l11 7-11 7z" };

let steered = "";

function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const made = document.createElementNS(space, "svg");
  for (const [key, value] of Object.entries({ viewBox: "0 0 24 24", width: 15, height: 15, fill: "currentColor", "aria-hidden": "true" }))
    made.setAttribute(key, value);
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", ICONS[name]);
  made.append(path);
  return made;
}
export function buttons(base, { paused, speed }, done = () => {}) {
  const order = (action, body) => post(`${base}/${action}`, body).then(done).catch((error) => alert(error.message));
  const action = paused ? "resume" : "pause";
  const speeds = SPEEDS.includes(speed) ? SPEEDS : [...SPEEDS, speed].sort((a, b) => a - b);
  return [
    h("button", { type: "button", "data-act": action, "data-key": `${base} act`, title: t(action), "aria-label": t(action), onclick: () => order(action) }, icon(action), h("span", {}, t(action))),
    h("select", { "data-key": `${base} speed`, title: t("speedOf"), "aria-label": t("speedOf"), onchange: (event) => order("speed", { factor: Number(event.target.value) }) },
      speeds.map((factor) => h("option", { value: factor, selected: factor === speed ? "" : null }, `× ${factor}`))),
  ];
}
export function controls({ control, run }) {
  const wanted = control?.name && !run.finished ? JSON.stringify([control, language]) : "";
  if (wanted === steered) return;
  steered = wanted;
  renew("controls", wanted ? buttons(`api/orders/${encodeURIComponent(control.name)}`, control) : []);
}

export function nodes(state) {
  const all = state.nodes?.length || !state.run.id ? state.nodes : [{ run: state.run, totals: state.totals, waiting: state.waiting, live: !state.run.finished }];
  renew("node-rows", all.map(({ run, totals, waiting, live }) => {
    const word = live ? (waiting.reason ? t(`why-${waiting.reason}`) : t("runs")) : run.finished ? t("ended") : t("dead");
    const share = totals.pages ? totals.relevant / totals.pages : 0;
    return h("div", { class: "node" }, h("p", {}, run.node), h("span", { class: "acts" }, word),
      h("span", {}, t("nodePages", number(totals.pages), percent(share))));
  }));
}
