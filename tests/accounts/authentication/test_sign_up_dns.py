"""What an anonymous sign-up may cost the resolvers, counted by the resolver."""

from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.engine import engine
from accounts.models import User
from tests.conftest import PASSWORD
from tests.servers.dns import World, dns_server
from tests.validation.engine.hostile_domains import HOSTILE

pytestmark = pytest.mark.django_db

SIGN_UP = "/accounts/signup/"


@pytest.fixture
def world(settings: Settings) -> Iterator[World]:
    scripted = World()
    with dns_server(scripted) as server:
        settings.DNS_RESOLVERS = [server]
        settings.DNS_TIMEOUT = 0.7
        engine.cache_clear()
        yield scripted
    engine.cache_clear()


@pytest.mark.parametrize("script", HOSTILE)
def test_a_sign_up_sends_at_most_four_messages(
    client: Client, world: World, script: Callable[[World, str], None]
) -> None:
    script(world, "shop.com")
    client.post(SIGN_UP, {"email": "jane@shop.com", "password1": PASSWORD})
    assert User.objects.filter(email="jane@shop.com").exists()
    assert 0 < world.messages <= 4


def test_a_mistyped_domain_that_does_not_exist_is_corrected(client: Client, world: World) -> None:
    page = client.post(SIGN_UP, {"email": "jane@webb.de", "password1": PASSWORD})
    assert b"Did you mean jane@web.de?" in page.content
    assert not User.objects.exists()


def test_a_domain_that_takes_mail_is_left_as_it_is(client: Client, world: World) -> None:
    world.takes_mail("webb.de")
    client.post(SIGN_UP, {"email": "jane@webb.de", "password1": PASSWORD})
    assert User.objects.filter(email="jane@webb.de").exists()
