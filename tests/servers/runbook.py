"""The commands of docs/operations.md, run as they stand there on a machine that is made up: what
only root of a whole machine has is elsewhere, or does nothing."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.servers.postgres import with_its_programs
from tests.servers.product import ROOT

PAGE = ROOT / "docs" / "operations.md"
ECHO = f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n"
SHELL_BLOCK = re.compile(r"^( *)```sh(?: run=([\w-]+))?\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    """Each with its name, or none."""
    return [(name, text) for _, name, text in SHELL_BLOCK.findall(PAGE.read_text())]


class Machine:
    def __init__(self, folder: Path, user: str | None = None, **environment: str) -> None:
        """The commands are run by that user."""
        self.user = user
        self.places = {
            "/srv/email-validation": str(ROOT),
            "/etc/email-validation": str(folder / "etc"),
            "/var/backups/email-validation": str(folder / "backups"),
            ".venv/bin/python": sys.executable,
        }
        for name in ("etc", "backups", "bin"):
            (folder / name).mkdir(parents=True)
        self._programs = folder / "bin"
        self._program("manage", self._placed((ROOT / "deploy/manage").read_text()))
        self._program("systemctl", "#!/bin/sh\n")
        self._program("runuser", '#!/bin/sh\nshift 3\nexec "$@"\n')
        given = "".join(f"{name}={value}\n" for name, value in environment.items())
        (folder / "etc" / "production.env").write_text(given)
        self.folder = folder

    @property
    def settings(self) -> str:
        return (self.folder / "etc" / "production.env").read_text()

    def run(self, name: str, **variables: str) -> str:
        (text,) = (text for known, text in blocks() if known == name)
        return self.execute(self._placed(text), variables)

    def execute(self, script: str, variables: dict[str, str]) -> str:
        ended = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            env={
                "PATH": f"{self._programs}:{with_its_programs(os.environ['PATH'])}",
                "HOME": str(self.folder),
                **variables,
            },
            cwd=self.folder,
            user=self.user,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
        return ended.stdout

    def commands(self, name: str, **variables: str) -> list[list[str]]:
        """What it would have `manage` do."""
        self._program("manage", ECHO)
        return [json.loads(line) for line in self.run(name, **variables).splitlines()]

    def _placed(self, text: str) -> str:
        for place, ours in self.places.items():
            text = text.replace(place, ours)
        return text

    def _program(self, name: str, text: str) -> None:
        path = self._programs / name
        path.write_text(text)
        path.chmod(0o755)
