"""The environment, read and checked: each wrong value is named, all of them at once."""

import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

TRUE_WORDS = ("1", "true", "yes", "on")
FALSE_WORDS = ("0", "false", "no", "off")
_WEB_ADDRESS = re.compile(r"https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:[0-9]{1,5})?", re.IGNORECASE)


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

    def names(self, name: str, default: list[str]) -> list[str]:
        return [part.strip() for part in self.text(name).split(",") if part.strip()] or default

    def web_address(self, name: str, default: str) -> str:
        value = self.text(name, default).rstrip("/")
        if not _WEB_ADDRESS.fullmatch(value):
            self.problem(
                name, f"must be a scheme and a host such as https://api.example.com, not {value!r}."
            )
            return default
        return value

    def local_secret(self, name: str, folder: Path) -> str:
        """A secret from the environment, else one that is made once and kept in the folder."""
        if self.given(name):
            return self.text(name)
        path = folder / name
        if not path.exists():
            _create_once(path, secrets.token_urlsafe(48))
        return path.read_text().strip()

    def stop_if_wrong(self) -> None:
        if self.problems:
            lines = "\n".join(f"  - {problem}" for problem in self.problems)
            raise ImproperlyConfigured(f"The environment needs mending before a start:\n{lines}")

    def _number(
        self, name: str, default: float, minimum: float, maximum: float, *, whole: bool
    ) -> float:
        value = self.text(name, str(default))
        try:
            number = int(value) if whole else float(value)
        except ValueError:
            number = None
        if number is None or not minimum <= number <= maximum:
            kind = "a whole number" if whole else "a number"
            self.problem(name, f"must be {kind} from {minimum} to {maximum}, not {value!r}.")
            return default
        return number


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
