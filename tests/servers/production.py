"""A complete production environment with made-up values.

`python -m tests.servers.production manage.py check --deploy` runs a command in it.
"""

import os
import sys

ENVIRONMENT = {
    "ENVIRONMENT": "production",
    "SECRET_KEY": "invented-for-tests-only-0123456789-abcdefghijklmnopqrstuvwxyz-1",
    "API_KEY_PEPPER": "invented-for-tests-only-0123456789-abcdefghijklmnopqrstuvwxyz-2",
    "ADDRESS_HASH_KEY": "invented-for-tests-only-0123456789-abcdefghijklmnopqrstuvwxyz-3",
    "BASE_URL": "https://validation.example",
    "ALLOWED_HOSTS": "validation.example",
    "TRUSTED_PROXIES": "1",
    "DATABASE_URL": "postgres://validation@127.0.0.1:1/validation",
    "EMAIL_URL": "smtp+tls://validation:invented@127.0.0.1:1",
    "DEFAULT_FROM_EMAIL": "Email Validation <hello@validation.example>",
    "SUPPORT_EMAIL": "support@validation.example",
    "SELLER_NAME": "Harborline Validation Ltd",
    "SELLER_ADDRESS": "2 Quay Street, Harborton",
    "SELLER_TAX_ID": "HB123456789",
    "INVOICE_PAYMENT_DETAILS": "Example Bank, account 000000",
    "GOVERNING_LAW": "the law of Exampleland; its courts in Exampleton decide",
    "HOSTING": "Example Hosting Ltd, in Exampleton; its logs are kept for 14 days",
    "SUBPROCESSORS": "Example Hosting Ltd, servers, Exampleton; Example Mail Ltd, email delivery",
}
# With another host than deploy/production.env.example and nginx.conf.
OWN_HOST = {"BASE_URL": "https://validation.test", "ALLOWED_HOSTS": "validation.test"}

if __name__ == "__main__":
    environment = {**os.environ, **ENVIRONMENT, **OWN_HOST}
    os.execvpe(sys.executable, [sys.executable, *sys.argv[1:]], environment)  # noqa: S606
