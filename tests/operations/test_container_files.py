"""The Dockerfile and the image's entry point: valid, and with the roles that are documented."""

import os
import re
import runpy
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatch
from pathlib import Path

import pytest
from django.core.management import get_commands

from config.server import supervisor
from config.server.pools import POOLS
from tests.servers.product import PACKAGES, ROOT
from tests.site.test_repository import tracked_files

DOCKERFILE = (ROOT / "Dockerfile").read_text()
BACKUPS = "/var/backups/email-validation"
ENTRY_POINT = ROOT / "deploy" / "container" / "entrypoint"
HEALTH_CHECK = runpy.run_path(str(ROOT / "deploy" / "container" / "healthcheck.py"))


def find_problems(name: str, *arguments: object) -> str:
    """Return what the tool prints about its files, or nothing if it accepts them."""
    command = [str(Path(sys.executable).with_name(name)), *map(str, arguments)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode == 0:
        return ""
    return process.stdout + process.stderr or f"{name} ended with {process.returncode}."


def instructions(name: str) -> list[str]:
    """Return what follows the instruction in the last stage, with continued lines joined."""
    last_stage = DOCKERFILE.replace("\\\n", "").rpartition("\nFROM ")[2]
    return re.findall(rf"^{name} (.+)$", last_stage, re.M)


def test_dockerfile_passes_the_linter() -> None:
    assert not find_problems("hadolint", "Dockerfile")


def test_entry_point_is_executable() -> None:
    assert ENTRY_POINT.stat().st_mode & 0o111 == 0o111


@pytest.mark.parametrize(
    ("arguments", "started"),
    [
        ([], "-m config.server.supervisor"),
        (["serve"], "-m config.server.supervisor"),
        (["api"], " ".join(supervisor.WEB_SERVER[1:])),
        (["bulk"], " ".join(supervisor.WEB_SERVER[1:])),
        (["pages"], " ".join(supervisor.WEB_SERVER[1:])),
        (["worker"], " ".join(supervisor.BACKGROUND_WORKER[1:])),
        (["lists"], " ".join(supervisor.LIST_WORKER[1:])),
        (["webhooks"], "manage.py run_webhooks"),
        (["probes"], "manage.py run_probes"),
        (["migrate", "--new-database"], "manage.py migrate --new-database"),
        (
            ["create_key", "a@b.example", "--name", "My key"],
            "manage.py create_key a@b.example --name My key",
        ),
    ],
)
def test_each_role_starts_its_process(tmp_path: Path, arguments: list[str], started: str) -> None:
    lines = run_entry_point(tmp_path, *arguments)
    assert lines[-1] == started
    # Only web servers migrate, and `serve` starts everything.
    is_web = arguments and arguments[0] in POOLS
    assert lines[:-1] == (["-m config.server.prepare"] if is_web else [])


@pytest.mark.parametrize("role", [*POOLS, "lists", "webhooks", "probes"])
def test_containers_without_the_background_worker_serve_their_metrics(
    tmp_path: Path, role: str
) -> None:
    lines = run_entry_point(tmp_path, role, METRICS_PORT="0.0.0.0:9100")
    assert "manage.py serve_metrics" in lines
    assert "manage.py serve_metrics" not in run_entry_point(tmp_path, role)


def run_entry_point(
    folder: Path, *arguments: str, program: str = 'echo "$*"', **environment: str
) -> list[str]:
    """Run the entry point with a python that is a shell script, by default one that echoes."""
    write_program(folder, "python", program)
    text = ENTRY_POINT.read_text().replace("/srv/email-validation", str(ROOT))
    process = subprocess.run(
        ["sh", "-c", text.replace(BACKUPS, str(folder)), "entrypoint", *arguments],
        env={"PATH": f"{folder}:/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return process.stdout.splitlines()


def write_program(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("hour", "hours_ago", "is_due"),
    [
        ("03", None, True),
        ("00", None, True),
        # Last night's, then tonight's.
        ("01", 22, False),
        ("02", 23, True),
        ("03", 1, False),
        # After a night without power.
        ("01", 27, True),
    ],
)
def test_backup_is_written_each_night_and_after_a_missed_one(
    tmp_path: Path, hour: str, hours_ago: int | None, is_due: bool
) -> None:
    now = datetime.now(UTC).replace(hour=int(hour), minute=30)
    if hours_ago is not None:
        add_backup(tmp_path, now - timedelta(hours=hours_ago), hours_ago)
    write_program(tmp_path, "date", f'[ "$2" = +%H ] && echo {hour} || echo {now:%Y%m%d}')
    # Ends the loop.
    write_program(tmp_path, "sleep", "echo waits; kill $PPID; exec /bin/sleep 1 >/dev/null 2>&1")
    with pytest.raises(subprocess.CalledProcessError) as ended:
        run_entry_point(tmp_path, "backups")
    written = [f"manage.py back_up {tmp_path}", "manage.py check_books"] if is_due else []
    assert ended.value.stdout.splitlines() == [*written, "waits"]


@pytest.mark.parametrize(("program", "kept"), [("exit 0", {10}), ("exit 1", {10, 31, 40})])
def test_old_backups_are_deleted_after_a_new_one(
    tmp_path: Path, program: str, kept: set[int]
) -> None:
    for days in (10, 31, 40):
        add_backup(tmp_path, datetime.now(UTC) - timedelta(days=days), days * 24 + 1)
    write_program(tmp_path, "sleep", "kill $PPID; exec /bin/sleep 1 >/dev/null 2>&1")
    with pytest.raises(subprocess.CalledProcessError):
        run_entry_point(tmp_path, "backups", program=program)
    left = {int(path.stem.rpartition("-")[2]) // 24 for path in tmp_path.glob("*.backup")}
    assert left == kept


def add_backup(folder: Path, moment: datetime, hours_ago: int) -> None:
    """Write an empty backup of that age, whose name has the date of the moment."""
    path = folder / f"email-validation-{moment:%Y%m%d}T021500Z-{hours_ago}.backup"
    path.touch()
    seconds = time.time() - hours_ago * 3600
    os.utime(path, (seconds, seconds))


@pytest.mark.parametrize(
    ("variables", "printed"),
    [
        ({}, "--bind 0.0.0.0:8000 0077"),
        ({"PORT": "9000"}, "--bind 0.0.0.0:9000 0077"),
        ({"GUNICORN_CMD_ARGS": "--bind [::]:80"}, "--bind [::]:80 0077"),
    ],
)
def test_entry_point_listens_on_every_address_of_the_container(
    tmp_path: Path, variables: dict[str, str], printed: str
) -> None:
    program = 'echo "$GUNICORN_CMD_ARGS" "$(umask)"'
    assert run_entry_point(tmp_path, program=program, **variables) == [printed]


def test_documented_roles_are_those_of_the_entry_point() -> None:
    text = ENTRY_POINT.read_text()
    documented = re.findall(r"^#   ([a-z]+) ", text, re.M)
    cases = re.findall(r"^([a-z |]+)\)$", text, re.M)
    assert documented == " | ".join(cases).split(" | ")
    assert documented == ["serve", *POOLS, "worker", "lists", "webhooks", "probes", "backups"]
    # A role must not hide a command.
    assert not set(documented) & set(get_commands())


def test_image_runs_as_a_user_without_a_name_in_the_file() -> None:
    assert instructions("USER") == ["10001:10001"]
    assert instructions("VOLUME") == ["/data"]
    assert instructions("CMD")[-1] == '["serve"]'
    assert HEALTH_CHECK["ENTRY_POINT"] in instructions("ENTRYPOINT")[0]
    assert instructions("STOPSIGNAL") == ["SIGTERM"]


def is_in_image(name: str) -> bool:
    """Return whether .dockerignore lets the file into the build. The last match decides."""
    allowed = True
    for pattern in (ROOT / ".dockerignore").read_text().splitlines():
        if not pattern or pattern.startswith("#"):
            continue
        path = pattern.lstrip("!").removeprefix("**/")
        if pattern.startswith("**/"):
            matches = fnmatch(Path(name).name, path) or f"/{path}/" in f"/{name}"
        else:
            matches = fnmatch(name, path) or name.startswith(f"{path}/")
        if matches:
            allowed = pattern.startswith("!")
    return allowed


def test_build_gets_the_product_and_nothing_else() -> None:
    sent = {name for name in tracked_files() if is_in_image(name)}
    folders = {name.split("/")[0] for name in sent if "/" in name}
    assert folders == {*PACKAGES, "deploy", "static", "templates"}
    assert {name for name in sent if "/" not in name} == {
        *("manage.py", "pyproject.toml", "requirements.lock"),
        # The page of the changelog is made from it.
        "CHANGELOG.md",
    }
    assert {name for name in sent if name.startswith("deploy/")} == {
        *("deploy/container/entrypoint", "deploy/container/healthcheck.py"),
        # What make_secrets prints.
        "deploy/production.env.example",
        "deploy/requirements-extras.lock",
    }
    for name in (".env", "production.env", ".git/config", "var/db.sqlite3", "secrets/SECRET_KEY"):
        assert not is_in_image(name)
