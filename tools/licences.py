"""What dovetail runs on, and under which licences, as CycloneDX: from what is installed.

python tools/licences.py dist    # writes dist/dovetail-VERSION.cdx.json, and prints a table
"""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement


def needed(name: str = "dovetail") -> dict[str, Distribution]:
    """The distributions that one needs without extras, and all that they need, itself left out."""
    found: dict[str, Distribution] = {}
    ahead = [name]
    while ahead:
        one = distribution(ahead.pop())
        for line in one.requires or ():
            wanted = Requirement(line)
            key = re.sub(r"[-_.]+", "-", wanted.name).lower()
            if key not in found and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
                found[key] = distribution(wanted.name)
                ahead.append(wanted.name)
    return dict(sorted(found.items()))


def licence(one: Distribution) -> str:
    """What a distribution says of its licence: an expression, a classifier, or the first line of a text."""
    said = one.metadata.get("License-Expression")
    classes = [c.rpartition(" :: ")[2] for c in one.metadata.get_all("Classifier") or () if c.startswith("License ::")]
    text = (one.metadata.get("License") or "").strip().splitlines()
    return said or " and ".join(classes) or (text[0] if text else "not said")


def bill(of: str = "dovetail") -> dict[str, Any]:
    """The bill of materials: CycloneDX 1.5."""
    components = [
        {
            "type": "library",
            "name": name,
            "version": one.version,
            "purl": f"pkg:pypi/{name}@{one.version}",
            "licenses": [_licence_entry(one)],
        }
        for name, one in needed(of).items()
    ]
    subject = {"type": "library", "name": of, "version": distribution(of).version}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": subject},
        "components": components,
    }


def _licence_entry(one: Distribution) -> dict[str, Any]:
    said = one.metadata.get("License-Expression")
    return {"expression": said} if said else {"license": {"name": licence(one)}}


def main() -> None:
    """Write the bill, print the table."""
    try:
        made = bill()
    except PackageNotFoundError as error:
        sys.exit(f"{error} is not installed: pip install . first")
    version = made["metadata"]["component"]["version"]
    Path(sys.argv[1], f"dovetail-{version}.cdx.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    for name, one in needed().items():
        print(f"{name:20} {one.version:10} {licence(one)}")


if __name__ == "__main__":
    main()
