"""The HTTP requests whose answers ``tools/compare.py`` compares: every route of ``dovetail serve`` and ``label``.

Servers are started by the command, as users start them, and listen on the loopback address at any free port.
"""

from __future__ import annotations

import http.client
import json
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import urljoin

from compare_commands import MODELS, outermost_entities, write_files, write_lines
from compare_run import COMMAND, Part

START_TIMEOUT_S = 300.0
"""Time limit for a server to listen; compiling its kernels may take minutes."""
TRAINING_TIMEOUT_S = 300.0
STOP_TIMEOUT_S = 60.0
POLL_S = 0.05
METRICS_PAUSE_S = 0.5
"""Pause before metrics are read: a request is counted after its response has been sent."""
IGNORED_HEADERS = {"date", "content-length", "last-modified", "etag"}
"""Headers that differ from run to run, or repeat what the body says."""
MAX_NAME_CHARS = 160
"""Longest part of a body that the name of its request shows."""
LINK = re.compile(r"""(?:href=|src=|from |import |@import |url\()["']?([./][\w./-]*)["')]""")
"""A link of a page, a script or a style sheet to another file of the same server."""
JSON, JSON_LINES = "application/json", "application/x-ndjson"
TOKEN = "a-token-of-our-own"
TEXT = "Ada saw Bern . Bela saw Ada ."
LONG_TEXT = "a " * 60_000
N_FIRST_LABELS, N_LABELS = 6, 26
"""Number of sentences that are labelled: the first model is trained after 5, one that is also judged after 20."""
SERVED_MODELS = ("tagger", "dependency-tags", "parser", "nested", "words", "segments-markov", "joint", "tagger-edges")
LABEL_OPTIONS = "--no-browser --annotator ada --seed 1 --threads 1 --lines sentences --tokenised"
Row = Mapping[str, Any]
"""A made-up sentence with its annotation, as ``variations.make_records`` makes it."""


class Request(NamedTuple):
    """An HTTP request; a body of text or bytes is sent as it is, any other as JSON."""

    method: str
    path: str
    body: Any = None
    headers: Mapping[str, str] = {}

    @property
    def data(self) -> bytes | None:
        """The body as it is sent."""
        if self.body is None or isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()

    @property
    def name(self) -> str:
        """What the report calls the request."""
        body = "" if self.body is None else repr(self.body) if isinstance(self.body, bytes) else json.dumps(self.body)
        unusual = {name: value for name, value in self.headers.items() if value not in (JSON, JSON_LINES)}
        return f"{self.method} {self.path} {body[:MAX_NAME_CHARS]} {json.dumps(unusual) if unusual else ''}".strip()


def get(path: str, headers: Mapping[str, str] = {}) -> Request:
    """Return a GET request."""
    return Request("GET", path, None, headers)


def post(path: str, body: Any, headers: Mapping[str, str] = {}) -> Request:
    """Return a POST request, with the content type of its route unless the headers have another."""
    usual = {"Content-Type": JSON_LINES if path.startswith("/batch") else JSON}
    return Request("POST", path, body, usual | dict(headers))


ANNOTATE_REQUESTS: list[Request] = [
    get("/health"),
    get("/models"),
    get("/openapi.json"),
    get("/favicon.ico"),
    Request("HEAD", "/health"),
    *(post("/annotate", {"text": TEXT, "model": name, "alternatives": 3, "pictures": True}) for name in SERVED_MODELS),
    post("/annotate", {"text": TEXT}),
    post("/annotate", {"words": [["Ada", "saw", "Bern"], ["Bela-Ada"]], "model": "tagger"}),
    post("/annotate", {"text": ""}),
    post("/annotate", {"text": "a b\u2028c\x85d \U0001f600 Ada"}),
    post("/annotate", {}),
    post("/annotate", {"text": 7}),
    post("/annotate", {"text": "a", "words": [["a"]]}),
    post("/annotate", {"text": "a", "model": "other"}),
    post("/annotate", {"text": "a", "k": 7}),
    post("/annotate", {"text": "a", "alternatives": 21}),
    post("/annotate", {"words": [["a", ""]]}),
    post("/annotate", {"text": LONG_TEXT}),
    # The server closes the connection before it reads a body of this size, so none is sent.
    post("/annotate", None, {"Content-Length": "2000000"}),
    post("/annotate", "{"),
    post("/annotate", '{"text": NaN}'),
    post("/annotate", "[" * 900 + "]" * 900),
    post("/annotate", b'{"text": "\xff"}'),
    post("/annotate", '{"text": "a\\u0000b"}'),
    post("/annotate", {"text": "Ada"}, {"Content-Type": "text/plain"}),
    post("/annotate", {"text": "Ada"}, {"Host": "elsewhere.example"}),
    post("/annotate", {"text": "Ada"}, {"Origin": "http://elsewhere.example"}),
    post("/annotate", {"text": "Ada"}, {"Sec-Fetch-Site": "cross-site"}),
    get("/annotate"),
    get("/nowhere"),
    Request("DELETE", "/models"),
    post("/explain", {"text": "Ada saw Bern .", "token": 2, "top": 3}),
    post("/explain", {"text": "Ada saw Bern .", "model": "tagger-edges", "token": 2, "top": 3}),
    post("/explain", {"text": "Ada saw Bern .", "model": "parser", "start": 1, "end": 2, "top": 3}),
    post("/explain", {"text": "Ada saw Bern .", "model": "dependency-tags", "token": 1, "top": 3}),
    post("/explain", {"text": "Ada saw Bern .", "model": "nested", "token": 0}),
    post("/explain", {"text": "Ada saw Bern .", "token": 9}),
    post("/explain", {"text": "Ada saw Bern .", "token": 0, "sentence": 4}),
    post("/explain", {"text": "Ada saw Bern ."}),
    post("/batch", '{"id": "x", "text": "Ada saw Bern ."}\n\n"Bela saw Ada ."\nnonsense\n[1]\n{"words": [["Ada"]]}\n'),
    post("/batch?model=segments-markov", '{"id": {"a": 1}, "text": "Ada saw Bern ."}\n' * 3),
    post("/batch?model=other", '"Ada"\n'),
    post("/batch", '"Ada"\n', {"Content-Type": "text/plain"}),
    get("/metrics"),
]
TOKEN_REQUESTS: list[Request] = [
    get("/health"),
    get("/models"),
    get("/models", {"Authorization": f"Bearer {TOKEN}"}),
    get("/models", {"Authorization": "Bearer another"}),
    get(f"/?token={TOKEN}"),
    get("/?token=another"),
    get("/health", {"Host": "friend.example"}),
]
UNLABELLED_REQUESTS: list[Request] = [
    get("/metrics"),
    get("/health"),
    get("/openapi.json"),
    get("/label/status?tab=a"),
    post("/label/next", {"tab": "a"}),
    post("/label/next", {"tab": "b", "annotator": "Bela"}),
    post("/label/open", {"tab": "a", "number": 3}),
    post("/label/open", {"tab": "b", "number": 3}),
    post("/label/undo", {"tab": "a"}),
    get("/label/why?number=0&position=0"),
    get("/label/export/conll"),
]
WRONG_LABEL_REQUESTS: list[Request] = [
    post("/label/answer", {"tab": "a", "number": 0, "answer": [[0, 99, "PER"]]}),
    post("/label/answer", {"tab": "a", "number": 0, "answer": "all of it"}),
    post("/label/answer", {"tab": "a", "number": 10**9, "answer": []}),
    post("/label/answer", {"tab": "a", "number": 0, "answer": [], "state": "undone"}),
    post("/label/answer", {"tab": "a", "number": 0, "answer": [], "annotator": "a\nb"}),
    post("/label/answer", {"tab": "a", "number": 0, "answer": [], "more": 1}),
    post("/label/answer", {"tab": "a", "number": 0, "state": "done"}),
    post("/label/next", {"tab": ""}),
    post("/label/next", {}),
    post("/label/open", {"tab": "a", "number": 1200}),
    get("/label/why?number=0&position=99"),
    get("/label/export/exe"),
    get("/label/search?state=odd"),
    get("/label/status"),
]
LABELLED_REQUESTS: list[Request] = [
    post("/label/answer", {"tab": "a", "number": 30, "state": "skipped"}),
    post("/label/answer", {"tab": "a", "number": 31, "state": "flagged", "note": "is this one?"}),
    post("/label/answer", {"tab": "b", "number": 0, "answer": [[0, 1, "PER"]], "annotator": "Bela", "seconds": 2.5}),
    post("/label/undo", {"tab": "b", "annotator": "Bela"}),
    get("/label/search?q=Clara"),
    get("/label/search?state=done"),
    get("/label/search?state=flagged&annotator=Bela"),
    get("/label/why?number=0&position=0"),
    get("/label/why?number=35&position=3"),
    post("/label/open", {"tab": "a", "number": 35}),
    *(get(f"/label/export/{f}") for f in ("conll", "jsonl", "spacy", "label-studio", "prodigy", "doccano")),
    get("/label/export/model"),
]


class Server:
    """A server of dovetail, and records of its answers."""

    def __init__(self, name: str, arguments: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.records: list[dict[str, Any]] = []
        self.out, self.err = folder / f"{name}.out", folder / f"{name}.err"
        command = [Path(sys.executable).with_name(COMMAND), *shlex.split(arguments), "--port", "0"]
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(command, cwd=folder / "work", stdout=out, stderr=err)
        self.port = self._wait_for_port()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop the server as a user does, and record its exit code and what it printed."""
        self.process.send_signal(signal.SIGINT)
        fields = {"exit code": self.process.wait(STOP_TIMEOUT_S)}
        fields |= {"stdout": self.out.read_text("utf-8"), "stderr": self.err.read_text("utf-8")}
        self.records.append({"name": f"{self.name} stops", "request": "", "fields": fields, "files": {}})

    def _wait_for_port(self) -> int:
        end = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < end and self.process.poll() is None:
            if address := re.search(r"http://127\.0\.0\.1:(\d+)/", self.err.read_text("utf-8")):
                return int(address[1])
            time.sleep(POLL_S)
        self.process.kill()
        raise RuntimeError(f"{self.name} does not listen: {self.err.read_text('utf-8')}")

    def send(self, request: Request) -> tuple[dict[str, Any], bytes]:
        """Send a request, and return the status and the headers of the response, and its body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TRAINING_TIMEOUT_S)
        try:
            connection.request(request.method, request.path, request.data, dict(request.headers))
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in sorted(response.getheaders())}
            kept = {name: value for name, value in headers.items() if name not in IGNORED_HEADERS}
            return {"status": response.status} | kept, response.read()
        finally:
            connection.close()

    def send_json(self, request: Request) -> Any:
        """Send a request, and return the JSON value in the body of the response."""
        return json.loads(self.send(request)[1])

    def record(self, *requests: Request) -> None:
        """Send requests, and keep the responses for the comparison."""
        for request in requests:
            self._record(request)

    def _record(self, request: Request) -> tuple[dict[str, Any], bytes]:
        if request.path == "/metrics":
            time.sleep(METRICS_PAUSE_S)
        fields, body = self.send(request)
        n_same = sum(record["request"] == request.name for record in self.records)
        name = f"{self.name} {request.name}" + (f" ({n_same + 1})" if n_same else "")
        file = f"{self.name}-{len(self.records):03}.body"
        (self.folder / file).write_bytes(body)
        self.records.append({"name": name, "request": request.name, "fields": fields, "files": {"body": file}})
        return fields, body

    def record_page(self) -> None:
        """Record the page, and all scripts, styles and pictures that it links to, directly or not."""
        queue, seen = ["/"], {"/"}
        while queue:
            path = queue.pop(0)
            fields, body = self._record(get(path))
            if re.match(r"text/(html|css|javascript)|application/javascript", fields.get("content-type", "")):
                links = {urljoin(path, link) for link in LINK.findall(body.decode("utf-8"))}
                new = sorted(link for link in links - seen if link.startswith("/assets/"))
                queue += new
                seen |= set(new)

    def record_missing_routes(self) -> None:
        """Record which routes the server describes that no request has asked for: there should be none."""
        described = self.send_json(get("/openapi.json"))["paths"]
        sent = [record["request"].split()[:2] for record in self.records]
        missing = []
        for path, methods in described.items():
            pattern = re.sub(r"\{\w+\}", r"[^/?]+", path)
            for method in map(str.upper, methods):
                if not any(method == m and re.fullmatch(pattern, p.partition("?")[0]) for m, p in sent):
                    missing.append(f"{method} {path}")
        record = {"name": f"{self.name} routes", "request": "", "fields": {"not requested": missing}, "files": {}}
        self.records.append(record | {"wrong": f"add requests for {', '.join(missing)}" if missing else None})

    def wait_for_training(self) -> None:
        """Wait until the model in the background has learnt from all labels."""
        end = time.monotonic() + TRAINING_TIMEOUT_S
        while self.send_json(get("/label/status?tab=waiting"))["training"]["busy"]:
            if time.monotonic() > end:
                raise RuntimeError("training does not end")
            time.sleep(POLL_S)

    def label_next(self, right_answer: Callable[[Row], list[Any]]) -> None:
        """Label the next sentence, once the model has learnt from those before it."""
        self.wait_for_training()
        item = self.send_json(post("/label/next", {"tab": "a"}))["item"]
        answer = right_answer(load_rows()[" ".join(item["words"])])
        self.record(post("/label/answer", {"tab": "a", "number": item["number"], "answer": answer}))


def load_rows() -> dict[str, Row]:
    """Return the sentences to label by their words."""
    from variations import make_records

    return {" ".join(row["words"]): row for row in make_records(60, 5)}


def list_route_parts() -> Iterator[Part]:
    """Yield the parts whose results are responses of servers."""
    for name, run in (("serve", serve), ("token", serve_with_token), ("label", label), ("label-others", label_others)):
        yield Part(f"routes/{name}", partial(write_responses, run=run))


def write_responses(folder: Path, run: Callable[[Path], Iterator[Server]]) -> None:
    """Run some servers, and write their records."""
    (folder / "work").mkdir()
    write_files(folder / "work")
    write_lines(folder / "work" / "texts.txt", load_rows())
    records = [record for server in run(folder) for record in server.records]
    (folder / "records.json").write_text(json.dumps(records, ensure_ascii=False, indent=1), "utf-8")


def serve(folder: Path) -> Iterator[Server]:
    """Yield a server of many models after all its requests."""
    models = " ".join(f"--model {model_argument(name)}" for name in SERVED_MODELS)
    with Server("serve", f"serve {models} --queue 256 --timeout 30 --threads 1", folder) as server:
        server.record_page()
        server.record(*ANNOTATE_REQUESTS)
        server.record_missing_routes()
    yield server


def serve_with_token(folder: Path) -> Iterator[Server]:
    """Yield a server that needs a token after its requests."""
    options = f"--token {TOKEN} --allow-host friend.example --threads 1"
    with Server("token", f"serve --model {model_argument('tagger')} {options}", folder) as server:
        server.record(*TOKEN_REQUESTS)
    yield server


def model_argument(name: str) -> str:
    """Return ``NAME=FILE`` for one of the small models, whose file may be compressed."""
    [path] = MODELS.glob(f"{name}.dovetail*")
    return f"{name}=models/{path.name}"


def label(folder: Path) -> Iterator[Server]:
    """Yield a session after entities have been labelled, and a model has been trained and judged."""
    arguments = f"label texts.txt --labels 'PER LOC ORG' --task entities -o texts.labels.jsonl {LABEL_OPTIONS}"
    with Server("label", arguments, folder) as server:
        server.record_page()
        server.record(*UNLABELLED_REQUESTS)
        for number in range(N_LABELS):
            if number in (0, N_FIRST_LABELS):
                server.wait_for_training()
                server.record(get("/label/status?tab=a"))
            server.label_next(outermost_entities)
        for request in [*LABELLED_REQUESTS, *WRONG_LABEL_REQUESTS]:
            server.wait_for_training()
            server.record(request)
        server.record(get("/label/status?tab=a&annotator=Bela"))
        server.record_missing_routes()
    server.records[-1]["files"] = {path.name: f"work/{path.name}" for path in folder.glob("work/texts.labels.*")}
    yield server


def label_others(folder: Path) -> Iterator[Server]:
    """Yield sessions that label words and nested entities, and one that starts with a model and a labelled file."""
    sessions: dict[str, tuple[str, Callable[[Row], list[Any]]]] = {
        "words": ("--labels NNP,VBD,NN --task words", partial(keep_tags, kept=("NNP", "VBD", "NN"))),
        "nested": ("--labels 'PER LOC ORG' --task nested", lambda row: row["entities"]),
        "model": ("--labels 'PER LOC ORG' -m models/tagger.dovetail --labelled dev.conll", outermost_entities),
    }
    for name, (options, right_answer) in sessions.items():
        arguments = f"label texts.txt {options} -o {name}.labels.jsonl {LABEL_OPTIONS}"
        with Server(f"label-{name}", arguments, folder) as server:
            for _ in range(N_FIRST_LABELS):
                server.label_next(right_answer)
            server.wait_for_training()
            server.record(get("/label/status?tab=a"), get("/label/export/jsonl"))
        yield server


def keep_tags(row: Row, kept: Collection[str]) -> list[str | None]:
    """Return the part-of-speech tags of a sentence, None in place of those that are not kept."""
    return [tag if tag in kept else None for tag in row["pos"]]
