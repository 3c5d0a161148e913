// Why the model guesses so: the label of a word, its rivals, and the features that speak for and against it.

import { get } from "/assets/shared/api.js";
import { make, percent } from "/assets/shared/dom.js";

export async function showWhy(place, item, position) {
  const told = await get(`/label/why?number=${item.number}&position=${position}`);
  const rival = told.rival && told.rival !== told.tag ? ` rather than ${told.rival}` : "";
  const named = told.for.length + told.against.length > 0; // models of nested entities name no features
  place.replaceChildren(
    make("h2", {}, named ? `Why is “${told.word}” ${told.tag}${rival}?` : `What “${told.word}” may belong to`),
    make("p", { class: "quiet" }, told.alternatives.map(([tag, p]) => `${tag} ${percent(p)}`).join(" · "), ` (${told.by})`),
    named ? make("div", { class: "evidence" }, bars("For it", told.for, "for"), bars("Against it", told.against, "against")) : "",
  );
}

function bars(title, rows, kind) {
  const most = Math.max(...rows.map(([, weight]) => weight), 1e-9);
  const list = make("ul", { class: kind }, ...rows.map(([feature, weight]) => {
    const bar = make("i", { "aria-hidden": "true" });
    bar.style.inlineSize = `${Math.max(2, (100 * weight) / most)}%`;
    return make("li", {}, make("code", {}, feature), make("span", {}, weight.toFixed(2)), bar);
  }));
  return make("section", {}, make("h3", {}, title), rows.length ? list : make("p", { class: "quiet" }, "Nothing."));
}
