"""A client that openapi-python-client generates from the OpenAPI document works."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

from lists.api.examples import LIST_ID_EXAMPLE

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere, pytest.mark.proof]

# No formatter runs after it. To a generator, a file is bytes.
CONFIG = """
post_hooks: []
content_type_overrides:
  text/csv: application/octet-stream
  text/tab-separated-values: application/octet-stream
  text/plain: application/octet-stream
  application/vnd.openxmlformats-officedocument.spreadsheetml.sheet: application/octet-stream
"""
SCRIPT = f"""
import importlib, json, pathlib, pkgutil
import httpx
import shop_client
from shop_client.api.lists import create_list, show_list
from shop_client.models import AddressList, AddressListRequest, Error

for module in pkgutil.walk_packages(shop_client.__path__, "shop_client."):
    importlib.import_module(module.name)

document = json.loads(pathlib.Path("openapi.json").read_text())
lists = document["paths"]["/v1/lists"]["post"]["responses"]
example = lists["201"]["content"]["application/json"]["examples"]["Parsing"]["value"]
refusal = document["components"]["examples"]["not_found"]["value"]

def respond(request):
    assert request.headers["Authorization"] == "Bearer svc_live_x"
    if request.method == "POST":
        assert json.loads(request.content) == {{"emails": ["jane@shop.example"], "start": True}}
        return httpx.Response(201, json=example)
    assert request.url.path == "/v1/lists/{LIST_ID_EXAMPLE}"
    return httpx.Response(404, json=refusal)

client = shop_client.AuthenticatedClient("https://shop.example", token="svc_live_x")
client.set_httpx_client(httpx.Client(
    base_url="https://shop.example",
    headers={{"Authorization": "Bearer svc_live_x"}},
    transport=httpx.MockTransport(respond),
))
body = AddressListRequest(emails=["jane@shop.example"], start=True)
created = create_list.sync(client=client, body=body)
assert isinstance(created, AddressList) and created.state == "parsing", created
refused = show_list.sync(created.id, client=client)
assert isinstance(refused, Error) and refused.error.code == "not_found", refused
"""


def run(folder: Path, *command: str) -> str:
    process = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout + process.stderr


def test_generated_client_creates_and_reads_lists(tmp_path: Path) -> None:
    (tmp_path / "openapi.json").write_bytes(Client().get("/docs/openapi.json").content)
    (tmp_path / "config.yml").write_text(CONFIG)
    generator = ("-m", "openapi_python_client", "generate", "--path", "openapi.json")
    options = ("--config", "config.yml", "--output-path", "shop_client", "--meta", "none")
    output = run(tmp_path, *generator, *options)
    assert "Warning" not in output, output
    run(tmp_path, "-c", SCRIPT)
