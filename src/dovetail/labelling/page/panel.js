// The figures beside the sentence: score, learning curve, training, agreement, exports.

import { byId, make } from "/assets/shared/dom.js";

const SVG = "http://www.w3.org/2000/svg";
const number = (value) => value.toLocaleString("en");
const NAMES = { conll: "CoNLL", jsonl: "JSON lines", docbin: "spaCy DocBin", spacy: "spaCy DocBin", "label-studio": "Label Studio",
  "label_studio": "Label Studio", labelstudio: "Label Studio", prodigy: "Prodigy", doccano: "doccano", model: "the model (.dovetail)" };

export function showStatus(status) {
  const { counts } = status;
  byId("count").textContent = `${number(counts.done)} of ${number(counts.done + counts.left)} sentences`;
  byId("bar").max = Math.max(counts.done + counts.left, 1);
  byId("bar").value = counts.done;
  byId("file").textContent = status.file;
  byId("who").textContent = status.annotator;
  byId("who").setAttribute("aria-label", `Who labels: ${status.annotator}`);
  showScore(status);
  drawCurve(status.curve, status.metric);
  showTraining(status);
  showAgreement(status.agreement);
  showExports(status.exports);
}

function showScore({ curve, metric, model, base, next_point: next, counts }) {
  const last = curve.at(-1);
  byId("score").replaceChildren(...(last
    ? [make("b", {}, last[2].toFixed(0)), make("span", {}, ` ${metric}`), make("span", { class: "range" }, `${last[3].toFixed(0)}–${last[4].toFixed(0)}`)]
    : [make("span", { class: "quiet" }, "No score yet")]));
  const first = base && base.score !== null ? ` On the labelled sentences ${base.name} has ${base.score.toFixed(0)}.` : "";
  byId("score-note").textContent = last
    ? `Expected on your text, by cross-validation on ${number(last[0])} labelled sentences; 95 % interval.${first}`
    : `It appears after 20 labelled sentences; you have ${number(counts.done)}.`;
  byId("next-point").classList.toggle("quiet", !next);
  byId("next-point").textContent = next
    ? `The next point of ${metric} should cost about ${number(next)} more ${next === 1 ? "sentence" : "sentences"}.`
    : last && model && curve.length < 3 ? "What the next point costs shows after two more trainings." : "";
}

function showTraining({ training, model }) {
  const busy = training.busy;
  const line = byId("training");
  line.classList.toggle("busy", busy);
  const when = training.processor ? ` (${training.seconds.toFixed(1)} s)` : "";
  let text = "The first model comes after 5 sentences.";
  if (training.error) text = training.error;
  else if (busy) text = `Learning from ${number(training.answers)} sentences …`;
  else if (training.why) text = `No model yet: ${training.why.replace(/^a model needs/, "it needs")}.`;
  else if (training.sentences) text = `Has learnt from ${number(training.sentences)} sentences${when}.`;
  if (model && !model.own && !busy && training.sentences) text += ` Until yours is better, ${model.name} guesses.`;
  if (line.textContent !== text) line.textContent = text;
}

function showAgreement(rows) {
  byId("agreement").hidden = rows.length === 0;
  const cell = (value, digits) => make("td", {}, value === null ? "–" : value.toFixed(digits));
  byId("agreement-rows").replaceChildren(...rows.map((row) => make("tr", {},
    make("th", { scope: "row" }, `${row.first}, ${row.second}`), make("td", {}, String(row.sentences)), cell(row.kappa, 2), cell(row.f1, 0))));
}

function showExports(names) {
  const select = byId("format");
  if (select.dataset.names !== names.join()) {
    const chosen = select.value;
    select.replaceChildren(...names.map((name) => make("option", { value: name }, NAMES[name] ?? name)));
    select.dataset.names = names.join();
    if (names.includes(chosen)) select.value = chosen;
    byId("export").href = `/label/export/${select.value}`;
  }
}

byId("format").addEventListener("change", (event) => { byId("export").href = `/label/export/${event.target.value}`; });

function svg(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function drawCurve(points, metric) {
  const picture = byId("curve");
  picture.toggleAttribute("hidden", points.length < 2);
  if (points.length < 2) return;
  const left = 28, right = 312, top = 10, bottom = 126;
  const most = points.at(-1)[0], least = points[0][0];
  const low = Math.max(0, Math.floor(Math.min(...points.map((p) => p[3])) / 10) * 10);
  const high = Math.min(100, Math.ceil(Math.max(...points.map((p) => p[4])) / 10) * 10);
  const x = (n) => left + ((right - left) * (n - least)) / Math.max(most - least, 1);
  const y = (score) => bottom - ((bottom - top) * (score - low)) / Math.max(high - low, 1);
  const title = picture.querySelector("title");
  title.textContent = `${metric} by sentences: ${points.map((p) => `${p[0]}: ${p[2].toFixed(0)}`).join(", ")}`;
  const parts = [];
  for (const score of [low, (low + high) / 2, high]) {
    parts.push(svg("line", { class: "grid", x1: left, x2: right, y1: y(score), y2: y(score) }));
    parts.push(svg("text", { class: "tick", x: left - 6, y: y(score) + 4, "text-anchor": "end" }, score.toFixed(0)));
  }
  const band = [...points.map((p) => `${x(p[0])},${y(p[4])}`), ...points.toReversed().map((p) => `${x(p[0])},${y(p[3])}`)];
  parts.push(svg("polygon", { class: "band", points: band.join(" ") }));
  parts.push(svg("polyline", { class: "line", points: points.map((p) => `${x(p[0])},${y(p[2])}`).join(" ") }));
  const end = points.at(-1);
  parts.push(svg("circle", { class: "end", cx: x(end[0]), cy: y(end[2]), r: 4 }));
  parts.push(svg("text", { class: "tick", x: left, y: 144 }, String(least)));
  parts.push(svg("text", { class: "tick", x: right, y: 144, "text-anchor": "end" }, `${most} sentences`));
  picture.replaceChildren(title, ...parts);
}
