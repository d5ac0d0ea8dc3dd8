"""Third-party files in static/vendor."""

from pathlib import Path

import pytest

VENDOR = Path(__file__).resolve().parents[2] / "static/vendor"
FOLDERS = sorted(path.name for path in VENDOR.iterdir() if path.is_dir())


@pytest.mark.parametrize("folder", FOLDERS)
def test_third_party_folder_has_a_license_and_a_line_in_the_readme(folder: str) -> None:
    assert (VENDOR / folder / "LICENSE").read_text()
    assert f"| `{folder}/` |" in (VENDOR / "README.md").read_text()


def test_font_is_one_file_under_60_kb() -> None:
    (font,) = VENDOR.rglob("*.woff2")
    assert font.stat().st_size < 60_000
