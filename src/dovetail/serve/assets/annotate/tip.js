// What an entity could be otherwise: the best answers to its sentence, summed up by what they say of its words.

import { byId, make, percent } from "/assets/shared/dom.js";
import { toneOf } from "/assets/shared/tones.js";

const MOST = 5;

// [{ what, probability, there }], the most probable first; what is less probable than all answers is not among them
export function readings(span, sentence) {
  const sums = new Map();
  for (const answer of sentence.alternatives ?? []) {
    const there = (answer.entities ?? []).filter((other) => other.start < span.end && other.end > span.start);
    const what = there.map((other) => `${other.label} ${other.text}`).join(", ") || "no name";
    const known = sums.get(what) ?? { what, probability: 0, there };
    known.probability += answer.probability;
    sums.set(what, known);
  }
  return [...sums.values()].sort((a, b) => b.probability - a.probability).slice(0, MOST);
}

export function withTip(element, button, span, sentence) {
  const found = readings(span, sentence);
  if (!found.length) return;
  const show = () => open(element, button, found);
  element.addEventListener("pointerenter", (event) => { if (event.pointerType !== "touch") show(); });
  element.addEventListener("pointerleave", hide);
  button.addEventListener("focus", show);
  button.addEventListener("blur", hide);
  button.addEventListener("click", hide);
}

function open(element, button, found) {
  const tip = byId("tip");
  const rows = found.map(({ probability, there }) => {
    const bar = make("span", { class: `bar ${there.length ? toneOf(there[0].label) : "tone-7"}`, "aria-hidden": "true" }, make("i"));
    bar.style.setProperty("--p", probability);
    const names = there.map(({ label, text }) => make("span", { class: "name" }, `${text} `, make("b", { class: toneOf(label) }, label), " "));
    const what = make("span", { class: "what" }, ...(names.length ? names : ["no name"]));
    return make("li", {}, what, bar, make("span", { class: "number" }, percent(probability)));
  });
  tip.replaceChildren(make("h3", {}, "Read as"), make("ul", { class: "bars" }, ...rows));
  tip.hidden = false;
  button.setAttribute("aria-describedby", "tip");
  const place = element.getClientRects()[0];
  const left = Math.max(16, Math.min(place.left, document.documentElement.clientWidth - tip.offsetWidth - 16));
  const below = element.getBoundingClientRect().bottom + 8;
  const above = place.top - tip.offsetHeight - 8;
  tip.style.left = `${left + scrollX}px`;
  tip.style.top = `${(below + tip.offsetHeight > innerHeight && above > 0 ? above : below) + scrollY}px`;
}

function hide() {
  byId("tip").hidden = true;
  for (const button of document.querySelectorAll("[aria-describedby=tip]")) button.removeAttribute("aria-describedby");
}

document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
