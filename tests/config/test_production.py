"""`ENVIRONMENT=production` enables all safeguards, or reports the settings that are missing."""

import json

import pytest

from config.settings.secrets import SECRETS
from tests.servers.production import ENVIRONMENT, OWN_HOST
from tests.servers.programs import run_program

pytestmark = pytest.mark.process


def test_deploy_check_passes_with_all_settings() -> None:
    ended = run_program("manage.py", "check", "--deploy", **{**ENVIRONMENT, **OWN_HOST})
    assert (ended.returncode, ended.stdout, ended.stderr) == (
        0,
        "System check identified no issues (0 silenced).\n",
        "",
    )


@pytest.mark.parametrize(
    "name",
    [
        "SECRET_KEY",
        "API_KEY_PEPPER",
        "ADDRESS_HASH_KEY",
        "BASE_URL",
        "ALLOWED_HOSTS",
        "TRUSTED_PROXIES",
        "DATABASE_URL",
        "EMAIL_URL",
        "SELLER_NAME",
        "SELLER_ADDRESS",
        "SELLER_TAX_ID",
        "INVOICE_PAYMENT_DETAILS",
    ],
)
def test_missing_setting_stops_the_start_and_is_reported(name: str) -> None:
    environment = {key: value for key, value in ENVIRONMENT.items() if key != name}
    ended = run_program("manage.py", "check", **environment)
    assert ended.returncode == 1
    where = f"{name} or {name}_FILE" if name in SECRETS else name
    assert f"- {where} must" in ended.stderr
    assert ended.stderr.count("\n  - ") == 1
    assert "Traceback" not in ended.stderr


def test_missing_setting_is_logged_by_a_process() -> None:
    environment = {key: value for key, value in ENVIRONMENT.items() if key != "BASE_URL"}
    ended = run_program("manage.py", "run_worker", **environment)
    assert ended.returncode == 1
    assert "BASE_URL must" in json.loads(ended.stderr)["message"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SECRET_KEY", "short"),
        ("SECRET_KEY", "a" * 60),
        ("SECRET_KEY", ENVIRONMENT["API_KEY_PEPPER"]),
        ("BASE_URL", "http://validation.example"),
        ("ALLOWED_HOSTS", "*"),
        ("ALLOWED_HOSTS", "other.example"),
        ("DATABASE_URL", "sqlite:///db.sqlite3"),
        ("EMAIL_URL", "file:mail"),
        ("DEBUG", "on"),
        ("WEBHOOK_ALLOW_PRIVATE", "on"),
        ("TRUSTED_PROXIES", "many"),
    ],
)
def test_unsafe_value_stops_the_start_and_is_reported_without_the_value(
    name: str, value: str
) -> None:
    ended = run_program("manage.py", "check", **{**ENVIRONMENT, name: value})
    assert ended.returncode == 1
    assert f"- {name} must" in ended.stderr
    if name == "SECRET_KEY":
        assert value not in ended.stderr


def test_tax_rate_needs_the_sellers_country() -> None:
    ended = run_program("manage.py", "check", **{**ENVIRONMENT, "TAX_RATE": "0.19"})
    assert ended.returncode == 1
    assert "- SELLER_COUNTRY must be set while TAX_RATE is above 0" in ended.stderr
    assert ended.stderr.count("\n  - ") == 1


def test_seller_settings_are_optional_with_stripe() -> None:
    environment = {key: value for key, value in ENVIRONMENT.items() if "SELLER" not in key}
    stripe = {"STRIPE_SECRET_KEY": "sk_invented", "STRIPE_WEBHOOK_SECRET": "whsec_invented"}
    assert run_program("manage.py", "check", **environment, **stripe).returncode == 0


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"),
        ("STRIPE_WEBHOOK_SECRET", "STRIPE_SECRET_KEY"),
    ],
)
def test_one_of_stripes_secrets_alone_is_reported(name: str, other: str) -> None:
    ended = run_program("manage.py", "check", **{**ENVIRONMENT, name: "invented"})
    assert ended.returncode == 1
    assert f"- {other} or {other}_FILE must be set: Stripe's two secrets go" in ended.stderr
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
