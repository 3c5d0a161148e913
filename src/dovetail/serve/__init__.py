"""A server on the user's own machine, and what programs put on it: routes, pages, work in the background.

A program is a list of ``Part``s. ``dovetail serve`` is one (``annotator.py``), ``dovetail label`` another:

    part = Part(
        router=router,                               # a fastapi.APIRouter: its routes appear in /openapi.json
        pages={"/": FOLDER / "label.html"},          # a path, and the html file that answers it
        assets={"/assets/label": FOLDER / "assets"}, # a prefix, and the folder whose files lie under it
        streamed=("/import",),                       # routes that read a body of any length piece by piece
        lifespan=session.running,                    # an async context manager: entered at the start, left at the end
        health=lambda: {"sentences": 40},            # fields of /health
        metrics=lambda: ["dovetail_label_sentences 40"],  # lines of /metrics
    )
    app = make_app([part], title="dovetail label", guard=guard_for("127.0.0.1"))
    run(app, "127.0.0.1", 8765, said=say, open_page=True)

All that is common is done for the parts, before a request reaches them (``gate.py``): wrong Host headers, posts from
other sites, missing tokens, content types other than JSON, bodies that are too large, too slow, no JSON, nested too
deeply, or that hold NUL characters or halves of surrogate pairs, and more requests at once than there is room for.
Routes declare their bodies as pydantic models; they raise ``Refused(status, message)``, or any ``DovetailError``, which
is answered with 422. Every failure is ``{"error": "what is wrong and what to do"}``, with ``"where"`` if a field is to
blame.

Pages and their scripts and styles are plain files, without a build step. The policy of all pages is strict: nothing
from other hosts, no script or style inside html or attributes (scripts may set ``element.style``). Shared by all, under
``/assets/shared/``: ``tokens.css`` (colours, letters, spaces, plain elements; light and dark), ``api.js`` (``get``,
``post``: JSON, and errors with their message), ``dom.js`` (``make``, ``byId``, ``percent``), ``tones.js`` (``toneOf``,
the colour of a label), ``theme.js`` (``themeButton``).
"""

from __future__ import annotations

import dovetail.serve.extra  # noqa: F401  # the first, for it says what to install where starlette is missing
from dovetail.serve.app import make_app
from dovetail.serve.failures import Refused
from dovetail.serve.gate import Limits
from dovetail.serve.guard import Guard, guard_for
from dovetail.serve.part import Part
from dovetail.serve.running import run

__all__ = ["Guard", "Limits", "Part", "Refused", "guard_for", "make_app", "run"]
