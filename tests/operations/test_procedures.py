"""The procedures of docs/operations.md stop at the step that fails, in a shell without `set -e`."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.runbook import blocks

# By what only their blocks hold.
PROCEDURES = [
    "apt-get install",
    "createuser --pwprompt",
    "manage check --deploy",
    "systemctl daemon-reload",
    "git fetch --tags",
    "createdb --owner=validation --encoding=UTF8 --template=template0 restored",
    'manage back_up "$BACKUPS"',
    'mkdir -p "$DATA_DIR/old"',
    "archive_command",
    "recovery_target_time",
    "password validation",
]
PROGRAMS = (
    *("apt-get", "cat", "cp", "curl", "editor", "git", "install", "make", "manage", "mkdir", "mv"),
    *("nginx", "pg_basebackup", "pg_ctl", "psql", "runuser", "sed", "systemctl", "touch"),
    "useradd",
)
# Notes each step, and fails at the one whose turn it is.
RECORDER = f"""#!{sys.executable}
import os, sys
with open(os.environ["LOG"], "a") as log:
    log.write(" ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]]).replace("\\n", " ") + "\\n")
print("f")
with open(os.environ["LOG"]) as log:
    sys.exit(len(log.readlines()) == int(os.environ["FAILS_AT"]))
"""


class Shell:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / "bin"
        self.programs.mkdir()
        for name in PROGRAMS:
            (self.programs / name).write_text(RECORDER)
            (self.programs / name).chmod(0o755)
        for name in ("ls", "head"):
            (self.programs / name).symlink_to(f"/usr/bin/{name}")
        for name in ("backups", "archive", "data"):
            (folder / name).mkdir()
        (folder / "backups" / "newest.backup").touch()

    def run(self, text: str, fails_at: int = 0) -> tuple[int, list[str]]:
        """Its status, and the steps it took."""
        log = self.folder / f"log-{fails_at}"
        for place in ("/srv/email-validation", "/var/backups/email-validation"):
            text = text.replace(place, str(self.folder / "backups"))
        given = {"BACKUPS": "backups", "DATA_DIR": "data", "ARCHIVE": "archive", "PGDATA": "data"}
        places = {name: str(self.folder / place) for name, place in given.items()}
        named = {"REPOSITORY": "r", "RELEASE": "v2", "BASE_URL": "b", "BASE": "b", "MOMENT": "m"}
        ended = subprocess.run(
            ["/bin/bash", "-c", text],
            env={
                **places,
                **named,
                "PATH": str(self.programs),
                "LOG": str(log),
                "FAILS_AT": str(fails_at),
            },
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )
        return ended.returncode, log.read_text().splitlines()


@pytest.mark.parametrize("words", PROCEDURES)
def test_a_step_that_fails_is_the_last(tmp_path: Path, words: str) -> None:
    (text,) = (text for _, text in blocks() if words in text)
    shell = Shell(tmp_path)
    status, steps = shell.run(text)
    assert status == 0, steps
    assert len(steps) > 1
    # The last of a block may be a loop that waits for what it asks.
    for number in range(1, len(steps)):
        failed_with, taken = shell.run(text, number)
        assert taken == steps[:number]
        assert failed_with != 0
