// Two charts over time by uPlot (MIT): harvest rate, and pages per second on the same time axis.
import { at, fill, h } from "./dom.js";
import { percent, t, tick } from "./words.js";

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000, 2592000];
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
let harvest = null, speed = null, shown = { points: [] };

// Points are [seconds, pages, relevant, recent, articles].
function columns(points) {
  const [x, recent, mean, pace] = [[], [], [], []];
  for (let i = 0; i < points.length; i++) {
    const [second, pages, relevant, last] = points[i];
    x.push(second);
    recent.push(pages ? last : null);
    mean.push(pages ? relevant / pages : null);
    const back = points[Math.max(0, i - 5)];
    pace.push(second > back[0] ? (pages - back[1]) / (second - back[0]) : null);
  }
  return { x, recent, mean, pace };
}
function axes(values, size) {
  const common = { stroke: style("--soft"), font: "12px system-ui, sans-serif", ticks: { show: false } };
  const grid = { stroke: style("--line"), width: 1 };
  return [
    { ...common, grid: { show: false }, size: 26, values: (_, found) => found.map((v) => (v ? tick(v) : "")), incrs: STEPS, space: 80 },
    { ...common, grid, size: 46, values: (_, found) => found.map(values), space: size },
  ];
}
function options(id, series, values, range, space) {
  const box = at(id);
  return {
    width: box.clientWidth, height: box.clientHeight, padding: [8, 12, 0, 0], legend: { show: false },
    cursor: { sync: { key: "time" }, drag: { x: false, y: false }, points: { size: 7 }, y: false },
    scales: { x: { time: false, range: (_, from, to) => (to > from ? [from, to] : [0, Math.max(10, to ?? 0)]) }, y: { range } },
    axes: axes(values, space), series: [{}, ...series],
    hooks: { setCursor: [legends] },
  };
}
function fading(colour) {
  return (u) => {
    const shade = u.ctx.createLinearGradient(0, u.bbox.top, 0, u.bbox.top + u.bbox.height);
    shade.addColorStop(0, `${colour}33`);
    shade.addColorStop(1, `${colour}00`);
    return shade;
  };
}
function legends() {
  const data = harvest?.data;
  if (!data?.[0].length) return;
  const last = data[0].length - 1;
  const i = harvest.cursor.idx ?? speed?.cursor.idx ?? last;
  const entry = (name, key, value) => h("span", { class: name }, h("i"), t(key), h("b", {}, value));
  const shown = (x) => (x === null || x === undefined ? "–" : percent(x, 1));
  fill("harvest-legend", entry("recent", "recent", shown(data[1][i])), entry("mean", "mean", shown(data[2][i])));
  const pace = speed?.data[1][i];
  fill("speed-legend", entry("pace", "pace", pace === null || pace === undefined ? "–" : pace.toFixed(1)));
}
export function redraw() {
  harvest?.destroy();
  speed?.destroy();
  const { x, recent, mean, pace } = columns(shown.points);
  const accent = style("--accent"), blue = style("--normal");
  const plain = { points: { show: false }, spanGaps: true };
  harvest = new uPlot(options("harvest-plot", [
    { ...plain, stroke: accent, width: 2, fill: fading(accent) },
    { ...plain, stroke: style("--mean"), width: 2, dash: [6, 4] },
  ], (v) => percent(v), () => [0, 1], 44), [x, recent, mean], at("harvest-plot"));
  speed = new uPlot(options("speed-plot", [
    { ...plain, stroke: blue, width: 1.5, fill: fading(blue) },
  ], (v) => (v < 10 && v % 1 ? v.toFixed(1) : v.toFixed(0)), (_, __, max) => [0, Math.max(1, max * 1.15)], 30),
  [x, pace], at("speed-plot"));
  legends();
}
export function draw(series) {
  shown = series;
  if (!harvest) return redraw();
  const { x, recent, mean, pace } = columns(series.points);
  harvest.setData([x, recent, mean]);
  speed.setData([x, pace]);
  legends();
}
new ResizeObserver(() => {
  for (const [chart, id] of [[harvest, "harvest-plot"], [speed, "speed-plot"]])
    if (chart) chart.setSize({ width: at(id).clientWidth, height: at(id).clientHeight });
}).observe(document.querySelector("main"));
