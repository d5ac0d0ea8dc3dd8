"""The product's settings, with what tests change: where data lies, and what only costs time."""

import atexit
import os
import shutil
import tempfile

# Before the settings are read: a test run never touches the data of a developer's copy.
os.environ["DATA_DIR"] = tempfile.mkdtemp(prefix="tests-")
atexit.register(shutil.rmtree, os.environ["DATA_DIR"], ignore_errors=True)
for name in (
    *("BASE_URL", "EMAIL_URL", "ENVIRONMENT", "PORT", "REDIS_URL", "TRUSTED_PROXIES"),
    *("LOG_FORMAT", "LOG_LEVEL", "METRICS_PORT"),
):
    os.environ.pop(name, None)

from config.settings import *  # noqa: E402, F403

# Nobody listens there: what no test scripts is unknown, at once.
DNS_RESOLVERS = ["127.0.0.1:9"]
# Argon2 is slow on purpose.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EVEN_TIME_SECONDS = 0
SIGN_IN_REFUSAL_SECONDS = 0
PASSKEY_ORIGINS = ["http://testserver"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_AUTOREFRESH = True
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
if DATABASES["default"]["ENGINE"] == "runtime.database.sqlite":  # noqa: F405
    # A file as in the product, not memory: with its locks, and open to several processes.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}  # noqa: F405
# The mail server of the tests tells of each connection.
LOGGING["loggers"]["mail.log"] = {"level": "WARNING"}  # noqa: F405
