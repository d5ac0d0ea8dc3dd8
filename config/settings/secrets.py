"""The settings that are secrets. Each can come from a file: NAME_FILE instead of NAME."""

import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

# The passwords that complete a URL without one, and the URLs.
PASSWORDS = {
    "DATABASE_PASSWORD": "DATABASE_URL",
    "REDIS_PASSWORD": "REDIS_URL",
    "EMAIL_PASSWORD": "EMAIL_URL",
}
# They can contain a password.
URLS = (*PASSWORDS.values(), "PGBOUNCER_URL")
SECRETS = (
    *("SECRET_KEY", "SECRET_KEY_PREVIOUS", "API_KEY_PEPPER", "API_KEY_PEPPER_PREVIOUS"),
    *("ADDRESS_HASH_KEY", "STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET", "SENTRY_DSN"),
    *URLS,
    *PASSWORDS,
)

MAX_BYTES = 64 * 1024
# Shorter values are found by chance in ordinary log messages.
_MIN_MASKED_LENGTH = 8
_PASSWORD_IN_URL = re.compile(r"[a-z+]+://[^:/@]*:(.+)@", re.IGNORECASE)


class InvalidSecretFile(Exception):
    """The message follows the variable's name, and contains neither the content nor the path.

    The path is left out because it may be the secret, set in the wrong variable.
    """


def read_secret(path: Path) -> str:
    """Return the file's text without the newline at its end, as Docker's official images do."""
    try:
        content = _read_regular_file(path)
        # A byte order mark at the beginning is invisible in editors.
        text = content.decode("utf-8-sig").rstrip("\r\n")
    except OSError as error:
        raise InvalidSecretFile(
            f"must name a file that can be read by this process's user, {os.getuid()}: "
            f"{error.strerror}."
        ) from None
    except UnicodeDecodeError:
        raise InvalidSecretFile("must name a file of UTF-8 text.") from None
    if not text.strip():
        raise InvalidSecretFile("must name a file that isn't empty.")
    if not text.isprintable() or text != text.strip():
        raise InvalidSecretFile("must name a file with one line of text, without spaces around it.")
    return text


def values_to_mask(values: Mapping[str, str]) -> set[str]:
    """Return what no log may contain: the secrets, and of a URL its password."""
    masked = set()
    for name in SECRETS:
        value = values.get(name, "").strip()
        if name in URLS:
            match = _PASSWORD_IN_URL.match(value)
            value = match[1] if match else ""
        masked |= {value, unquote(value)}
    return {value for value in masked if len(value) >= _MIN_MASKED_LENGTH}


def _read_regular_file(path: Path) -> bytes:
    # Opening a pipe would wait for its writer.
    if not stat.S_ISREG(path.stat().st_mode):
        raise InvalidSecretFile("must name a regular file.")
    with path.open("rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise InvalidSecretFile(f"must name a file of at most {MAX_BYTES} bytes.")
    return content
