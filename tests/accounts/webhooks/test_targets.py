"""No URL leads inside: by its notation, its name, its port, or its addresses."""

import dns.message
import pytest
from pytest_django import Settings

from accounts.webhooks.targets import RefusedTarget, TargetUnresolved, _parse, resolve
from tests.servers.dns import FakeDns, servfail

HOSTILE = [
    # Schemes
    ("http://shop.com/", "must start with https://"),
    ("ftp://shop.com/", "must start with https://"),
    ("file:///etc/passwd", "must start with https://"),
    ("gopher://shop.com:443/", "must start with https://"),
    ("javascript:alert(1)", "must start with https://"),
    ("//shop.com/", "must start with https://"),
    ("shop.com", "must start with https://"),
    ("", "must start with https://"),
    ("https:", "must name a host"),
    ("https:shop.com", "must name a host"),
    ("https:/shop.com", "must name a host"),
    ("https:///shop.com", "must name a host"),
    # What parsers read differently
    ("https://user@shop.com/", "user name"),
    ("https://user:secret@shop.com/", "user name"),
    ("https://@shop.com/", "user name"),
    ("https://shop.com@127.0.0.1/", "user name"),
    ("https://127.0.0.1:443@shop.com/", "user name"),
    ("https://shop.com#@127.0.0.1/", "fragment"),
    ("https://shop.com/#inside", "fragment"),
    ("https://shop.com/#", "fragment"),
    ("https://shop.com\\@127.0.0.1/", "backslashes"),
    ("https:\\\\127.0.0.1/", "backslashes"),
    ("https://shop.com /", "spaces"),
    (" https://shop.com/", "spaces"),
    ("https://shop.com/\r\nX-Injected: yes", "control characters"),
    ("https://sh\top.com/", "control characters"),
    ("https://shop.com/\0", "control characters"),
    ("https://shop.com/\u00fcber", "percent-encode"),
    ("https://shop.com/?\u2028", "percent-encode"),
    ("https://shop.com\uff0f@127.0.0.1/", "malformed"),
    ("https://shop.com/" + "a" * 2000, "2,000 characters"),
    # Ports
    ("https://shop.com:80/", "port"),
    ("https://shop.com:22/", "port"),
    ("https://shop.com:25/", "port"),
    ("https://shop.com:5432/", "port"),
    ("https://shop.com:0/", "port"),
    ("https://shop.com:65536/", "malformed"),
    ("https://shop.com:-443/", "malformed"),
    ("https://shop.com:4e2/", "malformed"),
    ("https://shop.com:\uff14\uff14\uff13/", "malformed"),
    # IP addresses: whole, short, decimal, octal, hexadecimal
    ("https://127.0.0.1/", "IP address"),
    ("https://8.8.8.8/", "IP address"),
    ("https://127.1/", "IP address"),
    ("https://127.0.0.1./", "IP address"),
    ("https://2130706433/", "IP address"),
    ("https://017700000001/", "IP address"),
    ("https://0177.0.0.1/", "IP address"),
    ("https://0x7f.0.0.1/", "IP address"),
    ("https://0x7f000001/", "IP address"),
    ("https://0X7F000001/", "IP address"),
    ("https://shop.0x/", "IP address"),
    ("https://169.254.169.254/latest/meta-data/", "IP address"),
    ("https://\uff11\uff12\uff17.\uff10.\uff10.\uff11/", "IP address"),
    ("https://127\u30020\u30020\u30021/", "IP address"),
    ("https://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460/", "IP address"),
    ("https://127%2e0%2e0%2e1/", "valid host"),
    ("https://[::1]/", "IP address"),
    ("https://[::ffff:127.0.0.1]/", "IP address"),
    ("https://[64:ff9b::7f00:1]/", "IP address"),
    ("https://[fe80::1%25eth0]/", "IP address"),
    ("https://[fd00:ec2::254]/", "IP address"),
    ("https://[::1/", "malformed"),
    ("https://::1/", "malformed"),
    # Names
    ("https://localhost/", "public internet"),
    ("https://LOCALHOST./", "public internet"),
    ("https://admin.localhost/", "public internet"),
    ("https://intranet/", "public internet"),
    ("https://com/", "public internet"),
    ("https://metadata.google.internal/", "public internet"),
    ("https://printer.local/", "public internet"),
    ("https://router.home.arpa/", "public internet"),
    ("https://1.0.0.127.in-addr.arpa/", "public internet"),
    ("https://shop.test/", "public internet"),
    ("https://shop.invalid/", "public internet"),
    ("https://shop.onion/", "public internet"),
    ("https://shop.\u24c1\u24de\u24d2\u24d0\u24db/", "public internet"),
    ("https://shop..com/", "valid host"),
    ("https://.shop.com/", "valid host"),
    ("https://shop.com../", "valid host"),
    ("https://-shop.com/", "valid host"),
    ("https://sh_op.com/", "valid host"),
    ("https://sh*p.com/", "valid host"),
    ("https://xn--zzzzzzzz99999999.com/", "valid host"),
    (f"https://{'a' * 64}.com/", "valid host"),
    (f"https://{'a.' * 130}com/", "valid host"),
    ("https://./", "valid host"),
    # This service
    ("https://validation.example/v1/validate", "this service"),
    ("https://VALIDATION.example.:8443/", "this service"),
    ("https://api.validation.example/", "this service"),
    ("https://any.wildcard.example/", "this service"),
    ("https://wildcard.example/", "this service"),
    ("https://v\u24d0lidation.example/", "this service"),
]


@pytest.fixture(autouse=True)
def _our_hosts(settings: Settings) -> None:
    settings.BASE_HOST = "validation.example"
    settings.ALLOWED_HOSTS = ["validation.example", "api.validation.example", ".wildcard.example"]


@pytest.mark.parametrize(("url", "reason"), HOSTILE)
def test_hostile_url_is_refused_with_the_reason(url: str, reason: str) -> None:
    with pytest.raises(RefusedTarget, match=reason):
        resolve(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://shop.com",
        "https://hooks.shop.com/events?source=1&next=https://x.com/",
        "https://shop.com:8443/",
        "https://shop.com.:443/",
        "HTTPS://SHOP.COM/",
        "https://m\u00fcnchen-shop.com/",
        "https://xn--mnchen-shop-thb.com/",
        "https://hooks.shop.example/",
    ],
)
def test_ordinary_url_is_accepted(url: str) -> None:
    _parse(url)


@pytest.mark.parametrize(
    "addresses",
    [
        {"A": "127.0.0.1"},
        {"A": "10.0.0.1"},
        {"A": "169.254.169.254"},
        {"A": "168.63.129.16"},
        {"A": "0.1.2.3"},
        {"AAAA": "::1"},
        {"AAAA": "::ffff:127.0.0.1"},
        {"AAAA": "64:ff9b::7f00:1"},
        {"AAAA": "fd00::1"},
        {"A": "8.8.4.4", "AAAA": "fe80::1"},
        {"A": ["8.8.4.4", "192.168.0.1"]},
        {"A": [*(f"8.8.4.{number}" for number in range(20)), "10.0.0.1"]},
        {"CNAME": "inside.shop.com."},
    ],
)
def test_name_is_refused_if_any_of_its_addresses_is_not_public(
    addresses: dict[str, str | list[str]], fake_dns: FakeDns
) -> None:
    fake_dns.add_records("validation.example", A="9.9.9.9")
    fake_dns.add_records("inside.shop.com", A="10.0.0.1")
    fake_dns.add_records("hooks.shop.com", **addresses)
    with pytest.raises(RefusedTarget, match="isn't public"):
        resolve("https://hooks.shop.com/")


def test_target_has_a_checked_address_and_the_name(fake_dns: FakeDns) -> None:
    fake_dns.add_records("hooks.shop.com", CNAME="shops.hosting.com.")
    fake_dns.add_records("shops.hosting.com", A="8.8.4.4", AAAA="2001:4860:4860::8888")
    target = resolve("https://HOOKS.shop.com.:8443/events?a=1")
    assert (target.is_https, target.host, target.port) == (True, "hooks.shop.com", 8443)
    assert (target.path, target.address) == ("/events?a=1", "8.8.4.4")
    assert target.host_header == "hooks.shop.com:8443"
    fake_dns.add_records("xn--mnchen-shop-thb.com", AAAA="2001:4860:4860::8888")
    target = resolve("https://m\u00fcnchen-shop.com")
    assert (target.host, target.path) == ("xn--mnchen-shop-thb.com", "/")
    assert (target.address, target.host_header) == ("2001:4860:4860::8888", target.host)


@pytest.mark.parametrize("host", ["validation.example", "wildcard.example"])
def test_our_public_address_is_refused_under_another_name(host: str, fake_dns: FakeDns) -> None:
    fake_dns.add_records(host, A=["9.9.9.9", "9.9.9.10"])
    fake_dns.add_records("hooks.shop.com", A="9.9.9.10")
    with pytest.raises(RefusedTarget, match="this service"):
        resolve("https://hooks.shop.com/")


def test_name_without_a_known_address_is_unresolved(fake_dns: FakeDns) -> None:
    fake_dns.add_records("shop.com", MX="10 mx.shop.com.")
    for kind in ("A", "AAAA"):
        fake_dns.set_behavior("failing.com", kind, servfail)
    for name in ("shop.com", "missing.com", "failing.com"):
        with pytest.raises(TargetUnresolved):
            resolve(f"https://{name}/")


def test_name_is_resolved_once_for_an_attempt(fake_dns: FakeDns) -> None:
    """A name that changes its address after the check can't change where we connect."""
    answers = iter(["8.8.4.4", "127.0.0.1"])

    def rebind(query: dns.message.Message) -> dns.message.Message:
        fake_dns.add_records("hooks.shop.com", A=next(answers))
        return fake_dns.build_reply(query, "hooks.shop.com", "A")

    fake_dns.ttl = 0
    fake_dns.set_behavior("hooks.shop.com", "A", rebind)
    assert resolve("https://hooks.shop.com/").address == "8.8.4.4"
    assert fake_dns.queries["hooks.shop.com", "A"] == 1


def test_local_work_may_allow_http_any_port_and_private_addresses(
    settings: Settings, fake_dns: FakeDns
) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE = True
    fake_dns.add_records("hooks.shop.test", A="127.0.0.1")
    for url in ("http://127.0.0.1:8000/", "http://localhost:8000/", "http://hooks.shop.test:8000/"):
        target = resolve(url)
        assert (target.is_https, target.address, target.port) == (False, "127.0.0.1", 8000)
    assert resolve("http://[::1]/").host_header == "[::1]"
    with pytest.raises(RefusedTarget, match="user name"):
        resolve("http://user@127.0.0.1/")
