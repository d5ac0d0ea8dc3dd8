"""Customers install both clients from the service, as the docs say."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.product import ROOT, product

PACKAGES = ROOT / "static" / "clients"

pytestmark = [pytest.mark.process, pytest.mark.proof]


def run(*command: str | Path, folder: Path) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    process = subprocess.run(
        command, cwd=folder, env=env, check=False, capture_output=True, text=True, timeout=100
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_packages_install_from_the_service(tmp_path: Path) -> None:
    folder = tmp_path / "customer"
    folder.mkdir()
    with product(tmp_path, WEB_WORKERS="1") as site:
        wheel, package = (
            f"{site.url}/static/clients/{next(PACKAGES.glob(pattern)).name}"
            for pattern in ("*.whl", "*.tgz")
        )
        run(sys.executable, "-m", "venv", "venv", folder=folder)
        run(folder / "venv/bin/pip", "install", "--no-index", wheel, folder=folder)
        if shutil.which("npm"):
            run("npm", "install", "--no-audit", "--no-fund", package, folder=folder)
    help_text = run(folder / "venv/bin/emailvalidation", "--help", folder=folder)
    assert "doctor" in help_text
    if shutil.which("npm"):
        program = 'import { Client } from "emailvalidation"; console.log(typeof Client);'
        command = ["node", "--input-type=module", "--eval", program]
        assert run(*command, folder=folder) == "function\n"
