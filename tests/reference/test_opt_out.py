"""Postmasters end mailbox checks of their domain without an account."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from runtime.models import Mail
from validation.models import UnprobedDomain

pytestmark = pytest.mark.django_db
PATH = "/reference/opt-out/"


@pytest.fixture(autouse=True)
def mailbox_checks(settings: Settings) -> None:
    settings.PROBE_MAILBOX_CHECKS = True


def ask(client: Client, domain: str = "Shop.com") -> str:
    """Ask for the email, and return the path of its link."""
    response = client.post(PATH, {"domain": domain})
    assert response.status_code == 200
    mail = Mail.objects.latest("pk")
    found = re.search(r"/reference/opt-out/[^/\s]+/", mail.text)
    return found[0] if found else ""


def test_postmaster_confirms_by_email(client: Client) -> None:
    path = ask(client)
    mail = Mail.objects.get()
    assert mail.to == "postmaster@shop.com"
    # Scanners of mail servers follow links.
    assert b"Stop mailbox checks</button>" in client.get(path).content
    assert not UnprobedDomain.objects.exists()
    for _ in range(2):
        assert b"We no longer ask" in client.post(path).content
    unprobed = UnprobedDomain.objects.get()
    assert (unprobed.domain, unprobed.source) == ("shop.com", "postmaster")


def test_links_expire_and_cannot_be_forged(client: Client) -> None:
    path = ask(client)
    assert client.post(f"{path[:-4]}abc/").status_code == 404
    with time_machine.travel(timezone.now() + timedelta(days=8)):
        assert client.post(path).status_code == 404
    assert not UnprobedDomain.objects.exists()


def test_page_does_not_say_that_the_recipient_has_had_enough(client: Client) -> None:
    pages = {client.post(PATH, {"domain": "shop.com"}).content for _ in range(5)}
    assert len(pages) == 1
    assert Mail.objects.count() < 5


def test_network_has_a_limit(client: Client) -> None:
    for number in range(5):
        ask(client, f"shop{number}.com")
    refused = client.post(PATH, {"domain": "store.com"})
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= 3600
    assert Mail.objects.count() == 5


def test_only_domains_are_asked_about(client: Client) -> None:
    for domain in ("", "no domain", "co.uk", "x" * 300):
        page = client.post(PATH, {"domain": domain})
        assert b'class="errorlist"' in page.content, domain
    assert not Mail.objects.exists()


def test_pages_do_not_exist_without_mailbox_checks(client: Client, settings: Settings) -> None:
    path = ask(client)
    settings.PROBE_MAILBOX_CHECKS = False
    assert client.get(PATH).status_code == client.get(path).status_code == 404
