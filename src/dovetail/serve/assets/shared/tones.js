// A tone (a class of tokens.css) for every label: well-known ones have theirs everywhere, others one by their letters.

const KNOWN = {
  PER: 0, PERSON: 0, LOC: 1, GPE: 1, PLACE: 1, LOCATION: 1, ORG: 2, ORGANIZATION: 2, MISC: 3, OTH: 3,
  DATE: 5, TIME: 5, WORK: 4, EVENT: 6, PRODUCT: 7,
};

export function toneOf(label) {
  const name = label.toUpperCase();
  if (name in KNOWN) return `tone-${KNOWN[name]}`;
  let sum = 7;
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)) % 9973;
  return `tone-${sum % 8}`;
}
