"""Run the commands of the handbook on a simulated machine.

Paths and programs that need root are replaced by temporary folders, wrappers or no-ops.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

from tests.servers.postgres import prepend_postgres_programs
from tests.servers.product import ROOT

# The first page leads to the others.
PAGES = [ROOT / "docs" / "operations.md", *sorted((ROOT / "docs" / "operations").glob("*.md"))]
ECHO = f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n"
SHELL_BLOCK = re.compile(r"^( *)```sh(?: run=([\w-]+))?\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    """Return the name (or "") and the text of each shell block."""
    text = "\n".join(page.read_text() for page in PAGES)
    return [(name, dedent(block)) for _, name, block in SHELL_BLOCK.findall(text)]


class Machine:
    def __init__(self, folder: Path, user: str | None = None, **environment: str) -> None:
        """Create the machine. Commands run as `user`, if given."""
        self.user = user
        self.replacements = {
            "/srv/email-validation/current": str(ROOT),
            "/srv/email-validation": str(ROOT),
            "/etc/email-validation": str(folder / "etc"),
            "/var/backups/email-validation": str(folder / "backups"),
            ".venv/bin/python": sys.executable,
        }
        for name in ("etc", "backups", "bin"):
            (folder / name).mkdir(parents=True)
        self._programs = folder / "bin"
        self.write_program("manage", self._replace_paths((ROOT / "deploy/manage").read_text()))
        self.write_program("systemctl", "#!/bin/sh\n")
        self.write_program("runuser", '#!/bin/sh\nshift 3\nexec "$@"\n')
        lines = "".join(f"{name}={value}\n" for name, value in environment.items())
        (folder / "etc" / "production.env").write_text(lines)
        self.folder = folder

    @property
    def settings(self) -> str:
        return (self.folder / "etc" / "production.env").read_text()

    def run(self, name: str, **variables: str) -> str:
        (text,) = (text for block_name, text in blocks() if block_name == name)
        return self.execute(self._replace_paths(text), variables)

    def execute(self, script: str, variables: dict[str, str]) -> str:
        process = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            env={
                "PATH": f"{self._programs}:{prepend_postgres_programs(os.environ['PATH'])}",
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
        assert process.returncode == 0, f"{process.stdout}\n{process.stderr}"
        return process.stdout

    def commands(self, name: str, **variables: str) -> list[list[str]]:
        """Return the arguments of each `manage` call in the block, without running it."""
        self.write_program("manage", ECHO)
        return [json.loads(line) for line in self.run(name, **variables).splitlines()]

    def _replace_paths(self, text: str) -> str:
        for path, replacement in self.replacements.items():
            text = text.replace(path, replacement)
        return text

    def write_program(self, name: str, text: str) -> None:
        path = self._programs / name
        path.write_text(text)
        path.chmod(0o755)
