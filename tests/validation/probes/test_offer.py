"""The API's description offers mailbox checks only where they are on."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from tests.servers.programs import run_program

PRINT_DOCUMENT = """
import json
from django import setup
setup()
from django.test import Client
print(json.dumps(Client(SERVER_NAME="127.0.0.1").get("/docs/openapi.json").json()))
"""
ON = {"PROBE_MAILBOX_CHECKS": "on", "PROBE_DOMAIN": "probe.example"}


def read_where_checks_are_on(folder: Path) -> Any:
    environment = {"DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "config.settings", **ON}
    output = run_program("-c", PRINT_DOCUMENT, **environment)
    assert output.returncode == 0, output.stderr
    return json.loads(output.stdout)


@pytest.mark.anywhere
@pytest.mark.django_db
@pytest.mark.parametrize("is_on", [True, False])
def test_description_offers_mailbox_checks_only_where_they_are_on(
    client: Client, tmp_path: Path, is_on: bool
) -> None:
    here = client.get("/docs/openapi.json").json()
    document = read_where_checks_are_on(tmp_path) if is_on else here
    operation = document["paths"]["/v1/validate"]["post"]
    content = operation["requestBody"]["content"]["application/json"]["schema"]
    fields = document["components"]["schemas"][content["$ref"].rpartition("/")[2]]["properties"]
    examples = operation["responses"]["200"]["content"]["application/json"]["examples"]
    assert set(fields) == ({"email", "check", "timeout_s"} if is_on else {"email"})
    assert ("mailbox" in operation["description"]) is is_on
    summaries = {example["summary"] for example in examples.values()}
    assert ("Pending mailbox check" in summaries) is is_on
    assert ("check.completed" in document["webhooks"]) is is_on
