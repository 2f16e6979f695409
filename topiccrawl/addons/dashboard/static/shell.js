// Shared by all pages: texts, language and colours.
import { at, put } from "./dom.js";
import { language, t, turn } from "./words.js";

export function speak() {
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  for (const one of document.querySelectorAll("[data-t]")) put(one, t(one.dataset.t));
  for (const one of document.querySelectorAll("[data-label]")) one.setAttribute("aria-label", t(one.dataset.label));
  for (const one of document.querySelectorAll("[data-hint]")) one.placeholder = t(one.dataset.hint);
  for (const one of document.querySelectorAll("[data-title]")) { one.title = t(one.dataset.title); one.setAttribute("aria-label", one.title); }
  put(at("language"), t("other"));
}
// Args: callbacks after a change of the language, and after a change of the colours.
export function begin(spoken, coloured = () => {}) {
  at("language").addEventListener("click", () => { turn(); speak(); spoken(); });
  at("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    localStorage.setItem("theme", root.dataset.theme);
    coloured();
  });
  speak();
}
