"""``dovetail serve``: models over HTTP, with a page to try them."""

from __future__ import annotations

from pathlib import Path

from dovetail.cli.console import say
from dovetail.cli.options import option, switch
from dovetail.cli.paths import Reads
from dovetail.errors import DovetailError

HOST = option("NAME", "Where to listen; 0.0.0.0 for all who can reach this machine.", default="127.0.0.1")
PORT = option("N", "The port; 0 takes any that is free.", default=8765)
TOKEN = option(
    "TEXT", "What every request must show; open the page by the address that is printed.", shown="none; not on loopback"
)
ALLOW_HOST = option("NAME", "A name under which others call this server; may be repeated.", shown="this machine's")
OPEN = switch("Open the page in a browser.", flag="--open")


def serve(
    model: list[Path] | None = option(
        "[NAME=]FILE",
        "A model, by the name of a file or of one that comes with dovetail; may be repeated.",
        Reads(named=True),
        short="-m",
        shown="all that come with dovetail",
    ),
    host: str = HOST,
    port: int = PORT,
    token: str | None = TOKEN,
    allow_host: list[str] | None = ALLOW_HOST,
    open_page: bool = OPEN,
    queue: int = option("N", "How many requests may wait for a model; others get 503.", default=256, min=1),
    timeout: float = option("SECONDS", "How long an answer may take.", default=30.0, min=1),
    threads: int = option("N", "Cores for each model.", default=1, min=1),
) -> None:
    """Answer over HTTP, and show a page to try models.

    The server listens on this machine alone, unless --host says otherwise; then everybody needs the token. Needs
    fastapi and uvicorn. Example:

    dovetail serve --model english-names --model mine.dovetail --open
    """
    if not 0 <= port <= 65535:
        raise DovetailError(f"--port {port}: choose a number from 0 to 65535")
    from dovetail.serve import Limits, guard_for, make_app, run
    from dovetail.serve.annotator import DESCRIPTION, Annotator
    from dovetail.serve.engine import Room
    from dovetail.serve.roster import roster

    models = roster([str(one) for one in model or ()], threads)
    say(f"models: {', '.join(f'{one.name} ({one.gives})' for one in models)}")
    annotator = Annotator(models, Room(jobs=queue, seconds=timeout))
    guard = guard_for(host, token, allow_host or ())
    limits = Limits(seconds=timeout)
    app = make_app([annotator.part()], title="dovetail", description=DESCRIPTION, guard=guard, limits=limits)
    run(app, host, port, said=say, guard=guard, open_page=open_page)
