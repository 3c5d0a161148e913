// A button that goes from the theme of the system to the other one and back; kept in this browser.

const KEY = "dovetail-theme";
const dark = () => matchMedia("(prefers-color-scheme: dark)").matches;
const kept = () => { try { return localStorage.getItem(KEY); } catch { return null; } };
const keep = (name) => { try { localStorage.setItem(KEY, name); } catch { /* a private window */ } };

export function themeButton(button) {
  const show = (name) => {
    document.documentElement.dataset.theme = name;
    button.setAttribute("aria-pressed", name === "dark");
  };
  if (kept()) show(kept());
  else button.setAttribute("aria-pressed", dark());
  button.addEventListener("click", () => {
    const name = (document.documentElement.dataset.theme ?? (dark() ? "dark" : "light")) === "dark" ? "light" : "dark";
    keep(name);
    show(name);
  });
}
