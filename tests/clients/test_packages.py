"""The packages that customers install from this service are those of the sources."""

from pathlib import Path
from zipfile import ZipFile

from tests.servers.product import ROOT

PACKAGES = ROOT / "static" / "clients"
PYTHON = ROOT / "clients" / "python"


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
