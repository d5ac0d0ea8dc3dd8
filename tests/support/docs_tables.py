"""Generate the tables in docs/validation.md: `python -m tests.support.docs_tables --write`."""

import json
import sys

from engine.domain_data import DATA_FOLDER, read_data_file
from engine.syntax.errors import SYNTAX_MESSAGES
from engine.verdicts.reasons import REASONS
from engine.verdicts.score import MAX_SCORES, MIN_SCORES, WEIGHTS
from tests.bench.table import markdown, write_between_markers
from tests.servers.product import ROOT

DOCUMENT = ROOT / "docs" / "validation.md"


def render_tables() -> dict[str, str]:
    return {
        "reasons": markdown([["verdict", "reason", "meaning", "what to do"], *_reasons()]),
        "score": markdown([["fact", "points"], *_points()]),
        "syntax errors": markdown(
            [["code", "message"], *([f"`{code}`", text] for code, text in SYNTAX_MESSAGES.items())]
        ),
        "lists": markdown(
            [["list", "entries", "source", "version", "date", "license"], *_domain_data()]
        ),
        "voters": markdown(
            [["list", "family", "curated", "names", "version", "date", "license"], *_voters()]
        ),
    }


def _reasons() -> list[list[str]]:
    return [
        [verdict, f"`{code}`{' *reserved*' if meaning.reserved else ''}", meaning.means, meaning.do]
        for verdict, reasons in REASONS.items()
        for code, meaning in reasons.items()
    ]


def _points() -> list[list[str]]:
    return [
        *(
            [f"{verdict}, evidence `{evidence}`: maximum", str(best)]
            for (verdict, evidence), best in MAX_SCORES.items()
        ),
        *([f"`{fact}`", f"−{weight}"] for fact, weight in WEIGHTS.items()),
        *([f"{verdict}: minimum", str(lowest)] for verdict, lowest in MIN_SCORES.items()),
    ]


def _voters() -> list[list[str]]:
    voters = json.loads((DATA_FOLDER / "disposable_voters.json").read_text(encoding="utf-8"))
    return [
        [
            *(voter["package"], voter["family"], "yes" if voter["curated"] else ""),
            *(f"{voter['names']:,}", voter["version"], voter["date"], voter["license"]),
        ]
        for voter in voters
    ]


def _domain_data() -> list[list[str]]:
    updated = ("disposable", "disposable_voted", "disposable_unseconded", "public_suffixes")
    names = sorted(
        (path.stem for path in DATA_FOLDER.glob("*.txt")), key=lambda n: (n not in updated, n)
    )
    return [
        [f"`{name}`", f"{len(file.entries):,}", file.source, file.version, file.date, file.license]
        for name, file in ((name, read_data_file(name)) for name in names)
    ]


if __name__ == "__main__":
    for name, table in render_tables().items():
        if "--write" in sys.argv:
            write_between_markers(DOCUMENT, name, table)
        else:
            print(f"{name}\n{table}\n")
