"""Read and check environment variables, and report all problems together."""

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

from config.settings.secrets import PASSWORDS, SECRETS, InvalidSecretFile, read_secret

TRUE_WORDS = ("1", "true", "yes", "on")
FALSE_WORDS = ("0", "false", "no", "off")
_WEB_ADDRESS = re.compile(
    r"https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:(?P<port>[0-9]{1,5}))?", re.IGNORECASE
)
_MAIL_ADDRESS = re.compile(r"[^@\s<>\"]+@[^@\s<>\"]+")


class Environment:
    """Collect problems instead of raising, so that operators can fix all of them in one go.

    Each method reads one variable and returns the default if the value is invalid.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = dict(values)
        self.problems: list[str] = []
        self._reported: set[str] = set()
        self._from_files: set[str] = set()
        for name in SECRETS:
            self._read_file(name)
        for name, url in PASSWORDS.items():
            if self.is_set(name) and not self.is_set(url) and url not in self._reported:
                self.report(name, f"is the password for {url}, which must be set too.")

    def report(self, name: str, sentence: str) -> None:
        """Record a problem. The sentence follows the variable's name: "must be set.".

        Only a variable's first problem is recorded: others may be its consequences.
        """
        self._report(name, f"{self._label(name)} {sentence}")

    def is_set(self, name: str) -> bool:
        return bool(self.values.get(name, "").strip())

    def missing(self, *names: str) -> list[str]:
        return [name for name in names if not self.is_set(name)]

    def text(self, name: str, default: str = "") -> str:
        return self.values.get(name, "").strip() or default

    def url_password(self, name: str, in_url: str) -> str:
        """Return the password for a URL: the variable's value, or the one that the URL contains."""
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
        """Return the address for a value such as 9100 (loopback), 0.0.0.0:9100 or off (None)."""
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
        """Return a writable folder. `outside`: the program's folder, which it must not contain."""
        path = (outside / self.text(name, str(default))).resolve()
        if outside.is_relative_to(path):
            self.report(name, f"must not contain the program itself, as {path} does.")
            return default
        try:
            path.mkdir(parents=True, exist_ok=True)
            _refuse_unwritable(path)
        except OSError as error:
            self.report(
                name,
                f"must be a writable folder, which {path} is not: {error.strerror}. "
                f"Change its owner or permissions, or set {name} to another folder.",
            )
            return default
        return path

    def web_address(self, name: str, default: str) -> str:
        value = self.text(name, default).rstrip("/")
        match = _WEB_ADDRESS.fullmatch(value)
        if not match or int(match["port"] or 0) > 65535:
            self.report(
                name, f"must be a scheme and a host such as https://api.example.com, not {value!r}."
            )
            return default
        return value

    def local_secret(self, name: str, folder: Path) -> str:
        """Return the variable, or a secret that is generated once and stored in the folder."""
        if self.is_set(name):
            return self.text(name)
        # The process won't start, so don't write to the folder.
        if self.problems:
            return ""
        path = folder / name
        try:
            if not path.exists():
                _create_once(path, secrets.token_urlsafe(48))
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

    def _read_file(self, name: str) -> None:
        variable = f"{name}_FILE"
        if not self.is_set(variable):
            return
        if self.is_set(name):
            self.report(name, f"and {variable} are both set: remove one of them.")
            return
        try:
            self.values[name] = read_secret(Path(self.text(variable)))
        except InvalidSecretFile as error:
            self._report(name, f"{variable} {error}")
        else:
            self._from_files.add(name)

    def _report(self, name: str, problem: str) -> None:
        if name not in self._reported:
            self._reported.add(name)
            self.problems.append(problem)

    def _label(self, name: str) -> str:
        """Say where the variable's value comes from, or can come from."""
        if name in self._from_files:
            return f"{name} (from {name}_FILE)"
        return name if name not in SECRETS or self.is_set(name) else f"{name} or {name}_FILE"

    def _number(
        self, name: str, default: float, minimum: float, maximum: float, *, whole: bool
    ) -> float:
        value = self.text(name, str(default))
        try:
            # int() would also accept 1_000 and non-ASCII digits.
            number = _parse_number(value, whole)
        except ValueError:
            number = None
        if number is None or not minimum <= number <= maximum:
            kind = "a whole number" if whole else "a number"
            self.report(name, f"must be {kind} from {minimum} to {maximum}, not {value!r}.")
            return default
        return number


def get_origin(address: str) -> str:
    """Return the origin of a web address as browsers write it: lower case, no default port."""
    parts = urlsplit(address.lower())
    default = {"http": 80, "https": 443}[parts.scheme]
    host = parts.netloc if parts.port != default else parts.netloc.rpartition(":")[0]
    return f"{parts.scheme}://{host}"


def _parse_number(value: str, whole: bool) -> float:
    if not re.fullmatch(r"-?[0-9]+" if whole else r"-?[0-9]+(\.[0-9]+)?", value):
        raise ValueError
    return int(value) if whole else float(value)


def _is_resolver(text: str) -> bool:
    """Accept an IP address with or without port, such as 2001:db8::1 or [2001:db8::1]:53."""
    host, _, port = text.rpartition(":")
    if text.startswith("[") or text.count(":") == 1:
        host, text = host.strip("[]"), ""
    try:
        ip_address(text or host)
    except ValueError:
        return False
    return bool(text) or (port.isdecimal() and 0 < int(port) <= 65535)


def _refuse_unwritable(folder: Path) -> None:
    """Raise OSError unless files can be created. A full disk isn't a permission problem."""
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise


def _create_once(path: Path, content: str) -> None:
    """Create the file unless it exists. Of several processes, the first to link its file wins."""
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
