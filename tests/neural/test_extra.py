"""What is said where torch, or a device, is not there."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.extras import NEEDS

pytest.importorskip("torch", reason=NEEDS["torch"])


import dovetail
from dovetail.errors import DovetailError
from dovetail.neural.extra import device_of, torch

WITHOUT = """
import sys
sys.modules["torch"] = None  # what import finds there is an ImportError
import dovetail
print(dovetail.Tagger(features=["word[0]"], consistency="none").fit([["Ada"]] * 3, [["B-PER"]] * 3).predict([["Ada"]]))
try:
    import dovetail.neural.scorer
except dovetail.DovetailError as error:
    print(error)
"""


def test_without_torch_one_line_says_what_to_install() -> None:
    found = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines() == [
        "[['B-PER']]",
        "a neural network needs torch and transformers: pip install 'torch>=2.4' 'transformers>=4.44'",
    ]


def test_a_device_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(DovetailError, match="device='cuda': there is no CUDA device that torch can use here"):
        device_of("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert device_of("cuda:1").index == 1
    with pytest.raises(DovetailError, match="device='cuda:2': the last CUDA device here is cuda:1"):
        device_of("cuda:2")
    with pytest.raises(DovetailError, match="device='gpu': choose cpu, cuda or, of several, cuda:0"):
        device_of("gpu")


def test_the_environment_names_the_device_of_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setenv("DOVETAIL_DEVICE", "cuda")
    with pytest.raises(DovetailError, match="device='cuda': there is no CUDA device that torch can use here"):
        dovetail.Tagger(encoder="cnn", encoder_size=2, iterations=1).fit([["Ada", "slept"]], [["B-PER", "O"]])
