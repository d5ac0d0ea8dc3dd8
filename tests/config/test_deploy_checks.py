"""`manage.py check --deploy` names examples that were left, and connections that don't fit."""

from pathlib import Path

import pytest
from django.db import connection
from pytest_django import Settings

from config.deploy_checks import EXAMPLES, check_connections, check_examples
from config.server.pools import count_cores
from tests.servers.product import ROOT


@pytest.mark.parametrize("name", EXAMPLES)
def test_seller_of_the_example_is_reported(settings: Settings, name: str) -> None:
    settings.BASE_HOST = "api.harborline.test"
    assert EXAMPLES[name] in (ROOT / "deploy/production.env.example").read_text()
    setattr(settings, name, "Our own")
    before = check_examples()
    setattr(settings, name, EXAMPLES[name])
    assert [message.msg for message in check_examples() if message not in before] == [
        f"{name} is still the example."
    ]


@pytest.mark.parametrize(
    ("host", "is_reported"),
    [("validation.example", True), ("api.example.com", True), ("api.myexample.com", False)],
)
def test_host_of_the_example_is_reported(settings: Settings, host: str, is_reported: bool) -> None:
    settings.BASE_HOST = host
    messages = [message.msg for message in check_examples()]
    assert ("BASE_URL is still the example." in messages) == is_reported


@pytest.mark.django_db
def test_more_connections_than_postgresql_allows_are_reported(settings: Settings) -> None:
    settings.WORKERS_BY_POOL = {"api": 1, "bulk": 1, "pages": 1}
    settings.WEB_THREADS = 4
    assert check_connections() == []
    settings.WORKERS_BY_POOL = {"api": 64, "bulk": 32, "pages": 32}
    settings.WEB_THREADS = 16
    messages = check_connections()
    if connection.vendor == "postgresql":
        assert "may open 2,0" in messages[0].msg
        assert "PgBouncer" in str(messages[0].hint)
    else:
        assert messages == []


@pytest.mark.parametrize(
    ("content", "cores"),
    [("50000 100000\n", 1), ("150000 100000\n", 2), ("1 100000", 1), ("max 100000\n", None)],
)
def test_quota_of_a_container_limits_the_cores(
    tmp_path: Path, content: str, cores: int | None
) -> None:
    everything = count_cores(tmp_path / "missing")
    quota = tmp_path / "cpu.max"
    quota.write_text(content)
    assert count_cores(quota) == min(cores or everything, everything)
