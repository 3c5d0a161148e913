// The sentence on the page: its words, and the labels over them. It knows nothing of the server.

import { make, percent } from "/assets/shared/dom.js";
import { toneFor } from "/assets/label/colours.js";

const CERTAIN = 0.9; // words that are this sure need no number: there are many of them
const UNSURE = 0.6; // below this a guess is drawn as a question

// Spans that lie within each other as a tree: [{ start, end, label, p, inner }]
function nest(spans) {
  const roots = [], open = [];
  for (const span of [...spans].sort((a, b) => a.start - b.start || b.end - a.end)) {
    while (open.length && open.at(-1).end <= span.start) open.pop();
    const node = { ...span, span, inner: [] };
    (open.length ? open.at(-1).inner : roots).push(node);
    open.push(node);
  }
  return roots;
}

export class SentenceView {
  constructor(element, onRemove) {
    this.element = element;
    this.onRemove = onRemove;
  }

  draw(state) {
    this.state = state;
    this.words = state.item.words.map((word, i) => make("span", { class: "word", id: `w${i}`, data: { i } }, word));
    this.element.classList.toggle("by-word", state.task === "words");
    const drawn = state.task === "words" ? this.byWord() : this.pieces(nest(state.spans), 0, state.item.words.length);
    this.element.replaceChildren(...drawn);
    this.select(state.from, state.to);
  }

  // Words from start to end, with the entities among them as elements of their own.
  pieces(nodes, start, end) {
    const found = [];
    let at = start;
    for (const node of nodes) {
      found.push(...this.plain(at, node.start));
      found.push(...this.gap(node.start));
      found.push(this.entity(node));
      at = node.end;
    }
    found.push(...this.plain(at, end));
    return found;
  }

  plain(start, end) {
    const found = [];
    for (let i = start; i < end; i += 1) found.push(...this.gap(i), this.words[i]);
    return found;
  }

  // White space before a word is drawn once, outside of what begins with the word.
  gap(i) {
    if (this.drawnGap === undefined || i === 0) this.drawnGap = -1;
    if (this.drawnGap >= i) return [];
    this.drawnGap = i;
    return this.state.item.spaces[i] ? [make("span", { class: "gap", data: { i } }, " ")] : [];
  }

  entity(node) {
    const sure = node.p === null || node.p === undefined ? "" : percent(node.p);
    const words = this.state.item.words.slice(node.start, node.end).join(" ");
    const guessed = sure !== "" && node.p < UNSURE;
    const mark = make("mark", { class: `entity ${toneFor(node.label)}${guessed ? " unsure" : ""}` });
    mark.append(...this.pieces(node.inner, node.start, node.end));
    mark.append(
      make("span", { class: "tag" }, node.label, sure ? make("span", { class: "sure" }, ` ${sure}`) : null),
      make("button", { class: "off", type: "button", tabindex: "-1", "aria-label": `Remove ${node.label} ${words}`,
        onclick: (event) => { event.stopPropagation(); this.onRemove(node.span); } }, "×"),
    );
    return mark;
  }

  byWord() {
    this.drawnGap = -1;
    return this.words.map((word, i) => {
      const { label, p } = this.state.labels[i];
      const tone = label ? toneFor(label) : "none";
      const shown = label ? [label, p === null || p >= CERTAIN ? "" : make("span", { class: "sure" }, ` ${percent(p)}`)] : ["—"];
      const unsure = p !== null && p < UNSURE ? " unsure" : "";
      return make("span", { class: `column ${tone}${unsure}`, data: { i } }, word, make("span", { class: "tag" }, ...shown));
    });
  }

  select(from, to) {
    const [first, last] = from <= to ? [from, to] : [to, from];
    this.words.forEach((word, i) => {
      const inside = i >= first && i <= last;
      word.classList.toggle("selected", inside);
      word.classList.toggle("first", i === first);
      word.classList.toggle("last", i === last);
    });
    for (const gap of this.element.querySelectorAll(".gap")) {
      const i = Number(gap.dataset.i);
      gap.classList.toggle("selected", i > first && i <= last);
    }
    this.element.setAttribute("aria-activedescendant", `w${to}`);
  }

  // The word at a place on the screen, or null.
  wordAt(x, y) {
    const under = document.elementFromPoint(x, y)?.closest?.(".word, .column, .gap");
    return under && this.element.contains(under) ? Number(under.dataset.i) : null;
  }
}
