// The page: asks for an annotation, and shows what comes back.

import { get, post } from "/assets/shared/api.js";
import { byId, make } from "/assets/shared/dom.js";
import { themeButton } from "/assets/shared/theme.js";
import { toneOf } from "/assets/shared/tones.js";
import { showSentence } from "./sentences.js";

const ALTERNATIVES = 10;
const EXAMPLES = {
  "a news item": "Ada Lovelace joined the Bank of England in London. The Washington Post praised her work on Monday.",
  "a river or a person?": "Jordan left Jordan for Paris. Paris Hilton stayed in Washington, and Washington agreed.",
  "a knot of a sentence": "The old man saw the girl with the telescope. She told him that the parcel from Vienna had come.",
};
let models = [];
let asked = 0;

const chosen = () => models.find((model) => model.name === byId("model").value) ?? models[0];

async function annotate() {
  const number = ++asked;
  const text = byId("text").value;
  const model = chosen();
  byId("curl").textContent = command(model, text);
  byId("failure").hidden = true;
  byId("answer").setAttribute("aria-busy", "true");
  try {
    const wishes = { text, model: model.name, pictures: true, alternatives: model.ranks ? ALTERNATIVES : 0 };
    const answer = await post("/annotate", wishes);
    if (number === asked) show(answer, model, text);
  } catch (error) {
    if (number === asked) fail(error);
  } finally {
    if (number === asked) byId("answer").setAttribute("aria-busy", "false");
  }
}

function show(answer, model, text) {
  const sentences = answer.sentences.filter((sentence) => sentence.words.length);
  const shown = (sentence) => showSentence(sentence, { model, text, place: answer.sentences.indexOf(sentence) });
  byId("sentences").replaceChildren(...sentences.map(shown));
  const counts = new Map();
  for (const sentence of sentences)
    for (const { label } of sentence.entities ?? []) counts.set(label, (counts.get(label) ?? 0) + 1);
  byId("legend").replaceChildren(
    ...[...counts].map(([label, count]) => make("span", { class: toneOf(label) }, `${label} ${count}`)),
  );
  const found = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const told = [plural(sentences.length, "sentence")];
  if (model.gives === "entities") told.push(found ? plural(found, "name") : "no names");
  byId("status").textContent = text.trim() ? told.join(", ") : "Type a text above.";
}

function fail(error) {
  byId("failure").textContent = error.message;
  byId("failure").hidden = false;
}

const plural = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

function command(model, text) {
  const body = JSON.stringify({ text: text.slice(0, 60).replaceAll("'", "’"), model: model.name });
  return `curl ${location.origin}/annotate -H 'Content-Type: application/json' \\\n  -d '${body}'`;
}

async function begin() {
  themeButton(byId("theme"));
  byId("examples").replaceChildren(
    ...Object.entries(EXAMPLES).map(([name, text]) =>
      make("button", { type: "button", onclick: () => { byId("text").value = text; annotate(); } }, name)),
  );
  byId("ask").addEventListener("submit", (event) => { event.preventDefault(); annotate(); });
  byId("model").addEventListener("change", annotate);
  byId("text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); annotate(); }
  });
  try {
    ({ models } = await get("/models"));
  } catch (error) {
    fail(error);
    return;
  }
  byId("model").replaceChildren(...models.map(({ name }) => make("option", { value: name }, name)));
  if (!byId("text").value) byId("text").value = Object.values(EXAMPLES)[0];
  await annotate();
}

begin();
