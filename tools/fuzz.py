"""Damage files of every kind that dovetail reads until one of them brings up an error that is not dovetail's own.

    python tools/fuzz.py --minutes 10 --seed 1
    python tools/fuzz.py --seed 1 --target conll --case 4711      # the same damage again

The first such file is printed and kept, with the way to repeat it; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
import traceback
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.fuzz.targets import TARGETS, Target, case, try_reading

AT_ONCE = 50  # cases of a kind before the next kind has its turn


def damaged(target: Target, seed: int, number: int) -> bytes:
    """The case of this number."""
    return case(target, Random(f"{seed} {target.name} {number}"))


def fails(target: Target, data: bytes, folder: Path) -> bool:
    """Whether reading this brings up an error that it should not, which is printed."""
    try:
        try_reading(target, data, folder)
    except Exception:
        traceback.print_exc()
        return True
    return False


def main() -> int:
    """Run until the time is over or something was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long")
    parser.add_argument("--seed", type=int, default=1, help="other seeds damage otherwise")
    parser.add_argument("--target", choices=[target.name for target in TARGETS], help="this kind of file alone")
    parser.add_argument("--case", type=int, help="this case alone")
    given = parser.parse_args()
    targets = [target for target in TARGETS if given.target in (None, target.name)]
    end = time.monotonic() + 60 * given.minutes
    tried = 0
    with tempfile.TemporaryDirectory() as folder:
        for start in itertools.count(0, AT_ONCE) if given.case is None else [given.case]:
            numbers = range(start, start + AT_ONCE) if given.case is None else [start]
            for target, number in itertools.product(targets, numbers):
                data = damaged(target, given.seed, number)
                tried += 1
                if fails(target, data, Path(folder)):
                    kept = Path(tempfile.mkdtemp(prefix="dovetail-fuzz-"), f"given{target.suffix}")
                    kept.write_bytes(data)
                    print(f"\n{target.name}, {len(data):,} bytes, kept as {kept}:\n{data[:2000]!r}")
                    print(f"again: python tools/fuzz.py --seed {given.seed} --target {target.name} --case {number}")
                    return 1
                if given.case is None and time.monotonic() > end:
                    print(f"{tried:,} damaged files, each read or refused as it should be")
                    return 0
    print(f"{tried:,} damaged files, each read or refused as it should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
