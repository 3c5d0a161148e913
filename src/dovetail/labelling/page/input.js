// Mouse, touch and keys, as actions.

const KEYS = { s: "skip", f: "flag", u: "undo", w: "why", x: "clear" };

export function listen(sentence, actions, byHand) {
  pointer(sentence, actions, byHand);
  addEventListener("keydown", (event) => key(event, actions, byHand));
}

function pointer(sentence, actions, byHand) {
  let from = null;
  sentence.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.target.closest("button")) return;
    const word = actions.wordAt(event.clientX, event.clientY);
    if (word === null) return;
    from = event.shiftKey ? actions.at() : word;
    actions.select(from, word);
    byHand(true);
    sentence.focus({ preventScroll: true });
    event.preventDefault(); // no selection of letters beneath that of words
  });
  addEventListener("pointermove", (event) => {
    if (from === null) return;
    const word = actions.wordAt(event.clientX, event.clientY);
    if (word !== null && word !== actions.at()) actions.select(from, word);
  });
  addEventListener("pointerup", () => {
    if (from !== null && actions.armed()) actions.label(actions.armed());
    from = null;
  });
  addEventListener("pointercancel", () => { from = null; });
}

function key(event, actions, byHand) {
  if (document.querySelector("dialog[open]") || event.target.closest("input, select, textarea")) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") { event.preventDefault(); actions.undo(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const onButton = event.target.closest("button, a");
  if (onButton && (event.key === "Enter" || event.key === " ")) return;
  if (!act(event, actions, byHand)) return;
  event.preventDefault();
}

function act(event, actions, byHand) {
  const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (pressed === "?") { document.getElementById("help").click(); return true; }
  if (pressed === "/") { document.getElementById("find").click(); return true; }
  if (!actions.hasItem()) { if (pressed === "u") actions.undo(); return pressed === "u"; }
  if (pressed === "ArrowLeft" || pressed === "ArrowRight") {
    byHand(true);
    actions.move(pressed === "ArrowRight" ? 1 : -1, event.shiftKey);
  } else if (pressed === "Home" || pressed === "End") actions.move(pressed === "End" ? 1e6 : -1e6, event.shiftKey);
  else if (pressed === "n" || pressed === "p") { byHand(true); actions.entity(pressed === "n" ? 1 : -1); }
  else if (pressed === "Enter") actions.save();
  else if (pressed === "Escape") { byHand(false); if (actions.armed()) actions.arm(actions.armed()); actions.select(actions.at(), actions.at()); }
  else if (pressed === "Backspace" || pressed === "Delete" || pressed === "0") actions.remove();
  else if (pressed === "l") document.dispatchEvent(new Event("choose-label"));
  else if (/^[1-9]$/.test(pressed)) actions.label(actions.names()[Number(pressed) - 1]);
  else if (pressed in KEYS) actions[KEYS[pressed]]();
  else return false;
  return true;
}
