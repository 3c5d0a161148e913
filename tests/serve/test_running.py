"""``dovetail serve`` as a process: what it prints, what it refuses, how it stops."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.extras import NEEDS

pytest.importorskip("fastapi", reason=NEEDS["fastapi"])

from dovetail.errors import DovetailError
from dovetail.serve.running import address_of, listen
from tests.cli.conftest import Run, run
from tests.serve.conftest import MODELS

__all__ = ["run"]
TAGGER = str(MODELS / "tagger.dovetail")


@contextlib.contextmanager
def started(*more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and its address."""
    command = [sys.executable, "-m", "dovetail", "serve", "--model", TAGGER, "--port", "0", *more]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        told = process.stderr.readline()
        assert "tagger (entities)" in told, told
        address = re.search(r"http://\S+", process.stderr.readline())
        assert address is not None
        yield process, address[0]
    finally:
        process.kill()
        process.communicate()


def post(address: str, path: str, body: Any, **headers: str) -> dict[str, Any]:
    data = json.dumps(body).encode()
    request = urllib.request.Request(address + path, data, {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=300) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_when_asked_to_and_not_before_it_has_answered(sent: signal.Signals) -> None:
    with started() as (process, address):
        assert post(address, "annotate", {"text": "Ada saw Bern ."})["model"] == "tagger"
        found: list[Any] = []
        text = "Ada saw Bern . " * 6000
        asking = threading.Thread(target=lambda: found.append(post(address, "annotate", {"text": text})))
        asking.start()
        while "dovetail_requests_running 2" not in urllib.request.urlopen(address + "metrics").read().decode():
            assert asking.is_alive() or not found
            if found:
                break  # it was too quick to be seen at work
        process.send_signal(sent)
        asking.join(300)
        assert len(found[0]["sentences"]) == 6000
        assert process.wait(300) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


def test_a_token_is_taken_from_the_address_that_is_printed() -> None:
    with started("--token", "a-secret") as (_, address):
        assert address.endswith("/?token=a-secret")
        plain = address.partition("?")[0]
        with pytest.raises(urllib.error.HTTPError, match="401"):
            post(plain, "annotate", {"text": "Ada"})
        assert post(plain, "annotate", {"text": "Ada"}, Authorization="Bearer a-secret")["model"] == "tagger"


def test_bodies_of_ten_megabytes_are_refused_at_once_and_streamed_by_batch() -> None:
    with started() as (_, address):
        host, port = re.findall(r"//(.*):(\d+)/", address)[0]
        with socket.create_connection((host, int(port))) as connection:
            head = f"POST /annotate HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            connection.sendall(f"{head}Content-Length: 10000000\r\n\r\n".encode())
            assert b" 413 " in connection.recv(1000)  # before any of it was sent
        line = json.dumps({"text": "Ada saw Bern . " * 3}) + "\n"
        body = (line * 4000 + " " * 10_000_000 + "\n").encode()  # all sent before the first answer is read
        request = urllib.request.Request(address + "batch", body, {"Content-Type": "application/x-ndjson"})
        with urllib.request.urlopen(request, timeout=300) as answer:
            found = [json.loads(line) for line in answer]
        assert len(found) == 4001
        assert "longer than" in found[-1]["error"]


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    with started("--timeout", "1") as (_, address):
        host, port = re.findall(r"//(.*):(\d+)/", address)[0]
        with socket.create_connection((host, int(port)), timeout=300) as connection:
            head = f"POST /annotate HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            connection.sendall(f'{head}Content-Length: 100\r\n\r\n{{"text": '.encode())
            answer = b""
            while piece := connection.recv(1000):
                answer += piece
        assert b" 408 " in answer
        assert b"the body did not arrive within 1 s" in answer
        assert post(address, "annotate", {"text": "Ada saw Bern ."})["model"] == "tagger"


def test_a_client_that_goes_away_in_a_batch_leaves_nothing_behind() -> None:
    with started() as (_, address):
        host, port = re.findall(r"//(.*):(\d+)/", address)[0]
        with socket.create_connection((host, int(port))) as connection:
            head = f"POST /batch HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/x-ndjson\r\n"
            connection.sendall(f'{head}Content-Length: 9000000\r\n\r\n"Ada saw Bern ."\n'.encode())
            assert b" 200 " in connection.recv(1000)
        for _ in range(200):
            told = urllib.request.urlopen(address + "metrics").read().decode()
            if "dovetail_requests_running 1\n" in told:  # this one
                break
            time.sleep(0.05)
        assert "dovetail_requests_running 1\n" in told


def test_a_port_that_is_taken_is_told(run: Run) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        code, _, err = run("serve", "--model", TAGGER, "--port", port)
        assert code == 2
        assert f"port {port} of 127.0.0.1 cannot be used: it is taken; choose another with --port" in err


def test_addresses() -> None:
    with pytest.raises(DovetailError, match="there is no such host"):
        listen("no.such.host.invalid", 0)
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        assert address_of(listening, "127.0.0.1", None) == f"http://127.0.0.1:{port}/"
        assert address_of(listening, "::1", "t") == f"http://[::1]:{port}/?token=t"
        assert socket.gethostname() in address_of(listening, "0.0.0.0", "t")


def test_without_the_extra_it_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("dovetail.serve")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    code, _, err = run("serve", "--model", TAGGER)
    assert code == 2
    assert "a server needs fastapi and uvicorn: pip install 'fastapi>=0.115' 'uvicorn>=0.30'" in err


HOSTILE = b"cos\nsystem\n(S'touch MARK'\ntR."


@pytest.mark.parametrize("ending", ["dovetail", "pkl", "toml"])
def test_a_file_that_would_run_code_is_refused(run: Run, tmp_path: Path, ending: str) -> None:
    mark = tmp_path / "mark"
    (tmp_path / "evil.py").write_text(f"open({str(mark)!r}, 'w')")
    bodies = {
        "dovetail": HOSTILE.replace(b"MARK", str(mark).encode()),
        "pkl": HOSTILE.replace(b"MARK", str(mark).encode()),
        "toml": b'[[stages]]\nname = "x"\nfunction = "evil:x"\n',
    }
    file = tmp_path / f"model.{ending}"
    file.write_bytes(bodies[ending])
    code, _, err = run("serve", "--model", file)
    assert code == 2
    assert "not a dovetail model" in err
    assert not mark.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "os"},
        {"kind": "__import__"},
        {"kind": "pipeline", "stages": [{"name": "os.system", "reads": [], "writes": ["x"], "temperature": 1.0}]},
        {"templates": {"node": ["__import__('os').system('touch MARK')"]}},
        {"features": {"functions": ["os.system"]}},
        {"settings": {"features": "__import__('os').system('touch MARK')"}},
        {"network": {"kind": "os:system", "factor": 1.0, "made": {}}},
        {"labels": "x" * 100},
        {"layers": {"pos": {"kind": "os"}}},
    ],
    ids=str,
)
def test_a_header_that_names_code_runs_none(tmp_path: Path, change: dict[str, Any]) -> None:
    from dovetail.modelfile import load_model, save_model
    from dovetail.serve.roster import roster

    header, arrays = load_model(TAGGER)
    mark = tmp_path / "MARK"
    told = json.loads(json.dumps(header | change).replace("MARK", str(mark)))
    told.pop("checksums")
    save_model(tmp_path / "evil.dovetail", told, arrays)
    here = os.getcwd()  # noqa: PTH109
    os.chdir(tmp_path)
    try:
        with contextlib.suppress(DovetailError):  # it may be refused, or what is wrong not be looked at
            [served] = roster(["evil.dovetail"])
            list(served.model.annotate(["Ada saw Bern ."]))
    finally:
        os.chdir(here)
    assert not mark.exists()
