"""The packages that customers install, and the clients' types, are up to date."""

import tarfile
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.clients.typescript.build import build_client
from tests.servers.product import ROOT
from tools.client_types.__main__ import write_all

PACKAGES = ROOT / "static" / "clients"
PYTHON = ROOT / "clients" / "python"


def test_package_has_the_build_of_the_client() -> None:
    """If not: `make clients`."""
    built = build_client()
    (package,) = PACKAGES.glob("*.tgz")
    with tarfile.open(package) as archive:
        files = {
            member.name.removeprefix("package/"): archive.extractfile(member).read()  # type: ignore[union-attr]
            for member in archive.getmembers()
        }
    code = {name: text for name, text in files.items() if name.startswith("dist/")}
    assert code == {f"dist/{name}": text for name, text in read_sources(built / "dist").items()}
    for name in ("package.json", "README.md", "CHANGELOG.md"):
        assert files[name] == (built / name).read_bytes()


def read_sources(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }


def test_wheel_has_the_sources_of_the_client() -> None:
    """If not: `make clients`."""
    (wheel,) = PACKAGES.glob("*.whl")
    with ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    code = {name: text for name, text in files.items() if ".dist-info/" not in name}
    assert code == read_sources(PYTHON / "src")
    metadata = next(text for name, text in files.items() if name.endswith("/METADATA")).decode()
    assert metadata.endswith((PYTHON / "README.md").read_text())


@pytest.mark.process
def test_types_are_those_of_the_openapi_document() -> None:
    """If not: `python -m tools.client_types`."""
    assert [file for file, text in write_all().items() if file.read_text() != text] == []
