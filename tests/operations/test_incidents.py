"""The incident commands of docs/operations/incidents.md, run as documented."""

import os
from pathlib import Path

import psycopg
import pytest
from allauth.mfa.models import Authenticator
from django.core.management import call_command
from django.db import connection

from accounts.models import Account, AuditEntry, User, WebhookEndpoint
from apikeys.models import ApiKey
from runtime.models import Mail
from tests.servers.postgres import prepend_postgres_programs
from tests.servers.runbook import Machine
from tests.support.api_client import ApiClient, error_code
from tests.support.fresh_database import connect

pytestmark = pytest.mark.django_db

on_postgresql = pytest.mark.skipif("connection.vendor != 'postgresql'", reason="PostgreSQL only")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv("PATH", prepend_postgres_programs(os.environ["PATH"]))
    if connection.vendor == "postgresql":
        monkeypatch.setenv("PGHOST", str(connection.get_connection_params()["host"]))
    return Machine(tmp_path / "machine")


def run_block(machine: Machine, name: str, **variables: str) -> None:
    for command in machine.commands(name, **variables):
        call_command(*command)


def test_a_leaked_key_is_revoked(machine: Machine, caller: ApiClient, key: ApiKey) -> None:
    assert caller.get("/v1/me").status_code == 200
    run_block(machine, "revoke", KEY=key.public_id)
    assert error_code(caller.get("/v1/me")) == "api_key_revoked"


def test_flooding_account_is_suspended(
    machine: Machine, caller: ApiClient, account: Account
) -> None:
    run_block(machine, "suspend", ACCOUNT=account.public_id)
    assert caller.get("/v1/me").headers["X-RateLimit-Limit"] == "10"


def test_failed_emails_are_retried(machine: Machine, owner: User) -> None:
    now = owner.date_joined
    Mail.objects.create(to=owner.email, subject="Given up", given_up_at=now, attempts=8)
    run_block(machine, "mails")
    mail = Mail.objects.get(subject="Given up")
    assert (mail.given_up_at, mail.attempts) == (None, 0)


def test_lost_second_factor_is_removed(machine: Machine, staff: User) -> None:
    Authenticator.objects.create(user=staff, type=Authenticator.Type.TOTP, data={})
    run_block(machine, "second-factor", STAFF=staff.email)
    assert not Authenticator.objects.exists()


@on_postgresql
def test_blocking_connection_is_terminated(machine: Machine) -> None:
    with connect() as blocking:
        blocking.execute("LOCK TABLE validation_logentry IN ACCESS SHARE MODE")
        run_block(machine, "locks", PID=str(blocking.info.backend_pid))
        with pytest.raises(psycopg.OperationalError):
            blocking.execute("SELECT 1")


def test_endpoint_is_disabled(machine: Machine, account: Account) -> None:
    endpoint = WebhookEndpoint.objects.create(account=account, url="https://hooks.shop.example/")
    run_block(machine, "webhook-disable", ENDPOINT=endpoint.public_id)
    endpoint.refresh_from_db()
    assert not endpoint.is_enabled
    assert AuditEntry.objects.latest("pk").action == "webhook.disabled"


@pytest.mark.parametrize(
    ("block", "printed"),
    [
        ("invalid-indexes", "(0 rows)"),
        ("log-partitions", "validation_logentry_default"),
        ("webhook-events", "since"),
        ("webhook-deliveries", "since"),
    ],
)
@on_postgresql
def test_query_of_the_handbook_prints_its_rows(
    machine: Machine, capfd: pytest.CaptureFixture[str], block: str, printed: str
) -> None:
    run_block(machine, block)
    assert printed in capfd.readouterr().out
