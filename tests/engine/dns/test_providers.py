"""Who runs the mail hosts of a domain, and whether they filter mail for another server."""

import pytest

from engine.dns.mail_route import MailRoute
from engine.dns.providers import OTHER, PROVIDERS, identify_provider, is_gateway


@pytest.mark.parametrize(
    ("host", "provider"),
    [
        ("alt1.gmail-smtp-in.l.google.com", "google"),
        ("aspmx2.googlemail.com", "google"),
        ("shop-com.mail.protection.outlook.com", "microsoft_365"),
        ("shop-com.p-v1.mx.microsoft", "microsoft_365"),
        ("hotmail-com.olc.protection.outlook.com", "microsoft_consumer"),
        ("mta5.am0.yahoodns.net", "yahoo"),
        ("mx.zoho.eu", "zoho"),
        ("cluster5.eu.messagelabs.com", "messagelabs"),
        ("mx1.mx-relay.com", "spamexperts"),
        ("mail.messaging.microsoft.com", "microsoft_365"),
        ("mx20.dnsmadeeasy.com", "dns_made_easy"),
        ("mx1.naver.com", "naver"),
        ("mx1.pub.mailpod2-cph3.one.com", "one_com"),
        ("cxr.mx.a.cloudfilter.net", "cox"),
        ("shw-central.mx.a.cloudfilter.net", "shaw"),
        ("shop.mx.a.cloudfilter.net", "cloudmark"),
        ("mx1.mail.yahoo.co.jp", "yahoo_japan"),
        ("mx1.mail.ovh.net", "ovh"),
        ("inbound-smtp.eu-west-1.amazonaws.com", "amazon_ses"),
        ("ec2-203-0-113-7.compute-1.amazonaws.com", "other"),
        ("ns3001.ovh.net", "other"),
        ("static.7.113.0.203.clients.your-server.de", "other"),
        ("203-0-113-7.hinet-ip.hinet.net", "other"),
        ("ip-203-0-113-7.ip.secureserver.net", "other"),
        ("shop.fbx.proxad.net", "other"),
        ("rrcs-203-0-113-7.nyc.biz.rr.com", "other"),
        ("c-203-0-113-7.hsd1.ca.comcast.net", "other"),
        ("p7-ipngn113marunouchi.tokyo.ocn.ne.jp", "other"),
        ("shop.plus.com", "other"),
        ("www7.your-server.de", "hetzner"),
        ("mx.core.plus.net", "plusnet"),
        ("mx1.online.net", "scaleway"),
        ("mx1.securemx.jp", "iij_secure_mx"),
        ("one.com.shop.com", "other"),
        ("someone.com", "other"),
        ("mx.shop.com", "other"),
        ("google.com.evil.com", "other"),
        ("notgoogle.com", "other"),
        ("protection.outlook.com.evil.com", "other"),
    ],
)
def test_provider_is_identified_by_its_mail_hosts(host: str, provider: str) -> None:
    assert identify_provider([host]) == provider


def test_first_recognized_host_decides_the_provider() -> None:
    assert identify_provider(["mx.shop.com", "aspmx.l.google.com", "mx.zoho.eu"]) == "google"
    assert identify_provider([]) is None


def test_customers_own_server_does_not_hide_the_provider_of_the_next_host() -> None:
    own_server = "static.7.113.0.203.clients.your-server.de"
    assert identify_provider([own_server, "aspmx.l.google.com"]) == "google"
    assert not is_gateway(OTHER)


@pytest.mark.parametrize(
    "provider",
    [
        "mimecast",
        "proofpoint",
        "messagelabs",
        "barracuda",
        "cisco",
        "hornetsecurity",
        "iij_secure_mx",
    ],
)
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
