// Search, the list of labels, who labels, and help.

import { get } from "/assets/shared/api.js";
import { byId, make } from "/assets/shared/dom.js";
import { toneFor } from "/assets/label/colours.js";

export function dialogs(actions) {
  byId("help").addEventListener("click", () => byId("help-dialog").showModal());
  search(actions);
  labels(actions);
  annotator(actions);
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  }
}

// A closed dialog keeps the focus until the page is next drawn: keys that come before would still go to it.
function leave(dialog) {
  dialog.close();
  byId("sentence").focus({ preventScroll: true });
}

function search(actions) {
  const dialog = byId("search-dialog");
  let waiting, latest = 0;
  async function look() {
    const own = latest += 1;
    const query = new URLSearchParams({ q: byId("query").value, state: byId("which").value, annotator: byId("who").textContent });
    const { found } = await get(`/label/search?${query}`);
    if (own !== latest) return; // answers may come in another order than questions
    const rows = found.map(({ number, text, state }) => make("li", {}, make("button", { type: "button", onclick: () => { leave(dialog); actions.open(number); } },
      make("span", {}, text), state ? make("small", {}, { done: "labelled" }[state] ?? state) : null)));
    const none = byId("query").value || byId("which").value ? "No sentence is like this." : "";
    byId("found").replaceChildren(...(rows.length ? rows : [make("li", { class: "quiet" }, none)]));
  }
  byId("find").addEventListener("click", () => { dialog.showModal(); byId("query").select(); look(); });
  byId("query").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(look, 120); });
  byId("query").addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); byId("found").querySelector("button")?.click(); }
  });
  byId("which").addEventListener("change", look);
}

function labels(actions) {
  const dialog = byId("label-dialog");
  const choose = (name) => { leave(dialog); actions.label(name); };
  function show() {
    const key = byId("filter").value.toLowerCase();
    const found = actions.names().filter((name) => name.toLowerCase().startsWith(key));
    byId("filtered").replaceChildren(...found.map((name) => make("button", { class: `label ${toneFor(name)}`, type: "button", onclick: () => choose(name) }, name)));
    return found;
  }
  document.addEventListener("choose-label", () => { byId("filter").value = ""; show(); dialog.showModal(); byId("filter").focus(); });
  byId("filter").addEventListener("input", show);
  byId("filter").addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); const [first] = show(); if (first) choose(first); }
  });
}

function annotator(actions) {
  const dialog = byId("who-dialog");
  byId("who").addEventListener("click", () => { byId("name").value = byId("who").textContent; dialog.showModal(); byId("name").select(); });
  byId("who-form").addEventListener("submit", (event) => {
    event.preventDefault();
    leave(dialog);
    actions.rename(byId("name").value.trim());
  });
}
