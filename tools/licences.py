"""What a wheel of dovetail runs on, and under which licences, as CycloneDX: what it needs, as it is installed here.

python tools/licences.py dist/dovetail_nlp-VERSION-py3-none-any.whl    # writes the .cdx.json beside it, a table
"""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution, distributions
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement


def needed(first: Distribution) -> dict[str, Distribution]:
    """The distributions that one needs without extras, and all that they need, itself left out."""
    found: dict[str, Distribution] = {}
    ahead = [first]
    while ahead:
        one = ahead.pop()
        for line in one.requires or ():
            wanted = Requirement(line)
            key = re.sub(r"[-_.]+", "-", wanted.name).lower()
            if key not in found and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
                found[key] = distribution(wanted.name)
                ahead.append(found[key])
    return dict(sorted(found.items()))


def licence(one: Distribution) -> str:
    """What a distribution says of its licence: an expression, a classifier, or the first line of a text."""
    said = one.metadata.get("License-Expression")
    classes = [c.rpartition(" :: ")[2] for c in one.metadata.get_all("Classifier") or () if c.startswith("License ::")]
    text = (one.metadata.get("License") or "").strip().splitlines()
    return said or " and ".join(classes) or (text[0] if text else "not said")


def bill(of: Distribution) -> dict[str, Any]:
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
    subject = {"type": "library", "name": of.name, "version": of.version}
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
    wheel = Path(sys.argv[1])
    try:
        [subject] = distributions(path=[str(wheel)])
        made, rows = bill(subject), needed(subject)
    except PackageNotFoundError as error:
        sys.exit(f"{error} is not installed: pip install . first")
    to = wheel.with_name(f"{subject.name}-{subject.version}.cdx.json")
    to.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    for name, one in rows.items():
        print(f"{name:20} {one.version:10} {licence(one)}")


if __name__ == "__main__":
    main()
