"""The TypeScript client, built once for all tests."""

import fcntl
import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from tests.servers.product import ROOT

SOURCE = ROOT / "clients" / "typescript"
UNBUILT = shutil.ignore_patterns("node_modules", "dist")


def build_client() -> Path:
    """Return a folder with node_modules/emailvalidation, which stays until the sources change."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("needs Node.js")
    folder = ROOT / ".pytest_cache" / "typescript-client" / _hash_sources()
    folder.mkdir(parents=True, exist_ok=True)
    # Another test may be building it. An interrupted build is repeated.
    with (folder / "built").open("a+") as built:
        fcntl.flock(built, fcntl.LOCK_EX)
        # Another test may have built it since the file was opened.
        if not built.seek(0, os.SEEK_END):
            shutil.copytree(SOURCE, folder, ignore=UNBUILT, dirs_exist_ok=True)
            _run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", folder=folder)
            _run("npm", "run", "build", folder=folder)
            # Programs here import the package by its name.
            (folder / "node_modules" / "emailvalidation").symlink_to(folder)
            built.write("yes")
    return folder


def _hash_sources() -> str:
    digest = sha256()
    for path in sorted(SOURCE.glob("**/*")):
        parts = path.relative_to(SOURCE).parts
        if path.is_file() and not {"node_modules", "dist"} & set(parts):
            digest.update(str(parts).encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _run(*command: str, folder: Path) -> None:
    process = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    assert process.returncode == 0, process.stdout + process.stderr
