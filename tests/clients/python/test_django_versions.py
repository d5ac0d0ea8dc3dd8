"""The wheel's validator in the oldest and newest versions of Django that it supports."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.keys import make_key
from tests.servers.product import ROOT, product

WHEEL = next((ROOT / "static" / "clients").glob("*.whl"))
PROGRAM = """
import django, os, sys
from django import forms
from django.conf import settings

settings.configure(EMAIL_VALIDATION={"TIMEOUT": 10})
django.setup()
from emailvalidation.django import validate_sign_up_email

class SignUpForm(forms.Form):
    email = forms.EmailField(validators=[validate_sign_up_email])

for word in ("deliverable", "disposable", "insufficient_credits"):
    print(django.VERSION[0], SignUpForm({"email": f"{word}@sandbox.test"}).is_valid())
"""

pytestmark = [pytest.mark.process, pytest.mark.proof, pytest.mark.timeout(300)]


@pytest.mark.parametrize(("requirement", "major"), [("django>=4.2,<5", 4), ("django", 5)])
def test_validator_works(tmp_path: Path, requirement: str, major: int) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    uv = ROOT / ".venv" / "bin" / "uv"
    subprocess.run([uv, "venv", "-q", "-p", sys.executable, tmp_path / "venv"], check=True)
    packages = (requirement, f"emailvalidation @ {WHEEL}")
    subprocess.run([uv, "pip", "install", "-q", "-p", python, *packages], check=True)
    with product(tmp_path, WEB_WORKERS="1") as site:
        process = subprocess.run(
            [python, "-c", PROGRAM],
            cwd=tmp_path,
            env={
                "PATH": os.environ["PATH"],
                "SVC_API_KEY": make_key(site, "versions@clients.example"),
                "SVC_BASE_URL": site.url,
            },
            check=True,
            capture_output=True,
            text=True,
        )
    used, verdicts = zip(*(line.split() for line in process.stdout.splitlines()), strict=True)
    assert int(used[0]) >= major
    assert verdicts == ("True", "False", "True")
