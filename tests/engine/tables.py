"""Read the tables of the tests: tab-separated rows, and comments that begin with #."""

from pathlib import Path

FOLDER = Path(__file__).parent


def read_table(name: str) -> list[list[str]]:
    lines = (FOLDER / name).read_text().splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def names_of(kind: str) -> list[str]:
    """Return all names of this kind in names.tsv."""
    texts = (names for found, names in read_table("names.tsv") if found == kind)
    return " ".join(texts).split()


def read_suggestions(*, accepts_mail: bool) -> dict[str, str | None]:
    """Return what typos.tsv expects to be suggested for domains that accept mail, or don't."""
    accepts = "yes" if accepts_mail else "no"
    rows = (row for row in read_table("suggestions/typos.tsv") if row[0] == accepts)
    return {typed: None if meant == "-" else meant for _, typed, meant in rows}
