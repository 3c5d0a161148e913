// Why this answer: the rivals of a word, a constituent or an argument, and the features for and against it.

import { post } from "/assets/shared/api.js";
import { make, percent } from "/assets/shared/dom.js";
import { toneOf } from "/assets/shared/tones.js";

// What can be asked about in a sentence: [{ key, name, question }]
function questions(model, sentence) {
  const said = (start, end) => sentence.words.slice(start, end).join(" ");
  if (model.explains === "token") return sentence.words.map((word, token) => ({ key: `${token}`, name: word, question: { token } }));
  if (model.explains === "argument")
    return (sentence.frames ?? []).flatMap(({ predicate, arguments: all }) => all.map(([start, end, label]) => ({
      key: `${predicate}-${start}-${end}`, name: `${sentence.words[predicate]}: ${label} ${said(start, end)}`, question: { predicate, start, end },
    })));
  const sure = (sentence.constituents ?? []).filter(([start, end]) => end - start < sentence.words.length);
  return sure.sort((a, b) => a[3] - b[3]).map(([start, end, label, p]) => ({
    key: `${start}-${end}-${label}`, name: `${label} ${percent(p)} ${said(start, end)}`, question: { start, end, label },
  }));
}

export const canExplain = (model, sentence) => Boolean(model.explains) && questions(model, sentence).length > 0;

// A button that opens a panel below the sentence; open(key) asks about one thing.
export function whyToggle(box, sentence, about) {
  const known = questions(about.model, sentence);
  const named = sentence.entities?.[0]?.start;
  const first = about.model.explains === "token" && named !== undefined ? `${named}` : known[0].key;
  let panel = null;
  let opener = null;
  const button = make("button", { type: "button", class: "button bare more", "aria-expanded": "false",
    onclick: () => (panel ? close() : open(first)) }, "Why?");
  return { button, open, keyOf: (span) => (about.model.explains === "token" ? `${span.start}` : `${span.start}-${span.end}-${span.label}`) };

  function close() {
    panel.remove();
    panel = null;
    for (const chip of box.querySelectorAll(".chip[aria-expanded=true]")) chip.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-expanded", "false");
    (opener ?? button).focus();
  }

  function open(key, from) {
    if (panel && from?.getAttribute("aria-expanded") === "true") return close();
    for (const chip of box.querySelectorAll(".chip[aria-expanded=true]")) chip.setAttribute("aria-expanded", "false");
    opener = from ?? button;
    opener.setAttribute("aria-expanded", "true");
    button.setAttribute("aria-expanded", "true");
    if (!panel) {
      panel = frame();
      box.append(panel);
    }
    const select = panel.querySelector("select");
    select.value = known.some((one) => one.key === key) ? key : first;
    ask(select.value);
  }

  function frame() {
    const id = `about-${about.place}`;
    const select = make("select", { id, class: "field", onchange: (event) => ask(event.target.value) },
      ...known.map(({ key, name }) => make("option", { value: key }, name)));
    const shut = make("button", { type: "button", class: "button bare close", onclick: close }, "Close");
    const made = make("section", { class: "why card", "aria-label": "Why this answer" },
      make("header", {}, make("label", { for: id }, "Why"), select, shut), make("div", { class: "body", "aria-live": "polite" }));
    made.addEventListener("keydown", (event) => { if (event.key === "Escape") close(); });
    return made;
  }

  async function ask(key) {
    const body = panel.querySelector(".body");
    try {
      const { question } = known.find((one) => one.key === key);
      const asked = { text: about.text, model: about.model.name, sentence: about.place, top: 6, ...question };
      body.replaceChildren(...explained(await post("/explain", asked)));
    } catch (error) {
      body.replaceChildren(make("p", { class: "failure" }, error.message));
    }
  }
}

function explained(why) {
  const label = why.tag ?? why.label;
  const all = (why.alternatives ?? []).map((one) => ({ label: one.tag ?? one.label, probability: one.probability }));
  const sure = why.probability ?? all.find((one) => one.label === label)?.probability;
  const verdict = make("p", { class: "verdict" }, make("strong", {}, shown(label)), ` ${percent(sure)}`,
    why.rival ? ` rather than ${why.alternatives ? shown(why.rival) : why.rival}` : ": there is no answer without it");
  const columns = make("div", { class: "columns" },
    all.length ? column("Chances", chances(all.slice(0, 6))) : null,
    column("Speaks for it", evidence(why.for), "for"),
    column("Speaks against it", evidence(why.against), "against"));
  return [verdict, columns];
}

// Chunk tags in words that people use.
const shown = (tag) => (tag === "O" ? "no name" : tag.replace(/^[BS]-(.+)/, "$1 begins").replace(/^[IE]-(.+)/, "$1 goes on"));

const column = (title, inner, kind = "") => make("div", { class: kind }, make("h3", {}, title), inner);

function chances(all) {
  const rows = all.map(({ label, probability }) => {
    const tone = label === "O" ? "tone-7" : toneOf(label.replace(/^[BIES]-/, ""));
    const bar = make("span", { class: `bar ${tone}`, "aria-hidden": "true" }, make("i"));
    bar.style.setProperty("--p", probability);
    return make("li", {}, make("span", { class: "what" }, shown(label)), bar, make("span", { class: "number" }, percent(probability)));
  });
  return make("ul", { class: "bars" }, ...rows);
}

function evidence(items) {
  if (!items.length) return make("p", {}, "nothing");
  return make("ul", { class: "evidence" }, ...items.map(({ feature, margin, tag, rival }) => {
    const value = margin ?? tag - rival;
    return make("li", {}, make("code", {}, feature), make("span", { class: "number" }, `${value > 0 ? "+" : "−"}${Math.abs(value).toFixed(2)}`));
  }));
}
