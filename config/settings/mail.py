"""EMAIL_URL in Django's terms: a mail server, or files in the data folder."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from config.settings.environment import TRUE_WORDS, Environment

FILES = "runtime.mail.file_backend.EmailBackend"
FORM = "must be of the form smtp+tls://user:password@host:587."
# Scheme: the usual port, STARTTLS, TLS from the first byte.
SCHEMES = {
    "smtp": (25, False, False),
    "smtp+tls": (587, True, False),
    "submission": (587, True, False),
    "smtp+ssl": (465, False, True),
    "smtps": (465, False, True),
}


def mail_settings(env: Environment, folder: Path) -> dict[str, Any]:
    if not env.given("EMAIL_URL"):
        return {"EMAIL_BACKEND": FILES, "EMAIL_FILE_PATH": str(folder)}
    try:
        url = urlsplit(env.text("EMAIL_URL"))
        port, host = url.port, url.hostname
    except ValueError:
        host = None
    if not host or url.scheme not in SCHEMES or port == 0:
        env.problem("EMAIL_URL", FORM)
        return _backend("dummy")
    usual_port, starttls, tls = SCHEMES[url.scheme]
    query = {name: values[-1].lower() in TRUE_WORDS for name, values in parse_qs(url.query).items()}
    return _backend(
        "smtp",
        EMAIL_HOST=host,
        EMAIL_PORT=port or usual_port,
        EMAIL_HOST_USER=unquote(url.username or ""),
        EMAIL_HOST_PASSWORD=unquote(url.password or ""),
        EMAIL_USE_TLS=query.get("tls", starttls) and not query.get("ssl", tls),
        EMAIL_USE_SSL=query.get("ssl", tls),
    )


def _backend(name: str, **settings: Any) -> dict[str, Any]:
    return {"EMAIL_BACKEND": f"django.core.mail.backends.{name}.EmailBackend", **settings}
