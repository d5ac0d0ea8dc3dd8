"""openapi-python-client generates a client from the OpenAPI document, without a warning."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

pytestmark = [pytest.mark.django_db, pytest.mark.proof]

# No formatter runs after it. To a generator, a file is bytes.
CONFIG = """
post_hooks: []
content_type_overrides:
  text/csv: application/octet-stream
  text/tab-separated-values: application/octet-stream
  text/plain: application/octet-stream
  application/vnd.openxmlformats-officedocument.spreadsheetml.sheet: application/octet-stream
"""
IMPORT_ALL = """
import importlib, pkgutil, shop_client
for module in pkgutil.walk_packages(shop_client.__path__, "shop_client."):
    importlib.import_module(module.name)
from shop_client.api.lists import create_list
from shop_client.models import AddressList, AddressListRequest, Error
"""


def run(folder: Path, *command: str) -> str:
    process = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=60,
    )
    assert process.returncode == 0, process.stdout
    return process.stdout


def test_client_is_generated_and_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "openapi.json").write_bytes(Client().get("/docs/openapi.json").content)
    (tmp_path / "config.yml").write_text(CONFIG)
    generator = ("-m", "openapi_python_client", "generate", "--path", "openapi.json")
    options = ("--config", "config.yml", "--output-path", "shop_client", "--meta", "none")
    assert "Warning" not in run(tmp_path, *generator, *options)
    run(tmp_path, "-c", IMPORT_ALL)
