"""Tables for functions and template tags without I/O."""

import html
import re

import pytest
from django.template import engines

from accounts.authentication.browsers import describe_browser
from accounts.models import account_id
from accounts.templatetags.code import MAX_COLORED, highlight
from runtime.http.client_ip import client_address, is_address

PEER = "192.0.2.1"


@pytest.mark.parametrize(
    ("forwarded", "trusted", "address"),
    [
        ("203.0.113.9", 0, PEER),
        ("203.0.113.9", 1, "203.0.113.9"),
        ("198.51.100.7, 203.0.113.9", 1, "203.0.113.9"),
        ("198.51.100.7, 203.0.113.9", 2, "198.51.100.7"),
        ("198.51.100.7", 2, "198.51.100.7"),
        ("2001:db8::1", 1, "2001:db8::1"),
        ("::ffff:203.0.113.9", 1, "203.0.113.9"),
        ("203.0.113.9:1234", 1, "203.0.113.9"),
        ("[2001:db8::1]:1234", 1, "2001:db8::1"),
        ("not an address", 1, PEER),
        ("", 1, PEER),
    ],
)
def test_only_as_many_proxies_as_configured_are_trusted(
    forwarded: str, trusted: int, address: str
) -> None:
    meta = {"REMOTE_ADDR": PEER, "HTTP_X_FORWARDED_FOR": forwarded}
    assert client_address(meta, trusted) == address


def test_request_from_a_unix_socket_has_a_placeholder_address() -> None:
    assert client_address({"REMOTE_ADDR": ""}, 0) == "0.0.0.0"  # noqa: S104


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1:8000", True),
        ("[::1]:8000", True),
        ("localhost:8000", False),
        ("a.example", False),
    ],
)
def test_ip_addresses_are_distinguished_from_host_names(host: str, expected: bool) -> None:
    assert is_address(host) is expected


@pytest.mark.parametrize(
    ("user_agent", "description"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko Firefox/130.0", "Firefox on Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) Chrome/130.0 Safari/537.36 Edg/130.0", "Edge on Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 18 like Mac OS X) Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (Linux; Android 15) Chrome/130.0 Safari/537.36", "Chrome on Android"),
        ("curl/8.5.0", "curl"),
        ("", "Unknown browser"),
        ("<script>", "Unknown browser"),
    ],
)
def test_user_agent_is_described_by_browser_and_system(user_agent: str, description: str) -> None:
    assert describe_browser(user_agent) == description


def test_public_ids_are_random_and_have_a_type_prefix() -> None:
    ids = {account_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(public_id.startswith("acc_") and len(public_id) == 24 for public_id in ids)


SAMPLES = [
    ("json", '{"email": "<jane@shop.example>", "mx": null, "score": 0.5}'),
    ("http", "HTTP/1.1 200 OK\nX-Credits-Cost: 1\n"),
    ("http", "HTTP/1.1 200 OK\nAge: 1\n\nHTTP/1.1 200 OK\nAge: 2\n"),
    ("curl", 'curl -d \'{"email": "a&b@shop.example"}\' \\\n  $URL\n\n'),
    ("python", "import os\n\nprint(os.environ['SVC_API_KEY'])"),
    ("javascript", "const answer = await fetch(url);"),
    ("php", "<?php echo getenv('SVC_API_KEY');"),
]


@pytest.mark.parametrize(("language", "code"), SAMPLES)
def test_colors_change_no_character(language: str, code: str) -> None:
    colored = highlight(code, language)
    assert "<span class=" in colored
    assert html.unescape(re.sub(r"<[^>]*>", "", colored)) == code


def test_each_response_is_colored_with_classes_and_escaped() -> None:
    colored = highlight("HTTP/1.1 200 OK\nAge: 1\nHTTP/1.1 200 OK\nAge: 2\n\n<script>", "http")
    assert colored.count('<span class="na">Age</span>') == 2
    assert "style=" not in colored
    assert "<script" not in colored


def test_very_long_code_stays_plain() -> None:
    code = '"' + "a" * MAX_COLORED
    assert "<span" not in highlight(code, "json")


JOINED = (
    "{% load emails %}{% filter one_line %}\n{{ name }} joined\n  the account.\n{% endfilter %}"
)


def test_lines_of_a_paragraph_become_one_line() -> None:
    template = engines["django"].from_string(
        "{% autoescape off %}" + JOINED + "{% endautoescape %}"
    )
    assert template.render({"name": "Jane & Co"}) == "Jane & Co joined the account."


def test_names_are_escaped_outside_of_emails() -> None:
    assert engines["django"].from_string(JOINED).render({"name": "<b>"}) == (
        "&lt;b&gt; joined the account."
    )
