"""Who runs the mail hosts of a domain, and whether they filter mail for another server."""

import pytest

from engine.dns.mail_route import MailRoute
from engine.dns.providers import OTHER, PROVIDERS, identify_provider, is_gateway
from tests.engine.tables import read_table


def test_provider_is_identified_by_its_mail_hosts() -> None:
    expected = dict(read_table("dns/mail_hosts.tsv"))
    assert {host: identify_provider([host]) for host in expected} == expected


def test_first_recognized_host_decides_the_provider() -> None:
    assert identify_provider(["mx.shop.com", "aspmx.l.google.com", "mx.zoho.eu"]) == "google"
    assert identify_provider([]) is None


def test_customers_own_server_does_not_hide_the_provider_of_the_next_host() -> None:
    own_server = "static.7.113.0.203.clients.your-server.de"
    assert identify_provider([own_server, "aspmx.l.google.com"]) == "google"
    assert not is_gateway(OTHER)


GATEWAYS = "mimecast proofpoint messagelabs barracuda cisco hornetsecurity iij_secure_mx"


@pytest.mark.parametrize("provider", GATEWAYS.split())
def test_filtering_service_is_a_gateway(provider: str) -> None:
    assert is_gateway(provider)
    assert MailRoute(provider=provider).is_gateway


@pytest.mark.parametrize("provider", ["google", "microsoft_365", "cloudflare", "sendgrid", OTHER])
def test_other_provider_is_not_a_gateway(provider: str) -> None:
    assert MailRoute(provider=provider).is_gateway is False


def test_gateway_is_unknown_without_a_mail_host() -> None:
    assert MailRoute().is_gateway is None
    assert MailRoute(fallback="a").is_gateway is False


def test_domain_belongs_to_one_provider_and_is_listed_once() -> None:
    domains = [domain for provider in PROVIDERS for domain in provider.domains]
    assert len(domains) == len(set(domains)) > 500
    assert all("." in domain for domain in domains)


def test_every_domain_of_a_provider_identifies_it() -> None:
    for provider in PROVIDERS:
        for domain in provider.domains:
            assert identify_provider([f"mx1.{domain}"]) == provider.code


def test_provider_codes_are_unique_and_stable_identifiers() -> None:
    codes = [provider.code for provider in PROVIDERS]
    assert len(codes) == len(set(codes))
    assert all(
        (code.replace("_", "").isalnum() and code.islower()) or code.isdigit() for code in codes
    )
    assert OTHER not in codes
