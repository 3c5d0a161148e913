// Trees and dependencies, drawn by the server, in the colours of the page; other answers by rank; the same in words.

import { make, percent } from "/assets/shared/dom.js";

const SMALLEST = 0.7; // a picture shrinks so far to fit, then it is scrolled
const NAMES = { tree: "Tree", dependencies: "Dependencies" };

export function figureOf(name, sentence) {
  const frame = make("div", { class: "frame", tabindex: "0", role: "region", "aria-label": NAMES[name] });
  const plainly = make("div", { class: "scroll" });
  const answers = (sentence.alternatives ?? []).filter((answer) => answer.pictures?.[name]);
  const show = (answer) => {
    frame.replaceChildren(drawing(answer.pictures[name], `${NAMES[name]}: ${sentence.words.join(" ")}`));
    plainly.replaceChildren(name === "tree" ? brackets(answer) : table(sentence.words, answer));
  };
  show(sentence);
  const ranks = answers.length > 1 ? ranked(answers, show) : null;
  const words = make("details", { class: "plainly" }, make("summary", {}, name === "tree" ? "In brackets" : "As a table"), plainly);
  return make("figure", {}, frame, ranks, words);
}

// The picture as a part of the page: without its own style and ground.
function drawing(svg, title) {
  const bare = svg.replace(/<style>[^]*?<\/style>/, ""); // the policy of the page forbids it even to be parsed
  const parsed = new DOMParser().parseFromString(bare, "image/svg+xml").documentElement;
  for (const own of parsed.querySelectorAll(":scope > rect, :scope > title")) own.remove();
  parsed.setAttribute("class", "drawing");
  parsed.style.minWidth = `${SMALLEST * parsed.width.baseVal.value}px`;
  parsed.setAttribute("role", "img");
  parsed.setAttribute("aria-label", title);
  return document.importNode(parsed, true);
}

function ranked(answers, show) {
  const buttons = answers.slice(0, 6).map((answer, rank) =>
    make("button", { type: "button", class: "button", "aria-pressed": `${rank === 0}`, onclick: (event) => {
      for (const button of buttons) button.setAttribute("aria-pressed", `${button === event.currentTarget}`);
      show(answer);
    } }, `${rank + 1} · ${percent(answer.probability)}`));
  return make("div", { class: "ranks", role: "group", "aria-label": "Answers by rank" }, "Answers", ...buttons);
}

const brackets = (answer) => make("p", { class: "brackets" }, answer.tree);

function table(words, { heads, deprels, head_probability: sure }) {
  const head = make("tr", {}, ...["Word", "Relation", "Head", ...(sure ? ["Sure"] : [])].map((name) => make("th", { scope: "col" }, name)));
  const rows = words.map((word, place) => make("tr", {},
    make("th", { scope: "row" }, word),
    make("td", {}, deprels?.[place] ?? ""),
    make("td", {}, heads[place] < 0 ? "—" : words[heads[place]]),
    sure ? make("td", {}, percent(sure[place])) : null));
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
}
