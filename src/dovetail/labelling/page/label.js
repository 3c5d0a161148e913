// The page of dovetail label: what is shown, what the user does, and what the server is told.

import { get, post } from "/assets/shared/api.js";
import { byId, make, percent } from "/assets/shared/dom.js";
import { themeButton } from "/assets/shared/theme.js";
import { setLabels, toneFor } from "/assets/label/colours.js";
import { dialogs } from "/assets/label/dialogs.js";
import { listen } from "/assets/label/input.js";
import { showStatus } from "/assets/label/panel.js";
import { SentenceView } from "/assets/label/sentence.js";
import { showWhy } from "/assets/label/why.js";

const POLL = 1500, HIDDEN = 20_000;
const tab = takeTab();
const state = { task: "entities", names: [], item: null, spans: [], labels: [], from: 0, to: 0, armed: null, past: [], busy: false, touched: false, began: 0 };
const who = () => localStorage.getItem("dovetail-annotator") ?? "";
const asker = () => ({ tab, annotator: who() });
const view = new SentenceView(byId("sentence"), (span) => edit(() => { state.spans = state.spans.filter((one) => one !== span); }));

// A reload keeps the name of a tab; a tab that was made from another gets one of its own.
function takeTab() {
  const kept = sessionStorage.getItem("dovetail-tab") ?? crypto.randomUUID();
  sessionStorage.removeItem("dovetail-tab");
  addEventListener("pagehide", () => { sessionStorage.setItem("dovetail-tab", kept); keepDraft(); });
  return kept;
}

// what is shown

function show(item) {
  state.item = item;
  byId("sheet").hidden = !item;
  byId("empty").hidden = Boolean(item);
  if (!item) return;
  const draft = takeDraft(item.number);
  state.past = [];
  state.touched = Boolean(draft);
  state.began = performance.now();
  fill(item, draft);
  [state.from, state.to] = [firstDoubt(), firstDoubt()];
  byId("before").textContent = item.before ? `… ${item.before}` : "";
  byId("after").textContent = item.after ? `${item.after} …` : "";
  byId("why").hidden = true;
  byId("ask").setAttribute("aria-expanded", "false");
  showSource(item);
  draw();
}

function fill(item, draft) {
  const answer = draft ?? item.answer;
  const guess = item.guess ?? {};
  if (state.task === "words") {
    const rows = item.words.map((_, i) => guess.words?.[i]?.[0] ?? [null, null]);
    state.labels = answer ? answer.map((label) => ({ label, p: null })) : rows.map(([label, p]) => ({ label, p }));
  } else {
    const spans = answer ?? guess.entities ?? [];
    state.spans = spans.map(([start, end, label, p = null]) => ({ start, end, label, p }));
  }
}

function firstDoubt() {
  if (state.task === "words") return Math.max(0, state.labels.findIndex(({ label, p }) => !label || (p !== null && p < 0.8)));
  return state.spans.length ? Math.min(...state.spans.map((span) => span.start)) : 0;
}

function showSource(item) {
  const said = { done: "You have labelled this sentence.", skipped: "You have skipped it.", flagged: "You have flagged it." }[item.state];
  const nothing = item.guess?.entities?.length === 0;
  const by = item.guess ? `${nothing ? "Nothing is found here" : "Guessed"} by ${item.guess.by}.` : "No guess yet: label five sentences, and a model begins to help.";
  byId("source").textContent = [item.elsewhere ? "Another tab has this sentence, too." : "", said ?? by].join(" ").trim();
}

function draw() {
  view.draw(state);
  const other = state.task === "words" ? wordAlternatives() : spanAlternatives();
  byId("maybe").hidden = other.length === 0;
  byId("maybe").replaceChildren(make("span", { class: "caption" }, "Also possible"), ...other);
  for (const button of byId("palette").children) {
    button.setAttribute("aria-pressed", String(button.dataset.label === state.armed));
  }
}

const clash = (a, b) => a.start < b.end && b.start < a.end;
const crosses = (a, b) => clash(a, b) && !(a.start <= b.start && b.end <= a.end) && !(b.start <= a.start && a.end <= b.end);
const alike = (a, b) => a.start === b.start && a.end === b.end && a.label === b.label;

function spanAlternatives() {
  const rows = (state.item.guess?.maybe ?? []).map(([start, end, label, p]) => ({ start, end, label, p }));
  return rows.filter((row) => !state.spans.some((span) => alike(span, row))).slice(0, 6).map((row) => make("button",
    { class: `chip ${toneFor(row.label)}`, type: "button", onclick: () => edit(() => place(row.start, row.end, row.label)) },
    `${row.label} ${state.item.words.slice(row.start, row.end).join(" ")} `, make("span", {}, percent(row.p))));
}

function wordAlternatives() {
  const rows = state.item.guess?.words?.[state.to] ?? [];
  return rows.filter(([label]) => label !== state.labels[state.to].label).map(([label, p]) => make("button",
    { class: `chip ${toneFor(label)}`, type: "button", onclick: () => edit(() => { state.labels[state.to] = { label, p: null }; }) },
    `${label} `, p === null ? null : make("span", {}, percent(p))));
}

export function say(text) { byId("spoken").textContent = text; }

function tell(text) {
  byId("notice").textContent = text;
  byId("notice").hidden = !text;
}

// what the user does to a sentence

const copy = () => ({ spans: [...state.spans], labels: [...state.labels] });

function edit(change) {
  if (!state.item) return;
  state.past.push(copy());
  change();
  state.touched = true;
  draw();
}

function place(start, end, label) {
  const made = { start, end, label, p: null };
  const stays = (one) => (state.task === "nested" ? !crosses(one, made) && !(one.start === start && one.end === end) : !clash(one, made));
  state.spans = [...state.spans.filter(stays), made];
}

// The innermost entity at the word where the user is.
function entityHere() {
  const over = state.spans.filter((span) => span.start <= state.to && state.to < span.end);
  return over.sort((a, b) => a.end - a.start - (b.end - b.start))[0];
}

export const actions = {
  select(from, to) {
    [state.from, state.to] = [from, to];
    view.select(from, to);
    if (state.task === "words") draw();
    const here = entityHere(), label = state.task === "words" ? state.labels[to]?.label : here?.label;
    say(`${state.item.words[to]}, word ${to + 1} of ${state.item.words.length}${label ? `, ${label}` : ""}`);
    if (!byId("why").hidden) explain();
  },
  move(step, extend) {
    if (!state.item) return;
    const to = Math.min(Math.max(state.to + step, 0), state.item.words.length - 1);
    actions.select(extend ? state.from : to, to);
  },
  label(name) {
    if (!state.item || !name) return;
    const [first, last] = state.from <= state.to ? [state.from, state.to] : [state.to, state.from];
    if (state.task === "words") {
      edit(() => { for (let i = first; i <= last; i += 1) state.labels[i] = { label: name, p: null }; });
      actions.select(Math.min(last + 1, state.item.words.length - 1), Math.min(last + 1, state.item.words.length - 1));
      return;
    }
    const here = entityHere(), single = first === last;
    edit(() => {
      if (here && single && here.label === name) state.spans = state.spans.filter((one) => one !== here);
      else if (here && single && !(state.task === "nested" && here.end - here.start > 1)) {
        state.spans = state.spans.map((one) => (one === here ? { ...one, label: name, p: null } : one));
      } else place(first, last + 1, name);
    });
    say(`${name}: ${state.item.words.slice(first, last + 1).join(" ")}`);
  },
  arm(name) { state.armed = state.armed === name ? null : name; draw(); },
  armed: () => state.armed,
  remove() {
    if (state.task === "words") { edit(() => { state.labels[state.to] = { label: null, p: null }; }); return; }
    const here = entityHere();
    if (here) { edit(() => { state.spans = state.spans.filter((one) => one !== here); }); say(`${here.label} removed`); }
  },
  clear() { edit(() => { state.spans = []; state.labels = state.labels.map(() => ({ label: null, p: null })); }); },
  entity(step) {
    const starts = state.task === "words" ? state.item.words.map((_, i) => i) : [...new Set(state.spans.map((one) => one.start))].sort((a, b) => a - b);
    const there = step > 0 ? starts.find((at) => at > state.to) : starts.findLast((at) => at < state.to);
    if (there !== undefined) {
      const over = state.spans.find((one) => one.start === there);
      actions.select(over && state.task !== "words" ? over.end - 1 : there, there);
    }
  },
  save: () => answer("done"),
  skip: () => answer("skipped"),
  flag: () => answer("flagged"),
  async undo() {
    const past = state.past.pop();
    if (past) { Object.assign(state, past); draw(); return; }
    const { item } = await send("/label/undo", asker());
    if (item) { show(item); say("The last answer is open again"); } else tell("There is nothing to undo.");
  },
  async open(number) { show((await send("/label/open", { ...asker(), number })).item); byId("sentence").focus(); },
  why() {
    byId("why").hidden = !byId("why").hidden;
    byId("ask").setAttribute("aria-expanded", String(!byId("why").hidden));
    if (!byId("why").hidden) explain();
  },
  names: () => state.names,
  task: () => state.task,
  at: () => state.to,
  wordAt: (x, y) => view.wordAt(x, y),
  hasItem: () => Boolean(state.item),
  rename(name) { localStorage.setItem("dovetail-annotator", name); return refresh().then(next); },
};

async function explain() {
  try { await showWhy(byId("why"), state.item, state.to); } catch (error) { byId("why").replaceChildren(make("p", {}, error.message)); }
}

// what the server is told

async function send(path, fields) {
  try {
    const found = await post(path, fields);
    tell("");
    return found;
  } catch (error) {
    tell(error.message);
    throw error;
  }
}

const current = () => (state.task === "words" ? state.labels.map(({ label }) => label) : state.spans.map(({ start, end, label }) => [start, end, label]));

async function answer(kind) {
  if (!state.item || state.busy) return;
  state.busy = true;
  const seconds = Math.round((performance.now() - state.began) / 100) / 10;
  const fields = { ...asker(), number: state.item.number, state: kind, seconds, answer: kind === "skipped" ? null : current() };
  try {
    const { item } = await send("/label/answer", fields);
    state.touched = false;
    byId("saved").textContent = { done: "Saved.", skipped: "Skipped.", flagged: "Flagged." }[kind];
    show(item);
    byId("sentence").focus({ preventScroll: true });
  } catch { /* it has been told; the sentence stays as it is */ } finally { state.busy = false; }
  refresh();
}

async function next() {
  state.touched = false;
  show((await send("/label/next", asker())).item);
}

function keepDraft() {
  if (state.item && state.touched) sessionStorage.setItem("dovetail-draft", JSON.stringify({ number: state.item.number, answer: current() }));
}

function takeDraft(number) {
  const kept = JSON.parse(sessionStorage.getItem("dovetail-draft") ?? "null");
  sessionStorage.removeItem("dovetail-draft");
  return kept?.number === number ? kept.answer : null;
}

async function refresh() {
  try {
    const status = await get(`/label/status?tab=${tab}&annotator=${encodeURIComponent(who())}`);
    if (state.names.join() !== status.labels.join()) {
      state.names = status.labels;
      setLabels(state.names);
      drawPalette();
    }
    state.task = status.task;
    showStatus(status);
    if (!byId("notice").hidden && byId("notice").textContent.startsWith("The server does not answer")) tell("");
  } catch (error) { tell(error.message); }
}

function drawPalette() {
  byId("palette").replaceChildren(...state.names.map((name, n) => make("button",
    { class: `label ${toneFor(name)}`, type: "button", "aria-pressed": "false", data: { label: name }, "aria-keyshortcuts": n < 9 ? String(n + 1) : undefined,
      onclick: () => (state.selectedByHand ? actions.label(name) : actions.arm(name)) },
    n < 9 ? make("kbd", {}, String(n + 1)) : null, name)));
}

for (const name of ["save", "skip", "flag", "undo"]) byId(name).addEventListener("click", () => actions[name]());
byId("ask").addEventListener("click", () => actions.why());
byId("back").addEventListener("click", () => actions.undo());
themeButton(byId("theme"));
dialogs(actions);
listen(byId("sentence"), actions, (byHand) => { state.selectedByHand = byHand; });

await refresh();
await next().catch(() => {});
(function poll() { setTimeout(() => refresh().then(poll), document.hidden ? HIDDEN : POLL); })();
