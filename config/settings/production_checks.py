from collections.abc import Mapping
from typing import Any

from config.settings.databases import is_postgresql
from config.settings.environment import Environment

SECRETS = ("SECRET_KEY", "API_KEY_PEPPER", "ADDRESS_HASH_KEY")
SELLER = ("SELLER_NAME", "SELLER_ADDRESS", "SELLER_TAX_ID", "INVOICE_PAYMENT_DETAILS")


def require_production_settings(env: Environment, settings: Mapping[str, Any]) -> None:
    _require_secrets(env)
    _require_addresses(env, settings)
    if not is_postgresql(settings["DATABASES"]["default"]):
        env.report("DATABASE_URL", "must name a PostgreSQL database: postgres://user@host/name.")
    if "EMAIL_HOST" not in settings:
        env.report("EMAIL_URL", "must name a mail server: smtp+tls://user:password@host:587.")
    if settings["DEBUG"]:
        env.report("DEBUG", "must be off.")
    if settings["WEBHOOK_ALLOW_PRIVATE"]:
        env.report("WEBHOOK_ALLOW_PRIVATE", "must be off: webhooks could reach private addresses.")
    if not settings["STRIPE_SECRET_KEY"]:
        for name in SELLER:
            if not env.is_set(name):
                env.report(name, "must be set while invoices are the payment method.")
    if settings["TAX_RATE"] and not settings["SELLER_COUNTRY"]:
        env.report(
            "SELLER_COUNTRY",
            "must be set while TAX_RATE is above 0, to your country's code, such as DE.",
        )


def _require_secrets(env: Environment) -> None:
    values = [env.text(name) for name in SECRETS]
    for name, value in zip(SECRETS, values, strict=True):
        if len(value) < 50 or len(set(value)) < 5:
            env.report(name, "must be a random string of at least 50 characters.")
        elif values.count(value) > 1:
            env.report(name, "must differ from the other secrets.")


def _require_addresses(env: Environment, settings: Mapping[str, Any]) -> None:
    for name in ("ALLOWED_HOSTS", "BASE_URL"):
        if not env.is_set(name):
            env.report(name, "must be set.")
    if not env.is_set("TRUSTED_PROXIES"):
        env.report("TRUSTED_PROXIES", "must be set to the number of reverse proxies, 0 for none.")
    if env.is_set("BASE_URL") and not settings["HTTPS"]:
        env.report("BASE_URL", "must start with https://.")
    hosts, base_host = settings["ALLOWED_HOSTS"], settings["BASE_HOST"]
    if "*" in hosts:
        env.report("ALLOWED_HOSTS", "must list the hosts; * would accept any host.")
    elif settings["HTTPS"] and env.is_set("ALLOWED_HOSTS") and base_host not in hosts:
        env.report("ALLOWED_HOSTS", f"must contain BASE_URL's host, {base_host}.")
