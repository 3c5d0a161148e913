"""What the site has besides the pages of ``docs/``: reference pages from docstrings, cards, and pages of the root.

mkdocs calls the functions by their names: see ``mkdocs.yml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
REFERENCE = {
    "Models": [
        "models.tagger.estimator.Tagger", "models.segmenter.estimator.Segmenter",
        "models.nested.estimator.NestedTagger",
        "models.parser.estimator.Parser", "models.dependency.estimator.DependencyParser",
        "models.joint.estimator.JointParser", "models.roles.estimator.RoleLabeller",
        "models.entailment.estimator.Entailment", "models.domains.tagger.MultiDomainTagger",
        "models.domains.parser.MultiDomainParser", "models.aligner.aligner.Aligner", "models.pair.agreement.PairTagger",
        "models.base.Estimator", "models.answer.Answer",
    ],
    "Text": [
        "text.sentence", "text.formats", "text.tree", "text.dependencies", "text.frames", "text.bitext", "text.links",
        "text.pairs", "text.segment", "text.spans",
    ],
    "Features": [
        "features.algebra.sets", "features.algebra.templates", "features.resources.lexicon",
        "features.resources.recipe", "clusters.clustering", "vectors.table",
    ],
    "Scores": [
        "evaluate.entities", "evaluate.tokens", "evaluate.brackets", "evaluate.attachments", "evaluate.alignment",
        "evaluate.calibration", "evaluate.significance",
    ],
    "Structures": ["structures.contract", "structures.chain", "structures.semimarkov", "structures.projective"],
    "Graphs and pipelines": ["joint.graph", "joint.factors", "joint.result", "pipeline.pipeline", "pipeline.stage"],
    "Learning": [
        "learning.objective", "learning.losses", "learning.priors", "curves.runs", "active.selection", "tuning",
        "machines.objective", "machines.runs",
    ],
    "Errors": ["errors"],
}  # fmt: skip
"""The reference: pages, and the modules and classes of each."""
ROOT_PAGES = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md", "licence.md": "LICENSE"}
"""Files of the root that are pages of the site, under other names."""
WORKER = "https://unpkg.com/iframe-worker/shim", "assets/iframe-worker.js"
"""The one script that the theme would fetch from elsewhere, and where ours is."""


def on_config(config: Any) -> Any:
    """Add what is made here to the navigation."""
    reference = next(entry["Reference"] for entry in config.nav if "Reference" in entry)
    reference.append({"Modules": [{title: f"reference/{_file(title)}"} for title in REFERENCE]})
    explanation = next(entry["Explanation"] for entry in config.nav if "Explanation" in entry)
    explanation.append({"Cards of models": [f"cards/{card.name}" for card in _cards()]})
    explanation += [{"Contributing": "contributing.md"}, {"Changes": "changelog.md"}, {"Licence": "licence.md"}]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made here."""
    for title, names in REFERENCE.items():
        body = "\n\n".join(f"::: dovetail.{name}" for name in names if _is_there(name))
        files.append(File.generated(config, f"reference/{_file(title)}", content=f"# {title}\n\n{body}\n"))
    for card in _cards():
        files.append(File.generated(config, f"cards/{card.name}", content=card.read_text(encoding="utf-8")))
    for name, source in ROOT_PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        text = f"# Licence\n\n```text\n{text}\n```\n" if source == "LICENSE" else re.sub(r"\]\(docs/", "](", text)
        files.append(File.generated(config, name, content=text))
    files.append(File.generated(config, WORKER[1], content=(ROOT / "tools" / "iframe-worker.js").read_text()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Links to files beside ``docs/`` lead to their pages here; sources have none, and are named."""
    for name, source in ROOT_PAGES.items():
        markdown = re.sub(rf"\]\((?:\.\./)?{re.escape(source)}(#[^)]*)?\)", rf"]({name}\1)", markdown)
    markdown = re.sub(r"\]\((?:\.\./)?src/dovetail/data/([\w-]+\.md)\)", r"](cards/\1)", markdown)
    markdown = re.sub(r"\]\(examples/?\)", "](examples/README.md)", markdown)
    return re.sub(r"\[([^\]]*)\]\((?:\.\./|\.)[^)]*\)", r"\1", markdown) if page.file.generated_by else markdown


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Nothing is fetched from elsewhere: the worker of the search is here. The dialog of the search gets a name."""
    output = output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )
    return output.replace(WORKER[0], _way(page.url) + WORKER[1])


def on_post_template(output_content: str, template_name: str, config: Any) -> str:
    """The page for wrong addresses, which a server alone shows, does the same."""
    return output_content.replace(*WORKER)


def _way(url: str) -> str:
    """From a page back to the root.

    >>> _way("reference/text.html")
    '../'
    """
    return "../" * url.count("/")


def _cards() -> Iterator[Path]:
    return iter(sorted((ROOT / "src" / "dovetail" / "data").glob("*.md")))


def _file(title: str) -> str:
    return title.lower().replace(" ", "-") + ".md"


def _is_there(name: str) -> bool:
    """Whether a module, or the module of a class, is in the package."""
    parts = name.split(".")
    parts = parts[:-1] if parts[-1][0].isupper() else parts
    path = (ROOT / "src" / "dovetail").joinpath(*parts)
    if not path.with_suffix(".py").exists() and not (path / "__init__.py").exists():
        raise FileNotFoundError(f"{name}: there is no such module; correct tools/site_pages.py")
    return True
