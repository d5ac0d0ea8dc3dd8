"""Which reads may use the replica. tests/operations/test_replica.py uses a real one."""

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.db import OperationalError, connection, connections
from pytest_django import Settings

from accounts.models import User
from credits.models import Wallet
from runtime.database.replica import ReplicaRouter, reads_replica
from tests.support.metrics import Increases
from validation.models import LogEntry

router = ReplicaRouter()


@pytest.fixture
def replica(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add a replica that kept up a moment ago. No test connects to it."""
    settings.REPLICA = connection.settings_dict
    monkeypatch.setitem(connections.settings, "replica", connection.settings_dict)
    monkeypatch.setattr(ReplicaRouter, "keeps_up", True)
    monkeypatch.setattr(ReplicaRouter, "next_check", float("inf"))
    yield
    del connections["replica"]


@reads_replica
def find_databases() -> list[str]:
    return [router.db_for_read(model) for model in (LogEntry, Wallet, User)]


def test_only_logs_and_only_in_decorated_functions_are_read_from_it(replica: None) -> None:
    assert find_databases() == ["replica", "default", "default"]
    assert router.db_for_read(LogEntry) == "default"


def test_without_a_replica_everything_is_read_from_the_primary() -> None:
    assert find_databases() == ["default"] * 3


def test_function_that_the_replica_cancels_is_run_again_on_the_primary(replica: None) -> None:
    increases, databases = Increases(), []

    @reads_replica
    def read() -> str:
        databases.append(router.db_for_read(LogEntry))
        if databases[-1] == "replica":
            raise OperationalError("canceling statement due to conflict with recovery")
        return "read"

    assert [read(), read()] == ["read", "read"]
    # After a failure, the replica isn't used for some seconds.
    assert databases == ["replica", "default", "default"]
    assert increases.of("database_unavailable_total") == {("replica",): 1}


def test_every_table_on_the_replica_exists(settings: Settings) -> None:
    assert {apps.get_model(label)._meta.label_lower for label in settings.REPLICA_MODELS} == {
        *settings.REPLICA_MODELS
    }
