"""Read environment variables, and report all problems together."""

import math
import os
import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from datetime import date
from email.utils import parseaddr
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from config.settings.secrets import PASSWORDS, SECRETS, InvalidSecretFile, read_secret

TRUE_WORDS = ("1", "true", "yes", "on")
FALSE_WORDS = ("0", "false", "no", "off")
_WEB_ADDRESS = re.compile(
    r"https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:(?P<port>[0-9]{1,5}))?", re.IGNORECASE
)
_MAIL_ADDRESS = re.compile(r"[^@\s<>\"]+@[^@\s<>\"]+")


class Environment:
    """Read variables. The methods report an invalid value and return the default."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = dict(values)
        self._problems: dict[str, str] = {}
        for name in filter(lambda name: self.is_set(f"{name}_FILE"), SECRETS):
            if self.is_set(name):
                self._problems[name] = f"{name} and {name}_FILE are both set: remove one of them."
                continue
            try:
                self.values[name] = read_secret(Path(self.text(f"{name}_FILE")))
            except InvalidSecretFile as error:
                self._problems[name] = f"{name}_FILE {error}"
        for name, url in PASSWORDS.items():
            if self.is_set(name) and not self.is_set(url) and url not in self._problems:
                self.report(name, f"is the password for {url}, which must be set too.")

    @property
    def problems(self) -> list[str]:
        return list(self._problems.values())

    def report(self, name: str, sentence: str) -> None:
        """Record a variable's first problem, as a sentence after its name."""
        label = name
        if name in SECRETS and self.is_set(f"{name}_FILE"):
            label = f"{name} (from {name}_FILE)"
        elif name in SECRETS and not self.is_set(name):
            label = f"{name} or {name}_FILE"
        self._problems.setdefault(name, f"{label} {sentence}")

    def is_set(self, name: str) -> bool:
        return bool(self.values.get(name, "").strip())

    def missing(self, *names: str) -> list[str]:
        return [name for name in names if not self.is_set(name)]

    def text(self, name: str, default: str = "") -> str:
        return self.values.get(name, "").strip() or default

    def url_password(self, name: str, in_url: str) -> str:
        if in_url and self.is_set(name):
            self.report(name, f"is set, and {PASSWORDS[name]} contains a password too: remove one.")
        return self.text(name) or in_url

    def choice(self, name: str, default: str, choices: tuple[str, ...]) -> str:
        value = self.text(name, default).lower()
        if value not in choices:
            self.report(name, f"must be one of {', '.join(choices)}, not {value!r}.")
            return default
        return value

    def flag(self, name: str, default: bool) -> bool:
        value = self.text(name, "on" if default else "off").lower()
        if value not in TRUE_WORDS + FALSE_WORDS:
            self.report(name, f"must be on or off, not {value!r}.")
            return default
        return value in TRUE_WORDS

    def integer(self, name: str, default: int, *, minimum: int, maximum: int) -> int:
        return int(self.number(name, default, minimum=minimum, maximum=maximum, whole=True))

    def number(
        self, name: str, default: float, *, minimum: float, maximum: float, whole: bool = False
    ) -> float:
        value = self.text(name, str(default))
        # float() accepts 1_000, nan and non-ASCII digits.
        is_number = re.fullmatch(r"-?[0-9]+" if whole else r"-?[0-9]+(\.[0-9]+)?", value)
        number = float(value) if is_number else math.nan
        if not minimum <= number <= maximum:
            kind = "a whole number" if whole else "a number"
            self.report(name, f"must be {kind} from {minimum} to {maximum}, not {value!r}.")
            return default
        return number

    def names(self, name: str, default: list[str], *, separator: str = ",") -> list[str]:
        parts = [part.strip() for part in self.text(name).split(separator)]
        return [part for part in parts if part] or default

    def day(self, name: str, default: date) -> date:
        try:
            return date.fromisoformat(self.text(name, default.isoformat()))
        except ValueError:
            self.report(name, f"must be a date such as {default}.")
            return default

    def matching(self, name: str, default: str, pattern: str, sentence: str) -> str:
        value = self.text(name, default)
        if value and not re.fullmatch(pattern, value):
            self.report(name, sentence)
            return default
        return value

    def sender(self, name: str, default: str, *, name_allowed: bool = True) -> str:
        value = self.text(name, default)
        _, address = parseaddr(value)
        if not _MAIL_ADDRESS.fullmatch(address) or (value != address and not name_allowed):
            form = "Name <user@host>" if name_allowed else "user@host"
            self.report(name, f"must be an email address of the form {form}.")
            return default
        return value

    def resolvers(self, name: str) -> list[str]:
        servers = self.names(name, [])
        for server in servers:
            if not _is_resolver(server):
                self.report(name, f"must list addresses such as 127.0.0.1:5353, not {server!r}.")
        return servers

    def listener(self, name: str) -> tuple[str, int] | None:
        """Accept 9100 (loopback), 0.0.0.0:9100 or off (None)."""
        value = self.text(name, "off").lower()
        if value in FALSE_WORDS:
            return None
        host, _, port = value.rpartition(":")
        host = host.strip("[]") or "127.0.0.1"
        if not _is_resolver(f"[{host}]:{port}"):
            self.report(name, f"must be a port, or an address such as 0.0.0.0:9100, not {value!r}.")
            return None
        return host, int(port)

    def folder(self, name: str, default: Path, *, outside: Path) -> Path:
        """Return a writable folder that doesn't contain the program (`outside`)."""
        path = (outside / self.text(name, str(default))).resolve()
        if outside.is_relative_to(path):
            self.report(name, f"must not contain the program itself, as {path} does.")
            return default
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:
            is_writable = False
        else:
            is_writable = os.access(path, os.W_OK | os.X_OK)
        if is_writable:
            return path
        self.report(
            name,
            f"must be a writable folder, which {path} is not. "
            f"Change its owner or permissions, or set {name} to another folder.",
        )
        return default

    def web_address(self, name: str, default: str) -> str:
        value = self.text(name, default).rstrip("/")
        match = _WEB_ADDRESS.fullmatch(value)
        if not match or int(match["port"] or 0) > 65535:
            self.report(
                name, f"must be a scheme and a host such as https://api.example.com, not {value!r}."
            )
            return default
        return value

    def secret(self, name: str, folder: Path | None) -> str:
        """Return the variable, or a secret generated once in the folder, if there is one."""
        if self.is_set(name) or folder is None:
            return self.text(name)
        if self.problems:
            return ""
        path = folder / name
        try:
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                draft = path.with_name(f".{name}.{os.getpid()}")
                draft.touch(mode=0o600)
                draft.write_text(secrets.token_urlsafe(48))
                # The first process wins.
                with suppress(FileExistsError):
                    path.hardlink_to(draft)
                draft.unlink()
            return path.read_text().strip()
        except OSError as error:
            self.report(
                name,
                f"must be set, or stored in {path}: {error.strerror}. "
                "Change the owner or permissions of that file and its folder.",
            )
            return ""

    def raise_problems(self) -> None:
        if self.problems:
            lines = "\n".join(f"  - {problem}" for problem in self.problems)
            raise ImproperlyConfigured(f"Fix these environment variables:\n{lines}")


def get_origin(address: str) -> str:
    parts = urlsplit(address.lower())
    default = {"http": 80, "https": 443}[parts.scheme]
    host = parts.netloc if parts.port != default else parts.netloc.rpartition(":")[0]
    return f"{parts.scheme}://{host}"


def _is_resolver(text: str) -> bool:
    """Accept an IP address with or without port: 2001:db8::1, [2001:db8::1]:53."""
    host, _, port = text.rpartition(":")
    if text.startswith("[") or text.count(":") == 1:
        host, text = host.strip("[]"), ""
    try:
        ip_address(text or host)
    except ValueError:
        return False
    return bool(text) or (port.isdecimal() and 0 < int(port) <= 65535)
