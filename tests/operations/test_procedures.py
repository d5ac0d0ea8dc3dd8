"""The procedures of the handbook stop at a failing step, even without `set -e`."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.runbook import blocks

# Each procedure is identified by text that only its block contains.
PROCEDURES = [
    "docker build --tag email-validation .",
    "docker compose run --rm app check --deploy",
    "docker compose run --rm app create_account",
    "docker compose build --pull",
    "ALTER DATABASE validation RENAME",
    "docker push",
    "kubectl apply -f web.yaml -f worker.yaml -f lists.yaml -f ingress.yaml",
    "kubectl replace",
    "max_slot_wal_keep_size",
    'pg_basebackup --pgdata "$PGDATA" --checkpoint=fast --write-recovery-conf',
    "apt-get install",
    "createuser --pwprompt",
    "manage check --deploy",
    "systemctl daemon-reload",
    "manage collectstatic",
    "createdb --owner=validation --encoding=UTF8 --template=template0 restored",
    'manage back_up "$BACKUPS"',
    'mkdir -p "$DATA_DIR/old"',
    "archive_command",
    "recovery_target_time",
    "password validation",
]
PROGRAMS = (
    *("apt-get", "cat", "cp", "curl", "docker", "editor", "git", "install", "kubectl", "make"),
    *("manage", "mkdir", "mv", "nginx", "pg_basebackup", "pg_ctl", "psql", "python", "runuser"),
    *("sed", "systemctl", "touch", "useradd"),
)
# Records each step, and fails at step FAILS_AT.
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
        for name in ("backups", "archive", "data", "etc/email-validation"):
            (folder / name).mkdir(parents=True)
        (folder / "backups" / "newest.backup").touch()

    def run(self, text: str, fails_at: int = 0) -> tuple[int, list[str]]:
        """Run the text; return its exit status and the steps it ran."""
        log = self.folder / f"log-{fails_at}"
        text = text.replace(".venv/bin/python", "python").replace("/etc/", f"{self.folder}/etc/")
        for path in ("/srv/email-validation", "/var/backups/email-validation"):
            text = text.replace(path, str(self.folder / "backups"))
        folders = {"BACKUPS": "backups", "DATA_DIR": "data", "ARCHIVE": "archive", "PGDATA": "data"}
        paths = {name: str(self.folder / folder) for name, folder in folders.items()}
        values = {"REPOSITORY": "r", "RELEASE": "v2", "BASE_URL": "b", "BASE": "b", "MOMENT": "m"}
        process = subprocess.run(
            ["/bin/bash", "-c", text],
            env={
                **paths,
                **values,
                "PATH": str(self.programs),
                "LOG": str(log),
                "FAILS_AT": str(fails_at),
            },
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            timeout=60,
            check=False,
        )
        return process.returncode, log.read_text().splitlines()


@pytest.mark.parametrize("excerpt", PROCEDURES)
def test_procedure_stops_at_the_failing_step(tmp_path: Path, excerpt: str) -> None:
    (text,) = (text for _, text in blocks() if excerpt in text)
    shell = Shell(tmp_path)
    status, steps = shell.run(text)
    assert status == 0, steps
    assert len(steps) > 1
    # Skip the last step, which may be a loop that retries until it succeeds.
    for number in range(1, len(steps)):
        failed_status, steps_run = shell.run(text, number)
        assert steps_run == steps[:number]
        assert failed_status != 0
