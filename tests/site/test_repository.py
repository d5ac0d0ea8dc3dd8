"""What the repository must not contain, and what it must."""

import re
import subprocess
from functools import cache

import pytest

from tests.servers.product import ROOT

TOP_LEVEL = {
    *("manage.py", "pyproject.toml", "requirements.lock", "requirements-dev.lock", "Makefile"),
    *("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
    *(".ci", ".editorconfig", ".gitattributes", ".gitignore"),
    *("config", "validation", "credits", "apikeys", "accounts", "runtime"),
    *("templates", "static", "tests", "docs", "deploy"),
}
# Written so that the patterns don't match this file.
INDEX_HOSTS = ("p[y]pi\\.org", "python[h]osted", "registry\\.np[m]js", "deb\\.de[b]ian")
MACHINE_PATHS = ("/ro[o]t/", "/ho[m]e/\\w", "/wo[r]k/", "/Us[e]rs/")


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


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-dev.lock"])
def test_every_pin_has_hashes_and_no_url(lock: str) -> None:
    text = (ROOT / lock).read_text()
    pins = re.split(r"\n(?=[a-z])", text.strip())
    assert len(pins) > 20
    assert all("==" in pin and "--hash=sha256:" in pin for pin in pins)
    assert "://" not in text


def test_production_and_development_pin_the_same_versions() -> None:
    production = re.findall(r"^([\w.-]+==\S+)", (ROOT / "requirements.lock").read_text(), re.M)
    development = (ROOT / "requirements-dev.lock").read_text()
    assert [pin for pin in production if f"{pin} " not in development] == []


def test_top_level_holds_only_planned_entries() -> None:
    assert {name.split("/")[0] for name in tracked_files()} <= TOP_LEVEL


def test_make_explains_every_target() -> None:
    output = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for target in ("serve", "test", "setup", "bench", "check", "lint", "lock"):
        assert f"make {target} " in output


def test_readme_begins_with_serve_and_test_commands() -> None:
    readme = (ROOT / "README.md").read_text()
    assert readme.index("make serve") < readme.index("make test") < readme.index("\n## ")
