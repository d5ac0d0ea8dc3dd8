"""`ENVIRONMENT=production` enables all safeguards, or reports the settings that are missing."""

import json
import re

import pytest

from config.settings.secrets import SECRETS
from tests.servers.production import ENVIRONMENT
from tests.servers.programs import run_program

pytestmark = pytest.mark.process


def test_all_missing_settings_stop_the_start_and_are_reported() -> None:
    required = {
        *("SECRET_KEY", "API_KEY_PEPPER", "ADDRESS_HASH_KEY", "BASE_URL", "ALLOWED_HOSTS"),
        *("TRUSTED_PROXIES", "DATABASE_URL", "EMAIL_URL", "SELLER_NAME", "SELLER_ADDRESS"),
        *("SELLER_TAX_ID", "INVOICE_PAYMENT_DETAILS"),
    }
    environment = {name: value for name, value in ENVIRONMENT.items() if name not in required}
    ended = run_program("manage.py", "check", **environment)
    assert ended.returncode == 1
    reported = re.findall(r"^  - (\w+(?: or \w+)?) must", ended.stderr, re.M)
    assert sorted(reported) == sorted(
        f"{name} or {name}_FILE" if name in SECRETS else name for name in required
    )
    assert ended.stderr.count("\n  - ") == len(required)
    assert "Traceback" not in ended.stderr


def test_missing_setting_is_logged_by_a_process() -> None:
    environment = {key: value for key, value in ENVIRONMENT.items() if key != "BASE_URL"}
    ended = run_program("manage.py", "run_worker", **environment)
    assert ended.returncode == 1
    assert "BASE_URL must" in json.loads(ended.stderr)["message"]


@pytest.mark.parametrize(
    "unsafe",
    [
        {
            "SECRET_KEY": "short",
            "BASE_URL": "http://validation.example",
            "ALLOWED_HOSTS": "*",
            "DATABASE_URL": "sqlite:///db.sqlite3",
            "EMAIL_URL": "file:mail",
            "DEBUG": "on",
            "WEBHOOK_ALLOW_PRIVATE": "on",
            "TRUSTED_PROXIES": "many",
        },
        {"SECRET_KEY": "a" * 60, "ALLOWED_HOSTS": "other.example"},
        {"SECRET_KEY": ENVIRONMENT["API_KEY_PEPPER"]},
    ],
)
def test_unsafe_values_stop_the_start_and_are_reported_without_secrets(
    unsafe: dict[str, str],
) -> None:
    ended = run_program("manage.py", "check", **{**ENVIRONMENT, **unsafe})
    assert ended.returncode == 1
    assert unsafe.keys() <= {*re.findall(r"^  - (\w+) .*must", ended.stderr, re.M)}
    assert unsafe["SECRET_KEY"] not in ended.stderr


def test_seller_settings_are_optional_with_stripe() -> None:
    environment = {key: value for key, value in ENVIRONMENT.items() if "SELLER" not in key}
    stripe = {"STRIPE_SECRET_KEY": "sk_invented", "STRIPE_WEBHOOK_SECRET": "whsec_invented"}
    assert run_program("-c", "import config.settings", **environment, **stripe).returncode == 0


STRIPE = "{0} or {0}_FILE must be set: Stripe's two secrets go"


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("TAX_RATE", "0.19", "SELLER_COUNTRY must be set while TAX_RATE is above 0"),
        ("STRIPE_SECRET_KEY", "invented", STRIPE.format("STRIPE_WEBHOOK_SECRET")),
        ("STRIPE_WEBHOOK_SECRET", "invented", STRIPE.format("STRIPE_SECRET_KEY")),
    ],
)
def test_setting_without_the_one_that_it_needs_is_reported(
    name: str, value: str, problem: str
) -> None:
    ended = run_program("manage.py", "check", **{**ENVIRONMENT, name: value})
    assert ended.returncode == 1
    assert f"- {problem}" in ended.stderr
    assert ended.stderr.count("\n  - ") == 1


def test_production_enables_every_safeguard() -> None:
    expected = {
        "DEBUG": False,
        "SECURE_SSL_REDIRECT": True,
        "SECURE_SSL_HOST": "validation.example",
        "SECURE_HSTS_SECONDS": 63072000,
        "SESSION_COOKIE_NAME": "__Host-session",
        "SESSION_COOKIE_SECURE": True,
        "CSRF_COOKIE_NAME": "__Host-csrf",
        "KNOWN_BROWSER_COOKIE_NAME": "__Host-known_browser",
        "CSRF_COOKIE_SECURE": True,
        "STAFF_NEED_SECOND_FACTOR": True,
        "SECURE_PROXY_SSL_HEADER": ["HTTP_X_FORWARDED_PROTO", "https"],
    }
    script = f"""
import json, config.settings as settings
print(json.dumps({{name: getattr(settings, name) for name in {list(expected)}}}))
"""
    assert json.loads(run_program("-c", script, **ENVIRONMENT).stdout) == expected
