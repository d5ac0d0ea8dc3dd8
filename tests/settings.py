"""The product's settings with the changes tests need: a temporary data folder and no delays."""

import atexit
import os
import shutil
import tempfile

# Set before the settings are imported, so that tests never touch a developer's data.
os.environ["DATA_DIR"] = tempfile.mkdtemp(prefix="tests-")
atexit.register(shutil.rmtree, os.environ["DATA_DIR"], ignore_errors=True)
for name in (
    *("BASE_URL", "EMAIL_URL", "ENVIRONMENT", "PORT", "REDIS_URL", "TRUSTED_PROXIES"),
    *("DATABASE_PASSWORD", "EMAIL_PASSWORD", "REDIS_PASSWORD"),
    *("LOG_FORMAT", "LOG_LEVEL", "METRICS_PORT"),
):
    os.environ.pop(name, None)

from config.settings import *  # noqa: E402, F403
from config.settings.environment import Environment  # noqa: E402
from config.settings.identity_providers import identity_providers  # noqa: E402
from tests.servers.identity_provider import CREDENTIALS  # noqa: E402

# Nothing listens on this port: a lookup that no test scripts fails immediately.
DNS_RESOLVERS = ["127.0.0.1:9"]
# Argon2 is slow by design.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
RESPONSE_TIME_STEP_SECONDS = 0
SIGN_IN_REFUSAL_SECONDS = 0
SOCIALACCOUNT_PROVIDERS = identity_providers(Environment(CREDENTIALS))
PASSKEY_ORIGINS = ["http://testserver"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
if DATABASES["default"]["ENGINE"] == "runtime.database.sqlite":  # noqa: F405
    # A file instead of memory: it has real locks, and several processes can open it.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}  # noqa: F405
# The tests' mail server logs each connection.
LOGGING["loggers"]["mail.log"] = {"level": "WARNING"}  # noqa: F405
