"""The HTTP requests whose answers ``tools/compare.py`` compares: every route of ``dovetail serve`` and ``label``.

Servers are started as users start them, and listen on the loopback address alone, on any port that is free.
"""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from compare_commands import MODELS, outermost, write_files, write_lines
from compare_run import COMMAND, Part

START_TIMEOUT_S = 300.0
"""Time that a server has to listen; where nothing is compiled yet, it takes long."""
TRAINING_TIMEOUT_S = 300.0
POLL_S = 0.05
LEFT_OUT = {"date", "content-length", "last-modified", "etag"}
"""Headers that differ from run to run, or say again what the body says."""
LINK = re.compile(r"""(?:href=|src=|from |import |@import |url\()["']?([./][\w./-]*)["')]""")
"""A link of a page, a script or a style to another of this server."""
TOKEN = "a-token-of-our-own"
TEXT = "Ada saw Bern . Bela saw Ada ."
LONG_TEXT = "a " * 60_000
FIRST_ANSWERS, ANSWERS = 6, 26
"""Sentences that are labelled: the first model comes after 5 of them, one that is judged after 20."""

Body = Mapping[str, Any] | list[Any] | str | bytes | None
Request = tuple[str, str, Body] | tuple[str, str, Body, Mapping[str, str]]
"""Method, path, body (text is sent as it is, anything else as JSON), and headers besides the usual ones."""

SERVED = ("tagger", "dependency-tags", "parser", "nested", "words", "segments-markov", "joint", "tagger-edges")
ANNOTATING: list[Request] = [
    ("GET", "/health", None),
    ("GET", "/models", None),
    ("GET", "/openapi.json", None),
    ("GET", "/favicon.ico", None),
    ("HEAD", "/health", None),
    *(("POST", "/annotate", {"text": TEXT, "model": name, "alternatives": 3, "pictures": True}) for name in SERVED),
    ("POST", "/annotate", {"text": TEXT}),
    ("POST", "/annotate", {"words": [["Ada", "saw", "Bern"], ["Bela-Ada"]], "model": "tagger"}),
    ("POST", "/annotate", {"text": ""}),
    ("POST", "/annotate", {"text": "a b\u2028c\x85d \U0001f600 Ada"}),
    ("POST", "/annotate", {}),
    ("POST", "/annotate", {"text": 7}),
    ("POST", "/annotate", {"text": "a", "words": [["a"]]}),
    ("POST", "/annotate", {"text": "a", "model": "other"}),
    ("POST", "/annotate", {"text": "a", "k": 7}),
    ("POST", "/annotate", {"text": "a", "alternatives": 21}),
    ("POST", "/annotate", {"words": [["a", ""]]}),
    ("POST", "/annotate", {"text": LONG_TEXT}),
    # The server closes the connection before such a body is sent, so none is.
    ("POST", "/annotate", None, {"Content-Type": "application/json", "Content-Length": "2000000"}),
    ("POST", "/annotate", "{"),
    ("POST", "/annotate", '{"text": NaN}'),
    ("POST", "/annotate", "[" * 900 + "]" * 900),
    ("POST", "/annotate", b'{"text": "\xff"}'),
    ("POST", "/annotate", '{"text": "a\\u0000b"}'),
    ("POST", "/annotate", {"text": "Ada"}, {"Content-Type": "text/plain"}),
    ("POST", "/annotate", {"text": "Ada"}, {"Host": "elsewhere.example"}),
    ("POST", "/annotate", {"text": "Ada"}, {"Origin": "http://elsewhere.example"}),
    ("POST", "/annotate", {"text": "Ada"}, {"Sec-Fetch-Site": "cross-site"}),
    ("GET", "/annotate", None),
    ("GET", "/nowhere", None),
    ("DELETE", "/models", None),
    ("POST", "/explain", {"text": "Ada saw Bern .", "token": 2, "top": 3}),
    ("POST", "/explain", {"text": "Ada saw Bern .", "model": "tagger-edges", "token": 2, "top": 3}),
    ("POST", "/explain", {"text": "Ada saw Bern .", "model": "parser", "start": 1, "end": 2, "top": 3}),
    ("POST", "/explain", {"text": "Ada saw Bern .", "model": "dependency-tags", "token": 1, "top": 3}),
    ("POST", "/explain", {"text": "Ada saw Bern .", "model": "nested", "token": 0}),
    ("POST", "/explain", {"text": "Ada saw Bern .", "token": 9}),
    ("POST", "/explain", {"text": "Ada saw Bern .", "token": 0, "sentence": 4}),
    ("POST", "/explain", {"text": "Ada saw Bern ."}),
    (
        "POST",
        "/batch",
        '{"id": "x", "text": "Ada saw Bern ."}\n\n"Bela saw Ada ."\nnonsense\n[1]\n{"words": [["Ada"]]}\n',
    ),
    ("POST", "/batch?model=segments-markov", '{"id": {"a": 1}, "text": "Ada saw Bern ."}\n' * 3),
    ("POST", "/batch?model=other", '"Ada"\n'),
    ("POST", "/batch", '"Ada"\n', {"Content-Type": "text/plain"}),
    ("GET", "/metrics", None),
]
GUARDED: list[Request] = [
    ("GET", "/health", None),
    ("GET", "/models", None),
    ("GET", "/models", None, {"Authorization": f"Bearer {TOKEN}"}),
    ("GET", "/models", None, {"Authorization": "Bearer another"}),
    ("GET", f"/?token={TOKEN}", None),
    ("GET", "/?token=another", None),
    ("GET", "/health", None, {"Host": "friend.example"}),
]
BEFORE_LABELS: list[Request] = [
    ("GET", "/metrics", None),
    ("GET", "/health", None),
    ("GET", "/openapi.json", None),
    ("GET", "/label/status?tab=a", None),
    ("POST", "/label/next", {"tab": "a"}),
    ("POST", "/label/next", {"tab": "b", "annotator": "Bela"}),
    ("POST", "/label/open", {"tab": "a", "number": 3}),
    ("POST", "/label/open", {"tab": "b", "number": 3}),
    ("POST", "/label/undo", {"tab": "a"}),
    ("GET", "/label/why?number=0&position=0", None),
    ("GET", "/label/export/conll", None),
]
WRONG_LABELS: list[Request] = [
    ("POST", "/label/answer", {"tab": "a", "number": 0, "answer": [[0, 99, "PER"]]}),
    ("POST", "/label/answer", {"tab": "a", "number": 0, "answer": "all of it"}),
    ("POST", "/label/answer", {"tab": "a", "number": 10**9, "answer": []}),
    ("POST", "/label/answer", {"tab": "a", "number": 0, "answer": [], "state": "undone"}),
    ("POST", "/label/answer", {"tab": "a", "number": 0, "answer": [], "annotator": "a\nb"}),
    ("POST", "/label/answer", {"tab": "a", "number": 0, "answer": [], "more": 1}),
    ("POST", "/label/answer", {"tab": "a", "number": 0, "state": "done"}),
    ("POST", "/label/next", {"tab": ""}),
    ("POST", "/label/next", {}),
    ("POST", "/label/open", {"tab": "a", "number": 1200}),
    ("GET", "/label/why?number=0&position=99", None),
    ("GET", "/label/export/exe", None),
    ("GET", "/label/search?state=odd", None),
    ("GET", "/label/status", None),
]
AFTER_LABELS: list[Request] = [
    ("POST", "/label/answer", {"tab": "a", "number": 30, "state": "skipped"}),
    ("POST", "/label/answer", {"tab": "a", "number": 31, "state": "flagged", "note": "is this one?"}),
    (
        "POST",
        "/label/answer",
        {"tab": "b", "number": 0, "answer": [[0, 1, "PER"]], "annotator": "Bela", "seconds": 2.5},
    ),
    ("POST", "/label/undo", {"tab": "b", "annotator": "Bela"}),
    ("GET", "/label/search?q=Clara", None),
    ("GET", "/label/search?state=done", None),
    ("GET", "/label/search?state=flagged&annotator=Bela", None),
    ("GET", "/label/why?number=0&position=0", None),
    ("GET", "/label/why?number=35&position=3", None),
    ("POST", "/label/open", {"tab": "a", "number": 35}),
    *(("GET", f"/label/export/{f}", None) for f in ("conll", "jsonl", "spacy", "label-studio", "prodigy", "doccano")),
    ("GET", "/label/export/model", None),
]


class Server:
    """A server of dovetail, with records of what it has answered."""

    def __init__(self, name: str, arguments: list[str], folder: Path, work: Path) -> None:
        self.name, self.folder = name, folder
        self.records: list[dict[str, Any]] = []
        self.out, self.err = (folder / f"{name}.{stream}" for stream in ("out", "err"))
        script = Path(sys.executable).with_name(COMMAND)
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen([script, *arguments, "--port", "0"], cwd=work, stdout=out, stderr=err)
        self.port = self._port()

    def _port(self) -> int:
        began = time.monotonic()
        while time.monotonic() - began < START_TIMEOUT_S and self.process.poll() is None:
            told = re.search(r"http://127\.0\.0\.1:(\d+)/", self.err.read_text("utf-8"))
            if told:
                return int(told[1])
            time.sleep(POLL_S)
        self.process.kill()
        raise RuntimeError(f"{self.name} does not listen: {self.err.read_text('utf-8')}")

    def asked(self, request: Request) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of the answer to a request."""
        method, path, body, *more = request
        headers = (
            {} if body is None else {"Content-Type": "application/x-ndjson" if "/batch" in path else "application/json"}
        )
        data = (
            body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        )
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TRAINING_TIMEOUT_S)
        try:
            connection.request(method, path, None if body is None else data, {**headers, **(more[0] if more else {})})
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return answer.status, found, answer.read()
        finally:
            connection.close()

    def record(self, request: Request) -> tuple[int, dict[str, str], bytes]:
        """Send a request, and keep the answer for the comparison."""
        status, headers, body = answer = self.asked(request)
        method, path, given, *more = request
        told = "" if given is None else repr(given) if isinstance(given, bytes) else json.dumps(given)
        name = f"{self.name} {method} {path} {told[:160]}{json.dumps(more[0]) if more else ''}".strip()
        count = sum(one["name"].partition(" (")[0] == name for one in self.records)
        number = len(self.records)
        place = f"{self.name}-{number:03}.body"
        (self.folder / place).write_bytes(body)
        fields = {"status": status} | {n: v for n, v in sorted(headers.items()) if n not in LEFT_OUT}
        self.records.append(
            {"name": f"{name} ({count + 1})" if count else name, "fields": fields, "files": {"body": place}}
        )
        return answer

    def record_page(self) -> None:
        """Ask for the page and for all that it links to, and that links to."""
        waiting, seen = ["/"], set()
        while waiting:
            path = waiting.pop(0)
            if path in seen:
                continue
            seen.add(path)
            _, headers, body = self.record(("GET", path, None))
            if re.match(r"text/(html|css|javascript)|application/javascript", headers.get("content-type", "")):
                links = (urljoin(path, link) for link in LINK.findall(body.decode("utf-8")))
                waiting += sorted(link for link in set(links) if link.startswith("/assets/"))

    def wait_for_training(self) -> None:
        """Wait until the model in the background has learnt what there is."""
        began = time.monotonic()
        while json.loads(self.asked(("GET", "/label/status?tab=waiting", None))[2])["training"]["busy"]:
            if time.monotonic() - began > TRAINING_TIMEOUT_S:
                raise RuntimeError("training does not end")
            time.sleep(POLL_S)

    def label_next(self, right: Callable[[Mapping[str, Any]], list[Any]]) -> None:
        """Give the right answer to the next sentence, once the model has learnt from those before it."""
        self.wait_for_training()
        item = json.loads(self.asked(("POST", "/label/next", {"tab": "a"}))[2])["item"]
        answer = right(labelled_rows()[" ".join(item["words"])])
        self.record(("POST", "/label/answer", {"tab": "a", "number": item["number"], "answer": answer}))

    def stop(self) -> None:
        """End the server as a user does, and record how it ended and what it printed."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(60)
        texts = {name: path.read_text("utf-8") for name, path in (("stdout", self.out), ("stderr", self.err))}
        self.records.append({"name": f"{self.name} ends", "fields": {"exit code": code, **texts}, "files": {}})


def route_parts() -> Iterator[Part]:
    """Yield the parts whose results are answers of servers."""
    for name, work in (("serve", _serve), ("guarded", _guarded), ("label", _label), ("label-others", _label_others)):
        yield Part(f"routes/{name}", partial(_recorded, work=work))


def labelled_rows() -> dict[str, Mapping[str, Any]]:
    """Return the sentences that are labelled, with what is right, by their words."""
    from variations import records

    return {" ".join(row["words"]): row for row in records(60, 5)}


def _recorded(folder: Path, work: Any) -> None:
    place = folder / "work"
    place.mkdir()
    write_files(place)
    write_lines(place / "texts.txt", labelled_rows())
    records: list[dict[str, Any]] = []
    try:
        for server in work(folder, place):
            records += server.records
    finally:
        (folder / "records.json").write_text(json.dumps(records, ensure_ascii=False, indent=1), "utf-8")


def _model(name: str) -> str:
    [path] = MODELS.glob(f"{name}.dovetail*")
    return f"{name}=models/{path.name}"


def _serve(folder: Path, work: Path) -> Iterator[Server]:
    """Yield a server of many models that has answered all that can be asked."""
    limits = ["--queue", "256", "--timeout", "30", "--threads", "1"]
    server = Server("serve", ["serve", *(f"--model={_model(name)}" for name in SERVED), *limits], folder, work)
    try:
        server.record_page()
        for request in ANNOTATING:
            server.record(request)
        server.records.append(untried(server))
    finally:
        server.stop()
    yield server


def untried(server: Server) -> dict[str, Any]:
    """Return a record of the routes that the server describes and nobody has asked for: there should be none."""
    described = json.loads(server.asked(("GET", "/openapi.json", None))[2])["paths"]
    asked = [one["name"].split(" ")[1:3] for one in server.records if one["name"].count(" ") > 1]
    patterns = {
        (method.upper(), path): re.sub(r"\{\w+\}", r"[^/?]+", path) for path in described for method in described[path]
    }
    missing = [
        f"{method} {path}"
        for (method, path), pattern in patterns.items()
        if not any(method == other and re.fullmatch(pattern, place.partition("?")[0]) for other, place in asked)
    ]
    wrong = f"routes that no request asks for: {', '.join(missing)}" if missing else None
    return {"name": f"{server.name} routes", "fields": {"untried": missing}, "files": {}, "wrong": wrong}


def _guarded(folder: Path, work: Path) -> Iterator[Server]:
    """Yield a server that wants a token."""
    arguments = ["serve", f"--model={_model('tagger')}", "--token", TOKEN, "--allow-host", "friend.example"]
    server = Server("guarded", [*arguments, "--threads", "1"], folder, work)
    try:
        for request in GUARDED:
            server.record(request)
    finally:
        server.stop()
    yield server


def _label(folder: Path, work: Path) -> Iterator[Server]:
    """Yield a session in which entities were labelled until models were trained, and the next one, which goes on."""
    arguments = [
        "label",
        "texts.txt",
        "--labels",
        "PER LOC ORG",
        "--task",
        "entities",
        "--no-browser",
        "--annotator",
        "ada",
    ]
    arguments += ["--seed", "1", "--threads", "1", "--lines", "sentences", "--tokenised", "-o", "texts.labels.jsonl"]
    server = Server("label", arguments, folder, work)
    try:
        server.record_page()
        for request in BEFORE_LABELS:
            server.record(request)
        for number in range(ANSWERS):
            if number in (0, FIRST_ANSWERS):
                server.wait_for_training()
                server.record(("GET", "/label/status?tab=a", None))
            server.label_next(outermost)
        server.wait_for_training()
        for request in [*AFTER_LABELS, *WRONG_LABELS]:
            server.record(request)
            server.wait_for_training()
        server.record(("GET", "/label/status?tab=a&annotator=Bela", None))
        server.records.append(untried(server))
    finally:
        server.stop()
    written = {path.name: f"work/{path.name}" for path in sorted(work.glob("texts.labels.*"))}
    server.records[-1]["files"] = written
    yield server


def _label_others(folder: Path, work: Path) -> Iterator[Server]:
    """Yield sessions that label words and nested entities, and one that begins with a model."""
    common = [
        "--no-browser",
        "--annotator",
        "ada",
        "--seed",
        "1",
        "--threads",
        "1",
        "--lines",
        "sentences",
        "--tokenised",
    ]
    sessions: dict[str, tuple[list[str], Callable[[Mapping[str, Any]], list[Any]]]] = {
        "words": (["--labels", "NNP,VBD,NN", "--task", "words"], partial(_some_tags, known=("NNP", "VBD", "NN"))),
        "nested": (["--labels", "PER LOC ORG", "--task", "nested"], lambda row: row["entities"]),
        "model": (["--labels", "PER LOC ORG", "-m", "models/tagger.dovetail", "--labelled", "dev.conll"], outermost),
    }  # fmt: skip
    for name, (arguments, right) in sessions.items():
        kept = ["-o", f"{name}.labels.jsonl"]
        server = Server(f"label-{name}", ["label", "texts.txt", *arguments, *common, *kept], folder, work)
        try:
            for _ in range(FIRST_ANSWERS):
                server.label_next(right)
            server.wait_for_training()
            server.record(("GET", "/label/status?tab=a", None))
            server.record(("GET", "/label/export/jsonl", None))
        finally:
            server.stop()
        yield server


def _some_tags(row: Mapping[str, Any], known: Collection[str]) -> list[str | None]:
    return [tag if tag in known else None for tag in row["pos"]]
