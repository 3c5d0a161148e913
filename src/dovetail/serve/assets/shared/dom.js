// Small helpers for pages without a framework.

// An element: make("button", { class: "button", type: "button", onclick }, "Words", another)
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "data") Object.assign(element.dataset, value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const byId = (id) => document.getElementById(id);

// 0.9731 as "97 %", and never 100 % of what is not certain
export function percent(probability) {
  if (probability > 0.995 && probability < 1) return "> 99 %";
  if (probability < 0.005 && probability > 0) return "< 1 %";
  return `${Math.round(probability * 100)} %`;
}
