const present = (children) => children.flat().filter((child) => child !== null && child !== undefined && child !== false);
// Creates an element. Strings become text nodes, never markup, so that crawled text is harmless.
export function h(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [k, v] of Object.entries(value)) made.style.setProperty(k, v);
    else if (name === "class") made.className = value;
    else made.setAttribute(name, value);
  }
  made.append(...present(children));
  return made;
}
export const at = (id) => document.getElementById(id);
export const fill = (id, ...children) => at(id).replaceChildren(...present(children));
// Like fill, but keeps the keyboard focus on the element with the same data-key.
export function renew(id, ...children) {
  const box = at(id), stood = box.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  box.replaceChildren(...present(children));
  if (stood) [...box.querySelectorAll("[data-key]")].find((one) => one.dataset.key === stood)?.focus({ preventScroll: true });
}
// Sets a text only if it changed, so that screen readers announce it once.
export function put(element, text) { if (element.textContent !== text) element.textContent = text; }
export const bar = (share) =>
  h("span", { class: "bar" }, h("i", { style: { width: `${Math.max(0, Math.min(1, share)) * 100}%` } }));

// Link for HTTP URLs; URLs of other schemes (javascript:, data:) stay text.
export function link(url, text, given = {}) {
  let safe = null;
  try { const found = new URL(url); if (/^https?:$/.test(found.protocol)) safe = found.href; } catch { /* not a URL */ }
  if (!safe) return h("span", given, text);
  return h("a", { ...given, href: safe, "data-key": url, target: "_blank", rel: "noopener noreferrer nofollow", title: url }, text);
}
// Error with the server's reason, or with path and status.
async function refusal(path, answer) {
  const kind = answer.headers.get("Content-Type") ?? "";
  const reason = kind.includes("json") ? (await answer.json()).error : kind.startsWith("text/plain") ? await answer.text() : "";
  return new Error(reason || `${path}: ${answer.status}`);
}
export async function get(path) {
  const answer = await fetch(path, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw await refusal(path, answer);
  return answer.json();
}
export async function post(path, body = {}) {
  const headers = { "Content-Type": "application/json", "X-Topiccrawl": "1" };
  const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw await refusal(path, answer);
  return answer.headers.get("Content-Type")?.includes("json") ? answer.json() : null;
}
