// A sentence with what its model gives: entities in the running text, words with tags, pictures, roles.

import { make, percent } from "/assets/shared/dom.js";
import { toneOf } from "/assets/shared/tones.js";
import { figureOf } from "./pictures.js";
import { withTip } from "./tip.js";
import { canExplain, whyToggle } from "./why.js";

export function showSentence(sentence, about) {
  const box = make("article", { class: "sentence", "aria-label": `Sentence ${about.place + 1}` });
  const why = canExplain(about.model, sentence) ? whyToggle(box, sentence, about) : null;
  const { gives } = about.model;
  const reading = gives === "words" ? cut(sentence) : tagged(sentence, gives) ? withTags(sentence, why) : running(sentence, why);
  box.append(make("div", { class: "line" }, reading, why ? why.button : null));
  for (const frame of sentence.frames ?? []) box.append(roles(frame, sentence.words));
  for (const name of Object.keys(sentence.pictures ?? {})) box.append(figureOf(name, sentence));
  return box;
}

const layerOf = (sentence) => ["pos", "xpos", "upos", "tag"].find((name) => Array.isArray(sentence[name]))
  ?? Object.keys(sentence).find((name) => !["words", "offsets", "ner", "entities", "alternatives"].includes(name)
    && Array.isArray(sentence[name]) && sentence[name].every((value) => typeof value === "string"));

const tagged = (sentence, gives) => gives === "tags" && layerOf(sentence) !== undefined;

function cut(sentence) {
  return make("p", { class: "words cut" }, ...sentence.words.map((word) => make("span", { class: "word" }, word)));
}

function withTags(sentence, why) {
  const tags = sentence[layerOf(sentence)];
  const words = sentence.words.map((word, place) => {
    const inner = [make("span", {}, word), make("small", { class: toneOf(tags[place]) }, tags[place])];
    if (!why) return make("span", { class: "word" }, ...inner);
    return make("button", { class: "word", type: "button", onclick: () => why.open(`${place}`) }, ...inner);
  });
  return make("p", { class: "words" }, ...words);
}

// The text between words, as it was written.
function gaps(sentence) {
  const { words, offsets, text } = sentence;
  if (!offsets || text === undefined) return words.map((_, place) => (place ? " " : ""));
  // offsets count characters, and JavaScript halves some of them
  const letters = [...text];
  return words.map((_, place) =>
    place ? letters.slice(offsets[place - 1][1] - offsets[0][0], offsets[place][0] - offsets[0][0]).join("") : "");
}

function running(sentence, why) {
  const spans = [...(sentence.entities ?? [])].sort((a, b) => a.start - b.start || b.end - a.end);
  const between = gaps(sentence);
  const line = make("p", { class: "reading" });
  const open = [{ element: line, end: Infinity }];
  sentence.words.forEach((word, place) => {
    while (open.at(-1).end <= place) close(open.pop(), open.at(-1).element);
    open.at(-1).element.append(between[place]);
    while (spans.length && spans[0].start === place) {
      const span = spans.shift();
      const element = make("span", { class: `span ${toneOf(span.label)}` });
      element.style.setProperty("--p", span.probability ?? 1);
      open.push({ element, end: Math.min(span.end, open.at(-1).end), span });
    }
    open.at(-1).element.append(word);
  });
  while (open.length > 1) close(open.pop(), open.at(-1).element);
  return line;

  function close({ element, span }, parent) {
    element.append(" ", chip(span, sentence, element, why));
    parent.append(element);
  }
}

function chip(span, sentence, element, why) {
  const sure = span.probability === undefined || span.probability === null ? "" : percent(span.probability);
  const button = make(
    "button",
    { type: "button", class: "chip", "aria-label": `${span.text}: ${span.label} ${sure}`, "aria-expanded": why ? "false" : undefined },
    `${span.label} `, make("span", {}, sure),
  );
  withTip(element, button, span, sentence);
  if (why) button.addEventListener("click", () => why.open(why.keyOf(span), button));
  return button;
}

function roles(frame, words) {
  const said = ([start, end]) => words.slice(start, end).join(" ");
  const rows = frame.arguments.flatMap(([start, end, label, probability]) => [
    make("dt", {}, label, probability === undefined ? "" : ` ${percent(probability)}`),
    make("dd", {}, said([start, end])),
  ]);
  const title = make("h3", {}, words[frame.predicate], frame.sense ? make("span", { class: "hint" }, ` ${frame.sense}`) : "");
  return make("div", { class: "predicate" }, title, make("dl", { class: "roles" }, ...rows));
}
