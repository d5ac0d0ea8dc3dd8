"""What the repository must and must not contain."""

import re
import subprocess
import tomllib
from functools import cache

import pytest

from tests.servers.product import ROOT

TOP_LEVEL = {
    *("manage.py", "pyproject.toml", "requirements.lock", "requirements-dev.lock", "Makefile"),
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
    *(".ci", ".editorconfig", ".gitattributes", ".gitignore"),
    *("config", "validation", "credits", "apikeys", "accounts", "runtime"),
    *("templates", "static", "tests", "docs", "deploy", "tools", "engine", "lists", "reference"),
    "clients",
    *("Dockerfile", ".dockerignore", "compose.yaml"),
}
# What doesn't ship, and code samples.
NOT_PRODUCT = {"tests", "tools", "clients", "docs", "deploy", "templates", "var"}
# Written so that the patterns don't match this file.
INDEX_HOSTS = ("p[y]pi\\.org", "python[h]osted", "registry\\.np[m]js", "deb\\.de[b]ian")
MACHINE_PATHS = ("/ro[o]t/", "/ho[m]e/\\w", "/wo[r]k/", "/Us[e]rs/")


DOCS = [
    *("README.md", "CONTRIBUTING.md", "SECURITY.md", "tests/README.md"),
    *(str(path.relative_to(ROOT)) for path in ROOT.glob("docs/**/*.md")),
]
FILE_NAME = re.compile(r"\w[\w./-]*\.(?:py|html|css|js|conf|md|txt|toml)")
FOLDER_NAME = re.compile(rf"(?:{'|'.join(sorted(TOP_LEVEL))})(?:/[\w-]+)+/?")
# Looks like a file name, but is a module.
NOT_FILES = {"django.conf"}


@cache
def tracked_files() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return listed.stdout.split()


def test_no_file_contains_a_package_index_or_a_local_path() -> None:
    forbidden = re.compile("|".join(INDEX_HOSTS + MACHINE_PATHS))
    matches = []
    for name in tracked_files():
        try:
            text = (ROOT / name).read_text()
        except UnicodeDecodeError:
            continue
        matches += [f"{name}: {match[0]}" for match in forbidden.finditer(text)]
    assert not matches


@pytest.mark.parametrize(
    "lock", ["requirements.lock", "deploy/requirements-extras.lock", "requirements-dev.lock"]
)
def test_every_pin_has_hashes_and_no_url(lock: str) -> None:
    text = (ROOT / lock).read_text()
    pins = re.split(r"\n(?=[a-z])", text.strip())
    assert len(pins) > 20
    assert all("==" in pin and "--hash=sha256:" in pin for pin in pins)
    assert "://" not in text


def test_production_and_development_pin_the_same_versions() -> None:
    text = (ROOT / "deploy/requirements-extras.lock").read_text()
    production = re.findall(r"^([\w.-]+==\S+)", text, re.M)
    assert f"{(ROOT / 'requirements.lock').read_text().splitlines()[0]}\n" in text
    development = (ROOT / "requirements-dev.lock").read_text()
    assert [pin for pin in production if f"{pin} " not in development] == []


def test_top_level_holds_only_planned_entries() -> None:
    assert {name.split("/")[0] for name in tracked_files()} <= TOP_LEVEL


def count_product_lines() -> int:
    """Count lines of Python, without migrations, which are never rewritten."""
    files = (file.relative_to(ROOT) for file in (*ROOT.glob("*.py"), *ROOT.glob("[!.]*/**/*.py")))
    return sum(
        len((ROOT / file).read_text().splitlines())
        for file in files
        if file.parts[0] not in NOT_PRODUCT and "migrations" not in file.parts
    )


def test_product_stays_within_its_line_budget() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    budget, lines = project["tool"]["product"]["max_python_lines"], count_product_lines()
    assert lines <= budget, (
        f"The product has {lines:,} lines of Python, {lines - budget:,} more than its budget. "
        "Delete what is no longer worth its lines. If all of it is, raise max_python_lines in "
        "pyproject.toml in a commit that says what the new lines give."
    )


def find_paths(document: str) -> set[str]:
    """Return the files and folders that the document mentions in backticks."""
    text = re.sub(r"```.*?```", "", (ROOT / document).read_text(), flags=re.DOTALL)
    names = {code.partition("::")[0] for code in re.findall(r"`([^`\n]+)`", text)}
    is_path = re.compile(f"{FILE_NAME.pattern}|{FOLDER_NAME.pattern}")
    return {name.rstrip("/") for name in names - NOT_FILES if is_path.fullmatch(name)}


@pytest.mark.parametrize("document", DOCS)
def test_paths_in_docs_exist(document: str) -> None:
    """A path may be relative to any folder, as in `dns/trust.py`."""
    tracked = "".join(f"/{name}/\n" for name in tracked_files())
    assert sorted(name for name in find_paths(document) if f"/{name}/" not in tracked) == []


def test_no_line_of_a_template_is_too_long() -> None:
    # Code samples and responses are shown character by character. A row of a table is one line.
    names = [n for n in tracked_files() if re.match(r"templates/(?!docs/examples/)", n)]
    assert len(names) > 100
    lines = [(n, line) for n in names for line in (ROOT / n).read_text().splitlines()]
    assert [n for n, line in lines if len(line) > 120 and not line.startswith("| ")] == []
