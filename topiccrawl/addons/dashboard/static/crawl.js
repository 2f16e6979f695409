// Selection of the shown crawl, stored in the query of the page's URL.
import { at, fill, h } from "./dom.js";
import { moment, t } from "./words.js";

const chosen = new URLSearchParams(location.search).get("crawl") ?? "";

export function path(address) {
  if (!chosen) return address;
  return `${address}${address.includes("?") ? "&" : "?"}crawl=${encodeURIComponent(chosen)}`;
}
export function choice({ crawls, run }) {
  at("crawl").hidden = crawls.length < 2;
  const now = chosen || run.frontier;
  fill("crawl", crawls.map((one) => h("option", { value: one.frontier, selected: one.frontier === now ? "" : null },
    `${one.topic} · ${moment(one.began)}${one.live ? " ●" : ""}`)));
  at("crawl").title = t("choose");
}
at("crawl").addEventListener("change", (event) => {
  location.search = `?crawl=${encodeURIComponent(event.target.value)}`;
});
