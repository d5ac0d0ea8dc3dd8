"""Anonymous sign-ups send few DNS messages. The test's resolver counts them."""

from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.engine import get_engine
from accounts.models import User
from tests.conftest import PASSWORD
from tests.engine.hostile_domains import HOSTILE
from tests.servers.dns import FakeDns, dns_server

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]

SIGN_UP = "/accounts/signup/"


@pytest.fixture
def fake_dns(settings: Settings) -> Iterator[FakeDns]:
    scripted = FakeDns()
    with dns_server(scripted) as server:
        settings.DNS_RESOLVERS = [server]
        settings.DNS_TIMEOUT = 0.7
        get_engine.cache_clear()
        yield scripted
    get_engine.cache_clear()


@pytest.mark.parametrize("script", HOSTILE)
def test_a_sign_up_sends_at_most_four_messages(
    client: Client, fake_dns: FakeDns, script: Callable[[FakeDns, str], None]
) -> None:
    script(fake_dns, "shop.com")
    client.post(SIGN_UP, {"email": "jane@shop.com", "password1": PASSWORD})
    assert User.objects.filter(email="jane@shop.com").exists()
    assert 0 < fake_dns.messages <= 4


def test_mistyped_domain_that_does_not_exist_gets_a_suggestion(
    client: Client, fake_dns: FakeDns
) -> None:
    page = client.post(SIGN_UP, {"email": "jane@webb.de", "password1": PASSWORD})
    assert b"Did you mean jane@web.de?" in page.content
    assert not User.objects.exists()


def test_domain_that_accepts_mail_gets_no_suggestion(client: Client, fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("webb.de")
    client.post(SIGN_UP, {"email": "jane@webb.de", "password1": PASSWORD})
    assert User.objects.filter(email="jane@webb.de").exists()
