from __future__ import annotations

import inspect
import subprocess
import sys

import dovetail.evaluate


def test_every_public_function_has_an_example():
    public = [getattr(dovetail.evaluate, name) for name in dovetail.evaluate.__all__]
    without = [f.__name__ for f in public if inspect.isfunction(f) and ">>>" not in (f.__doc__ or "")]
    assert without == []


def test_import_is_light():
    code = "import sys, dovetail.evaluate; print(*{'matplotlib', 'numba', 'scipy'} & set(sys.modules))"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert finished.stdout.split() == []
