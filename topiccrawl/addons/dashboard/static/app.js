// Page of a crawl: receives a stream of changes and redraws the cards whose sections changed.
import * as articles from "./articles.js";
import { heading, hosts, queues, review, terms, tiles } from "./cards.js";
import * as crawl from "./crawl.js";
import { controls, nodes } from "./control.js";
import { draw, redraw } from "./charts.js";
import { fill, h } from "./dom.js";
import * as more from "./more.js";
import * as tasks from "./tasks.js";
import { begin, speak } from "./shell.js";
import { about, t } from "./words.js";

const AGAIN = 3000;
const state = {};
let connected = false, drawn = false;

const PARTS = [
  [["totals", "run", "series"], () => tiles(state)],
  [["run", "waiting", "nodes"], () => heading(state, connected)],
  [["nodes", "control", "run"], () => nodes(state)],
  [["crawls"], () => crawl.choice(state)],
  [["control", "run"], () => controls(state)],
  [["series"], () => draw(state.series)],
  [["queues", "errors"], () => queues(state)],
  [["hosts"], () => hosts(state)],
  [["terms"], () => terms(state)],
  [["review", "totals"], () => review(state)],
  [["latest"], () => articles.soon()],
];
function take(changed) {
  const { series } = changed;
  if (series?.from !== undefined && state.series) {
    const kept = state.series.points.slice(0, series.from);
    changed.series = { every: series.every, points: kept.concat(series.points) };
  }
  Object.assign(state, changed);
  if (changed.run && about(changed.run.spider)) {
    document.body.classList.toggle("template", changed.run.spider === "template");
    speak();
    parts();
  }
  for (const [sections, show] of PARTS) if (sections.some((name) => name in changed)) show();
  if (!drawn) { drawn = true; articles.refresh().catch(() => {}); more.begin(); tasks.begin(); }
}
function listen() {
  const stream = new EventSource(crawl.path("api/events"));
  stream.onmessage = (event) => { connected = true; take(JSON.parse(event.data)); };
  stream.onerror = () => {
    connected = false;
    if (state.run) heading(state, connected);
    if (stream.readyState === EventSource.CLOSED) setTimeout(listen, AGAIN);  // an answer such as 503; the browser retries only broken connections
  };
}
function parts() {
  const names = ["overview", "queues", "articles", "hosts", "terms", "chains", "patterns", "nodes"];
  fill("jump", names.map((part) => h("a", { href: `#${part === "overview" ? "tiles" : part}` }, t(part))));
}
function again() {
  parts();
  for (const [sections, show] of PARTS) if (sections.some((name) => name in state)) show();
  articles.paint(true);
  more.show();
  tasks.show();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw());
begin(again, redraw);
parts();
listen();
