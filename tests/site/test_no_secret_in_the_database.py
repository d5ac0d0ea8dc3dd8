"""A leaked database dump contains no usable secret."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.apps import apps
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from pytest_django import Settings

from accounts.models import Account, User
from runtime.mail.outbox import send_due
from runtime.models import Mail
from tests.conftest import PASSWORD, signed_in_by_form
from tests.support.api_client import ApiClient

pytestmark = pytest.mark.django_db


def all_stored_values() -> Iterator[str]:
    """Yield every value of every table, including tables without a model, and decoded sessions."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608
            yield from (f"{table}: {value}" for row in cursor.fetchall() for value in row)
    for session in Session.objects.all():
        yield f"session: {session.get_decoded()}"


def find_email_tokens() -> list[str]:
    """Return the tokens in the links of all emails."""
    text = "\n".join(Mail.objects.values_list("text", flat=True))
    return re.findall(r"/(?:invitations|password/reset/key)/(\S+)/", text)


def test_database_contains_no_secret(owner: User, account: Account, settings: Settings) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE = True
    browser = signed_in_by_form(owner)
    token = {"form_token": "a" * 32}
    sent = {**token, "name": "Server", "access": "full"}
    page = browser.post("/apikeys/create/", sent).content.decode()
    key = re.findall(r"svc_live_[0-9A-Za-z]{38}", page)[0]
    sent = {**token, "url": "http://127.0.0.1:9/"}
    page = browser.post("/accounts/webhooks/create/", sent).content.decode()
    webhook_secret = re.findall(r"whsec_([0-9A-Za-z+/=]{44})", unescape(page))[0]
    ApiClient(key).validate("deliverable@sandbox.test", Idempotency_Key="once")
    ApiClient(key).get(f"/v1/{key}", X_Request_Id=key[9:])
    browser.post("/accounts/team/invite/", {"email": "new@shop.example", "role": "viewer"})
    Client().post("/accounts/password/reset/", {"email": owner.email})
    tokens = find_email_tokens()
    send_due()
    stored = "\n".join(all_stored_values())
    assert len(tokens) == 2
    assert "owner@shop.example" in stored
    secrets = (key, key[9:41], webhook_secret, PASSWORD, *tokens)
    for secret in (*secrets, settings.SECRET_KEY, settings.API_KEY_PEPPER):
        assert secret not in stored


def test_every_table_is_searched(owner: User) -> None:
    tables: Any = {value.partition(":")[0] for value in all_stored_values()}
    assert {User._meta.db_table, apps.get_model("accounts.AuditEntry")._meta.db_table} <= tables
    assert Authenticator._meta.db_table in connection.introspection.table_names()
