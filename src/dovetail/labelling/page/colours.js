// A tone for each label of the session: that which it has on all pages, if no other label here has it already.

import { toneOf } from "/assets/shared/tones.js";

const TONES = 8;
let tones = new Map();

export function setLabels(names) {
  tones = new Map();
  const taken = new Set();
  for (const name of names) {
    let tone = Number(toneOf(name).slice("tone-".length));
    while (taken.size < TONES && taken.has(tone)) tone = (tone + 1) % TONES;
    taken.add(tone);
    tones.set(name, `tone-${tone}`);
  }
}

export const toneFor = (name) => tones.get(name) ?? toneOf(name);
