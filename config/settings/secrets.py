"""List the secret settings. Each can come from a file: NAME_FILE."""

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

# For URLs without a password.
PASSWORDS = {
    "DATABASE_PASSWORD": "DATABASE_URL",
    "REDIS_PASSWORD": "REDIS_URL",
    "EMAIL_PASSWORD": "EMAIL_URL",
}
# They may contain a password.
URLS = (*PASSWORDS.values(), "PGBOUNCER_URL", "REPLICA_URL", "PROBE_PROXY")
SECRETS = (
    *("SECRET_KEY", "SECRET_KEY_PREVIOUS", "API_KEY_PEPPER", "API_KEY_PEPPER_PREVIOUS"),
    *("ADDRESS_HASH_KEY", "STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET", "SENTRY_DSN"),
    *("GOOGLE_CLIENT_ID", "GOOGLE_CLIENT_SECRET", "GITHUB_CLIENT_ID", "GITHUB_CLIENT_SECRET"),
    *URLS,
    *PASSWORDS,
)

MAX_BYTES = 64 * 1024
# Ordinary messages contain shorter values.
_MIN_MASKED_LENGTH = 8
_PASSWORD_IN_URL = re.compile(r"[a-z+]+://[^:/@]*:(.+)@", re.IGNORECASE)


class InvalidSecretFile(Exception):
    """Raised with a message that follows the variable's name, without the path, which may be the
    secret.
    """


def read_secret(path: Path) -> str:
    """Return the text without a newline at its end, as Docker's official images do."""
    try:
        # Opening a pipe would wait.
        if not stat.S_ISREG(path.stat().st_mode):
            raise InvalidSecretFile("must name a regular file.")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidSecretFile(
            f"must name a file that can be read by this process's user, {os.getuid()}: "
            f"{error.strerror}."
        ) from None
    if len(content) > MAX_BYTES:
        raise InvalidSecretFile(f"must name a file of at most {MAX_BYTES} bytes.")
    try:
        # A byte order mark is invisible in editors.
        text = content.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        text = ""
    if not text or not text.isprintable() or text != text.strip():
        raise InvalidSecretFile(
            "must name a file with one line of UTF-8 text, without spaces around it."
        )
    return text


def values_to_mask(values: Mapping[str, str]) -> set[str]:
    masked = set()
    for name in SECRETS:
        value = values.get(name, "").strip()
        texts = [value]
        if name in URLS:
            urls = value.split(",") if name == "PROBE_PROXY" else [value]
            texts = [match[1] for url in urls if (match := _PASSWORD_IN_URL.match(url.strip()))]
        masked |= {*texts, *map(unquote, texts)}
    return {value for value in masked if len(value) >= _MIN_MASKED_LENGTH}
