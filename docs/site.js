// Tables that are wider than the screen can be scrolled by keys, too.
function reach() {
  for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap")) {
    const wide = wrap.scrollWidth > wrap.clientWidth;
    wide ? wrap.setAttribute("tabindex", "0") : wrap.removeAttribute("tabindex");
  }
}
new MutationObserver(reach).observe(document.body, { childList: true, subtree: true });
window.addEventListener("load", reach);
window.addEventListener("resize", reach);
