"""Pages that stand alone: one HTML file without any request, for light and dark, from a telephone to a wide screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_STYLE = """
:root { color-scheme: light dark; --ink: #1b2430; --soft: #55606e; --ground: #ffffff; --card: #f6f7f9; --line: #dde2e8;
  --accent: #2463b0; --good: #1a7f4b; --bad: #b3261e }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #a3adba; --ground: #14181d; --card: #1d232a;
  --line: #343c46; --accent: #7db3f0; --good: #63c793; --bad: #ff8f85 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--ink); line-height: 1.5;
  font: 16px/1.5 system-ui, "Helvetica Neue", Arial, "Noto Sans", sans-serif }
main { max-width: 62rem; margin: 0 auto; padding: 1.5rem 1rem 4rem }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 0.3rem; overflow-wrap: anywhere }
h2 { font-size: 1.2rem; margin: 2.4rem 0 0.5rem }
p, ul { max-width: 46rem } li { margin: 0.3rem 0 }
.soft { color: var(--soft) }
.tiles { display: flex; flex-wrap: wrap; gap: 0.7rem; margin: 1rem 0; padding: 0; list-style: none; max-width: none }
.tiles li { background: var(--card); border: 1px solid var(--line); border-radius: 0.6rem; padding: 0.6rem 1rem;
  min-width: 7.5rem; margin: 0 }
.tiles b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums }
.wide { overflow-x: auto; margin: 0.5rem 0; max-width: 100% }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
th, td { padding: 0.3rem 0.9rem 0.3rem 0; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap }
th:first-child, td:first-child { text-align: left }
thead th { color: var(--soft); font-weight: 600; font-size: 0.85rem }
td.shade { padding: 0.3rem 0.7rem; text-align: center }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 0.6rem; padding: 0.6rem 1rem;
  margin: 0.8rem 0 }
.card h3 { font-size: 0.85rem; font-weight: 600; color: var(--soft); margin: 0.5rem 0 0 }
.card .dovetail { overflow-wrap: anywhere }
.card ul { margin: 0.3rem 0; padding-left: 1.2rem; font-size: 0.9rem }
summary { cursor: pointer; color: var(--accent) }
svg.plot { max-width: 100%; height: auto } svg.plot text { fill: var(--soft); font: 12px system-ui, sans-serif }
img { max-width: none; border-radius: 0.4rem }
@media (max-width: 30rem) { th, td { padding-right: 0.55rem; font-size: 0.85rem } td.shade { padding: 0.3rem 0.4rem } }
"""


def page_head(title: str) -> str:
    """What a page begins with.

    >>> page_head("<b>").startswith("<!doctype html>"), "&lt;b&gt;" in page_head("<b>")
    (True, True)
    """
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{escape(title)}</h1>\n"
    )


PAGE_END = "</main>\n</body>\n</html>\n"


def page(title: str, parts: Iterable[str]) -> str:
    """A whole page."""
    return page_head(title) + "\n".join(parts) + "\n" + PAGE_END


def table(rows: Sequence[Sequence[str]], label: str = "") -> str:
    """A table, its first row the headings; cells are HTML. It scrolls by itself where it is too wide."""
    head, *body = rows
    cells = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    lines = "".join(
        f"<tr>{''.join(cell if cell[:3] == '<td' else f'<td>{cell}</td>' for cell in row)}</tr>\n" for row in body
    )
    name = f' aria-label="{escape(label)}"' if label else ""
    inner = f"<table><thead><tr>{cells}</tr></thead>\n<tbody>{lines}</tbody></table>"
    return f'<div class="wide" tabindex="0" role="region"{name}>{inner}</div>'


def tiles(numbers: Iterable[tuple[str, str]]) -> str:
    """Numbers to be seen first, each with what it is."""
    return f'<ul class="tiles">{"".join(f"<li><b>{escape(n)}</b>{escape(what)}</li>" for n, what in numbers)}</ul>'
