"""The environment, read and checked: each wrong value is named, all of them at once."""

import errno
import os
import re
import secrets
from collections.abc import Mapping
from datetime import date
from email.utils import parseaddr
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryFile
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

TRUE_WORDS = ("1", "true", "yes", "on")
FALSE_WORDS = ("0", "false", "no", "off")
_WEB_ADDRESS = re.compile(
    r"https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:(?P<port>[0-9]{1,5}))?", re.IGNORECASE
)
_MAIL_ADDRESS = re.compile(r"[^@\s<>\"]+@[^@\s<>\"]+")


class Environment:
    """Collects problems instead of raising, so that an operator mends everything in one go."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values
        self.problems: list[str] = []

    def problem(self, name: str, sentence: str) -> None:
        self.problems.append(f"{name} {sentence}")

    def given(self, name: str) -> bool:
        return bool(self.values.get(name, "").strip())

    def text(self, name: str, default: str = "") -> str:
        return self.values.get(name, "").strip() or default

    def choice(self, name: str, default: str, choices: tuple[str, ...]) -> str:
        value = self.text(name, default).lower()
        if value not in choices:
            self.problem(name, f"must be one of {', '.join(choices)}, not {value!r}.")
            return default
        return value

    def flag(self, name: str, default: bool) -> bool:
        value = self.text(name, "on" if default else "off").lower()
        if value not in TRUE_WORDS + FALSE_WORDS:
            self.problem(name, f"must be on or off, not {value!r}.")
            return default
        return value in TRUE_WORDS

    def integer(self, name: str, default: int, *, minimum: int, maximum: int) -> int:
        return int(self._number(name, default, minimum, maximum, whole=True))

    def number(self, name: str, default: float, *, minimum: float, maximum: float) -> float:
        return self._number(name, default, minimum, maximum, whole=False)

    def names(self, name: str, default: list[str], *, separator: str = ",") -> list[str]:
        parts = [part.strip() for part in self.text(name).split(separator)]
        return [part for part in parts if part] or default

    def day(self, name: str, default: date) -> date:
        try:
            return date.fromisoformat(self.text(name, default.isoformat()))
        except ValueError:
            self.problem(name, f"must be a date such as {default}.")
            return default

    def matching(self, name: str, default: str, pattern: str, sentence: str) -> str:
        value = self.text(name, default)
        if value and not re.fullmatch(pattern, value):
            self.problem(name, sentence)
            return default
        return value

    def sender(self, name: str, default: str, *, name_allowed: bool = True) -> str:
        value = self.text(name, default)
        _, address = parseaddr(value)
        if not _MAIL_ADDRESS.fullmatch(address) or (value != address and not name_allowed):
            form = "Name <user@host>" if name_allowed else "user@host"
            self.problem(name, f"must be an e-mail address of the form {form}.")
            return default
        return value

    def resolvers(self, name: str) -> list[str]:
        servers = self.names(name, [])
        for server in servers:
            if not _is_resolver(server):
                self.problem(name, f"must list addresses such as 127.0.0.1:5353, not {server!r}.")
        return servers

    def listener(self, name: str) -> tuple[str, int] | None:
        """A port of this machine alone, or an address with a port; None where it is off."""
        value = self.text(name, "off").lower()
        if value in FALSE_WORDS:
            return None
        host, _, port = value.rpartition(":")
        host = host.strip("[]") or "127.0.0.1"
        if not _is_resolver(f"[{host}]:{port}"):
            self.problem(
                name, f"must be a port, or an address such as 0.0.0.0:9100, not {value!r}."
            )
            return None
        return host, int(port)

    def folder(self, name: str, default: Path, *, outside: Path) -> Path:
        """A folder we may fill and clear: not one that holds the program itself."""
        path = (outside / self.text(name, str(default))).resolve()
        if outside.is_relative_to(path):
            self.problem(name, f"must not hold the program itself, as {path} does.")
            return default
        try:
            path.mkdir(parents=True, exist_ok=True)
            _refuse_unwritable(path)
        except OSError as error:
            self.problem(
                name,
                f"must be a folder that can be written to, and {path} can't: {error.strerror}. "
                f"Change its owner or permissions, or set {name} to another folder.",
            )
            return default
        return path

    def web_address(self, name: str, default: str) -> str:
        value = self.text(name, default).rstrip("/")
        match = _WEB_ADDRESS.fullmatch(value)
        if not match or int(match["port"] or 0) > 65535:
            self.problem(
                name, f"must be a scheme and a host such as https://api.example.com, not {value!r}."
            )
            return default
        return value

    def local_secret(self, name: str, folder: Path) -> str:
        """A secret from the environment, else one that is made once and kept in the folder."""
        if self.given(name):
            return self.text(name)
        # The start is refused: nothing is written for it.
        if self.problems:
            return ""
        path = folder / name
        try:
            if not path.exists():
                _create_once(path, secrets.token_urlsafe(48))
            return path.read_text().strip()
        except OSError as error:
            self.problem(
                name,
                f"must be set, or kept in {path}: {error.strerror}. "
                "Change the owner or permissions of that file and its folder.",
            )
            return ""

    def stop_if_wrong(self) -> None:
        if self.problems:
            lines = "\n".join(f"  - {problem}" for problem in self.problems)
            raise ImproperlyConfigured(f"The environment needs mending before a start:\n{lines}")

    def _number(
        self, name: str, default: float, minimum: float, maximum: float, *, whole: bool
    ) -> float:
        value = self.text(name, str(default))
        try:
            # Python would also read 1_000 and digits of other scripts.
            number = _read_number(value, whole)
        except ValueError:
            number = None
        if number is None or not minimum <= number <= maximum:
            kind = "a whole number" if whole else "a number"
            self.problem(name, f"must be {kind} from {minimum} to {maximum}, not {value!r}.")
            return default
        return number


def origin_of(address: str) -> str:
    """Return the origin of a web address as browsers write it: lower case, no default port."""
    parts = urlsplit(address.lower())
    default = {"http": 80, "https": 443}[parts.scheme]
    host = parts.netloc if parts.port != default else parts.netloc.rpartition(":")[0]
    return f"{parts.scheme}://{host}"


def _read_number(value: str, whole: bool) -> float:
    if not re.fullmatch(r"-?[0-9]+" if whole else r"-?[0-9]+(\.[0-9]+)?", value):
        raise ValueError
    return int(value) if whole else float(value)


def _is_resolver(text: str) -> bool:
    """An IP address, with a port if one is given: 127.0.0.1:5353, 2001:db8::1, [2001:db8::1]:53."""
    host, _, port = text.rpartition(":")
    if text.startswith("[") or text.count(":") == 1:
        host, text = host.strip("[]"), ""
    try:
        ip_address(text or host)
    except ValueError:
        return False
    return bool(text) or (port.isdecimal() and 0 < int(port) <= 65535)


def _refuse_unwritable(folder: Path) -> None:
    """Raises OSError, as for a read-only file system. A full disk is another matter, met later."""
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise


def _create_once(path: Path, content: str) -> None:
    """Several processes may start at once: the first to link its file wins, the others read it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(content)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
