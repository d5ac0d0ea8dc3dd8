"""What an operator copies: the environment, the service, the front's file."""

import os
import re
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.product import ROOT

pytestmark = pytest.mark.process

DEPLOY = ROOT / "deploy"
EXAMPLE = (DEPLOY / "production.env.example").read_text()
SERVICE = (DEPLOY / "systemd/email-validation.service").read_text()
SECRETS = ("SECRET_KEY", "API_KEY_PEPPER", "ADDRESS_HASH_KEY")
# What an operator has to generate as the file says.
GENERATE = re.search(r'python3 -c "(.+)"', EXAMPLE)


def check(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """As a shell reads it, and systemd."""
    text = text.replace("/var/lib/email-validation", str(folder / "data"))
    (folder / "production.env").write_text(text)
    command = f"set -a; . {folder}/production.env; exec {sys.executable} manage.py check --deploy"
    return subprocess.run(
        ["sh", "-c", f"{command} --fail-level WARNING"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_example_environment_needs_its_secrets_and_nothing_else(tmp_path: Path) -> None:
    ended = check(EXAMPLE, tmp_path)
    assert ended.returncode == 1
    named = re.findall(r"^  - (\w+)", ended.stderr, re.M)
    assert named == list(SECRETS)
    text = EXAMPLE
    for name in SECRETS:
        text = text.replace(f"\n{name}=\n", f"\n{name}={secrets.token_urlsafe(48)}\n")
    ended = check(text, tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "no issues" in ended.stdout


def test_the_secrets_are_made_as_the_file_says() -> None:
    assert GENERATE
    made = subprocess.run(
        [sys.executable, "-c", GENERATE[1]], capture_output=True, text=True, check=True
    )
    assert len(made.stdout.strip()) >= 50


def test_what_the_example_may_set_is_documented() -> None:
    documented = (ROOT / "docs" / "configuration.md").read_text()
    names = re.findall(r"^#?([A-Z_]+)=", EXAMPLE, re.M)
    assert len(names) > 20
    assert [name for name in names if f"`{name}`" not in documented] == []


def test_the_service_starts_what_make_serve_starts() -> None:
    (started,) = re.findall(r"^ExecStart=(.+)$", SERVICE, re.M)
    assert started == "/srv/email-validation/.venv/bin/python -m config.server.supervisor"
    assert (ROOT / "config" / "serve.py").exists()
    (state,) = re.findall(r"^StateDirectory=(.+)$", SERVICE, re.M)
    assert f"\nDATA_DIR=/var/lib/{state}\n" in EXAMPLE
    assert "\nWorkingDirectory=/srv/email-validation\n" in SERVICE


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="There is no systemd here.")
def test_the_service_is_what_systemd_understands(tmp_path: Path) -> None:
    file = tmp_path / "email-validation.service"
    here = SERVICE.replace("/srv/email-validation/.venv/bin/python", sys.executable)
    file.write_text(here)
    ended = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "email-validation.service" not in ended.stderr


def test_the_front_names_the_product_as_the_environment_does() -> None:
    front = (DEPLOY / "nginx.conf").read_text()
    assert "\nPORT=8000\n" in EXAMPLE
    assert "server 127.0.0.1:8000 " in front
    (name,) = re.findall(r"^ALLOWED_HOSTS=(.+)$", EXAMPLE, re.M)
    assert front.count(f"server_name {name};") == 2
    assert front.count("validation.example") == 7, "Its head says what to change."
    assert "metrics" not in front
