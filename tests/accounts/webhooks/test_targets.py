"""No URL leads inside: by its notation, its name, its port, or its addresses."""

import pytest
from pytest_django import Settings

from accounts.webhooks.targets import RefusedTarget, TargetUnresolved, _parse, resolve
from tests.servers.dns import FakeDns, servfail

# By the reason of the refusal. IP addresses are whole, short, decimal, octal, or hexadecimal.
HOSTILE = {
    "must start with https://": [
        *("http://shop.com/", "ftp://shop.com/", "file:///etc/passwd", "gopher://shop.com:443/"),
        *("javascript:alert(1)", "//shop.com/", "shop.com", ""),
    ],
    "must name a host": ["https:", "https:shop.com", "https:/shop.com", "https:///shop.com"],
    "user name": [
        *("https://user@shop.com/", "https://user:secret@shop.com/", "https://@shop.com/"),
        *("https://shop.com@127.0.0.1/", "https://127.0.0.1:443@shop.com/"),
    ],
    "fragment": ["https://shop.com#@127.0.0.1/", "https://shop.com/#inside", "https://shop.com/#"],
    "backslashes": ["https://shop.com\\@127.0.0.1/", "https:\\\\127.0.0.1/"],
    "spaces": ["https://shop.com /", " https://shop.com/"],
    "control characters": [
        *("https://shop.com/\r\nX-Injected: yes", "https://sh\top.com/", "https://shop.com/\0")
    ],
    "percent-encode": ["https://shop.com/\u00fcber", "https://shop.com/?\u2028"],
    "malformed": [
        *("https://shop.com\uff0f@127.0.0.1/", "https://shop.com:65536/", "https://shop.com:-443/"),
        *("https://shop.com:4e2/", "https://shop.com:\uff14\uff14\uff13/", "https://[::1/"),
        "https://::1/",
    ],
    "2,000 characters": ["https://shop.com/" + "a" * 2000],
    "port": [
        *("https://shop.com:80/", "https://shop.com:22/", "https://shop.com:25/"),
        *("https://shop.com:5432/", "https://shop.com:0/"),
    ],
    "IP address": [
        *("https://127.0.0.1/", "https://8.8.8.8/", "https://127.1/", "https://127.0.0.1./"),
        *("https://2130706433/", "https://017700000001/", "https://0177.0.0.1/"),
        *("https://0x7f.0.0.1/", "https://0x7f000001/", "https://0X7F000001/", "https://shop.0x/"),
        "https://169.254.169.254/latest/meta-data/",
        *("https://\uff11\uff12\uff17.\uff10.\uff10.\uff11/", "https://127\u30020\u30020\u30021/"),
        *("https://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460/", "https://[::1]/"),
        *("https://[::ffff:127.0.0.1]/", "https://[64:ff9b::7f00:1]/", "https://[fe80::1%25eth0]/"),
        "https://[fd00:ec2::254]/",
    ],
    "valid host": [
        *("https://127%2e0%2e0%2e1/", "https://shop..com/", "https://.shop.com/"),
        *("https://shop.com../", "https://-shop.com/", "https://sh_op.com/", "https://sh*p.com/"),
        *("https://xn--zzzzzzzz99999999.com/", f"https://{'a' * 64}.com/"),
        *(f"https://{'a.' * 130}com/", "https://./"),
    ],
    "public internet": [
        *("https://localhost/", "https://LOCALHOST./", "https://admin.localhost/"),
        *("https://intranet/", "https://com/", "https://metadata.google.internal/"),
        *("https://printer.local/", "https://router.home.arpa/", "https://1.0.0.127.in-addr.arpa/"),
        *("https://shop.test/", "https://shop.invalid/", "https://shop.onion/"),
        "https://shop.\u24c1\u24de\u24d2\u24d0\u24db/",
    ],
    "this service": [
        *("https://validation.example/v1/validate", "https://VALIDATION.example.:8443/"),
        *("https://api.validation.example/", "https://any.wildcard.example/"),
        *("https://wildcard.example/", "https://v\u24d0lidation.example/"),
    ],
}


@pytest.fixture(autouse=True)
def _our_hosts(settings: Settings) -> None:
    settings.BASE_HOST = "validation.example"
    settings.ALLOWED_HOSTS = ["validation.example", "api.validation.example", ".wildcard.example"]


@pytest.mark.parametrize(
    ("url", "reason"), [(url, reason) for reason, urls in HOSTILE.items() for url in urls]
)
def test_hostile_url_is_refused_with_the_reason(url: str, reason: str) -> None:
    with pytest.raises(RefusedTarget, match=reason):
        resolve(url)


@pytest.mark.parametrize(
    "url",
    [
        *("https://shop.com", "https://hooks.shop.com/events?source=1&next=https://x.com/"),
        *("https://shop.com:8443/", "https://shop.com.:443/", "HTTPS://SHOP.COM/"),
        *("https://m\u00fcnchen-shop.com/", "https://xn--mnchen-shop-thb.com/"),
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
