"""Write the tables of docs/validation.md: `python -m tests.support.docs_tables --write`."""

import sys

from tests.bench.server import REPOSITORY
from tests.bench.table import markdown, write_between_markers
from validation.engine.dns.providers import HOSTS, OTHER
from validation.engine.domain_data import DATA, read_data_file
from validation.engine.meanings import by_verdict
from validation.engine.mistakes import SENTENCES
from validation.engine.score import BEST, LOWEST, WEIGHTS

DOCUMENT = REPOSITORY / "docs" / "validation.md"


def tables() -> dict[str, str]:
    return {
        "reasons": markdown(
            [
                ["verdict", "reason", "it means", "what to do"],
                *(
                    [
                        verdict,
                        f"`{code}`{'' if given else ' *reserved*'}",
                        meaning.means,
                        meaning.do,
                    ]
                    for verdict, reasons in by_verdict()
                    for code, meaning, given in reasons
                ),
            ]
        ),
        "score": markdown(
            [
                ["fact", "points"],
                *(
                    [f"{verdict}, evidence `{evidence}`: at best", str(best)]
                    for (verdict, evidence), best in BEST.items()
                ),
                *([f"`{fact}`", f"−{weight}"] for fact, weight in WEIGHTS.items()),
                *([f"{verdict}: at least", str(lowest)] for verdict, lowest in LOWEST.items()),
            ]
        ),
        "syntax errors": markdown(
            [["code", "sentence"], *([f"`{code}`", said] for code, said in SENTENCES.items())]
        ),
        "providers": markdown(
            [
                ["provider", "mail hosts, as a regular expression"],
                *(
                    [f"`{name}`", f"`{pattern.replace('|', chr(92) + '|')}`"]
                    for name, pattern in HOSTS
                ),
                [f"`{OTHER}`", "any other"],
            ]
        ),
        "lists": markdown(
            [
                ["list", "entries", "source", "version", "date", "licence"],
                *_lists(),
            ]
        ),
    }


def _lists() -> list[list[str]]:
    made_anew = ("disposable", "public_suffixes")
    names = sorted(
        (path.stem for path in DATA.glob("*.txt")), key=lambda n: (n not in made_anew, n)
    )
    return [
        [f"`{name}`", f"{len(one.entries):,}", one.source, one.version, one.date, one.licence]
        for name, one in ((name, read_data_file(name)) for name in names)
    ]


if __name__ == "__main__":
    for name, table in tables().items():
        if "--write" in sys.argv:
            write_between_markers(DOCUMENT, name, table)
        else:
            print(f"{name}\n{table}\n")
