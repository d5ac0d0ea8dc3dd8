"""Measure the engine's accuracy, and write it for the docs page: `python -m tests.accuracy FOLDER`.

FOLDER has the public files that SOURCES lists, under these names.
"""

import json
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from engine.domain_data import DOMAIN_DATA
from tests.accuracy import measures
from tests.accuracy.measures import Measure, read_lines
from tests.servers.product import ROOT

SOURCES = {
    "isemail.xml": "github.com/dominicsayers/isemail, test/tests.xml",
    "universities.txt": "github.com/JetBrains/swot: the paths in lib/domains, as domains",
    "popular.txt": "github.com/opendns/public-domain-lists: both files",
    "verified.txt": "github.com/disposable/disposable-email-domains, domains_mx.txt",
    "held_out.txt": "github.com/doodad-labs/disposable-email-domains, data/active.txt",
}
RESULTS = ROOT / "reference" / "accuracy.json"


def measure_all(folder: Path) -> dict[str, Iterable[Measure]]:
    verified, held_out = (read_lines(folder / f"{name}.txt") for name in ("verified", "held_out"))
    return {
        "syntax": measures.measure_syntax(folder / "isemail.xml"),
        "universities": measures.measure_legitimate(folder / "universities.txt"),
        "popular": measures.measure_legitimate(folder / "popular.txt"),
        "verified": measures.measure_disposable(verified),
        "held_out": measures.measure_disposable(held_out),
        "on_both": measures.measure_disposable({*verified} & {*held_out}),
        "typos": measures.measure_typos(),
        "persons": measures.measure_roles(),
        "replies": measures.measure_replies(),
    }


def main(folder: Path) -> None:
    if missing := [name for name in SOURCES if not (folder / name).exists()]:
        lines = [f"{name}: {SOURCES[name]}" for name in missing]
        raise SystemExit("\n".join((f"These files are missing in {folder}:", *lines)))
    found = {
        f"{group}_{one.name}": [one.count, one.total]
        for group, found in measure_all(folder).items()
        for one in found
    }
    for name, (count, total) in found.items():
        print(f"{name}: {count:,} of {total:,} ({count / total:.2%})")
    document = {
        "measured_on": f"{datetime.now(UTC):%Y-%m-%d}",
        "domain_data": DOMAIN_DATA.version,
        "figures": found,
    }
    RESULTS.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
