// Texts of the pages. English is in words.json; translations are in the message catalogue
// (locale/*.po), and the server combines both. {0}, {1} ... are placeholders.
const asked = localStorage.getItem("language") || navigator.language || "en";
export let language = asked.toLowerCase().startsWith("zh") ? "zh" : "en";

const load = async (name) => (await fetch(`static/words.${name}.json`)).json();
const [en, zh] = await Promise.all(["en", "zh"].map(load));
const WORDS = { en, zh };

let kind = "";
// Sets the spider of the crawl, as templates have their own texts; returns whether it changed.
export function about(spider) {
  const before = kind;
  kind = spider === "template" ? "@template" : "";
  return kind !== before;
}
export function t(key, ...values) {
  const text = (language === "zh" && key === "other" ? "EN" : WORDS[language][key + kind] ?? WORDS[language][key]) ?? key;
  return text.replace(/\{(\d)\}/g, (_, n) => values[n]);
}
export function say(key) { return WORDS[language][key]; }
export function turn() {
  language = language === "en" ? "zh" : "en";
  localStorage.setItem("language", language);
}
export const number = (n) => new Intl.NumberFormat(language).format(n);
export const percent = (x, digits = 0) => `${(100 * x).toFixed(digits)}%`;
export function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (n) => String(n).padStart(2, "0");
  if (h >= 48) return `${t("days", Math.floor(h / 24))} ${two(h % 24)}:${two(m)}`;
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}
// Label of the time axis: 5:00, 3 h, 2 d 12 h.
export function tick(seconds) {
  const [d, h, rest] = [Math.floor(seconds / 86400), Math.floor(seconds / 3600) % 24, seconds % 3600];
  if (rest || (!d && !h)) return clock(seconds);
  return [d ? t("days", d) : "", h ? t("hours", h) : ""].filter(Boolean).join(" ");
}
const TIME = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
export function moment(at) {
  const then = new Date(1000 * at), recent = Date.now() / 1000 - at < 43200;
  return recent ? then.toLocaleTimeString(language, TIME) : then.toLocaleString(language, { month: "short", day: "numeric", ...TIME });
}
// Date and time of publication; the current year is left out.
export function day(published) {
  const text = published.slice(0, 16).replace("T", " ");
  return text.startsWith(`${new Date().getFullYear()}-`) ? text.slice(5) : text;
}
export const has = (key) => key in WORDS[language];
