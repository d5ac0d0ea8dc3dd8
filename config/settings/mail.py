from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

from config.settings.environment import TRUE_WORDS, Environment

FILE_BACKEND = "runtime.mail.file_backend.EmailBackend"
FORMAT = "must be of the form smtp+tls://user:password@host:587."
# Scheme: default port, STARTTLS, implicit TLS.
SCHEMES = {
    "smtp": (25, False, False),
    "smtp+tls": (587, True, False),
    "submission": (587, True, False),
    "smtp+ssl": (465, False, True),
    "smtps": (465, False, True),
}


def mail_settings(env: Environment, folder: Path) -> dict[str, object]:
    if not env.is_set("EMAIL_URL"):
        return {"EMAIL_BACKEND": FILE_BACKEND, "EMAIL_FILE_PATH": str(folder)}
    try:
        url = urlsplit(env.text("EMAIL_URL"))
        port, host = url.port, url.hostname
    except ValueError:
        host = None
    if not host or url.scheme not in SCHEMES or port == 0:
        env.report("EMAIL_URL", FORMAT)
        return _backend("dummy")
    default_port, starttls, tls = SCHEMES[url.scheme]
    password = env.url_password("EMAIL_PASSWORD", unquote(url.password or ""))
    if password and not url.username:
        env.report("EMAIL_URL", "must contain the password's user: smtp+tls://user@host:587.")
    query = {name: values[-1].lower() in TRUE_WORDS for name, values in parse_qs(url.query).items()}
    return _backend(
        "smtp",
        EMAIL_HOST=host,
        EMAIL_PORT=port or default_port,
        EMAIL_HOST_USER=unquote(url.username or ""),
        EMAIL_HOST_PASSWORD=password,
        EMAIL_USE_TLS=query.get("tls", starttls) and not query.get("ssl", tls),
        EMAIL_USE_SSL=query.get("ssl", tls),
    )


def _backend(name: str, **settings: object) -> dict[str, object]:
    return {"EMAIL_BACKEND": f"django.core.mail.backends.{name}.EmailBackend", **settings}
