"""docs/operations.md matches the code: everything it refers to exists."""

import re
import subprocess
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from tests.operations import test_incidents, test_runbook
from tests.servers.product import ROOT
from tests.servers.runbook import PAGE, blocks

TEXT = PAGE.read_text()
# Names that belong to a shell, systemd, SQL or the tests.
NOT_OURS = {
    *("FILE", "REPOSITORY", "RELEASE", "BACKUPS", "ARCHIVE", "PGDATA", "BASE", "MOMENT"),
    *("REQUEST_ID", "PID", "KEY", "ACCOUNT", "STAFF", "MAILTO", "EMAIL", "NAME", "TEXT"),
    *("ADDRESS", "COMMAND", "PATH", "RELEASED", "SELECT", "ALTER", "DELETE", "NULL", "JSON"),
    "CONCURRENTLY",
}
# A setting has an underscore, or is alone in backticks, or precedes an equals sign.
SETTING = re.compile(r"(?<![\w$<])[A-Z]{2,}(?:_[A-Z]+)+(?!\w)|(?<=`)[A-Z]{4,}(?==|`)")


def test_every_documented_command_exists() -> None:
    commands = set(re.findall(r"\bmanage (?:--\S+ )?([a-z_]\w*)", TEXT))
    assert len(commands) > 12
    assert commands <= {*get_commands(), "is"}


def test_every_documented_option_exists() -> None:
    for command, option in re.findall(r"\bmanage ([a-z_]+)[^`\n]*?(--[a-z-]+)", TEXT):
        app = get_commands()[command]
        parser = load_command_class(str(app), command).create_parser("manage.py", command)
        assert option in parser.format_help(), f"{command} {option}"


def test_every_setting_is_in_the_configuration_reference() -> None:
    reference = (ROOT / "docs" / "configuration.md").read_text()
    for line in re.findall(r"`[^`\n]+`", TEXT):
        for name in SETTING.findall(line):
            assert f"`{name}`" in reference or name in NOT_OURS, name


def test_every_link_has_a_target() -> None:
    titles = re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
    for target in re.findall(r"\]\(([^)]+)\)", TEXT):
        if target.startswith("#"):
            assert target[1:] in anchors, target
        elif "://" not in target:
            assert (PAGE.parent / target.partition("#")[0]).is_file(), target


def test_every_block_is_valid_bash() -> None:
    for _, text in blocks():
        assert subprocess.run(["bash", "-n", "-c", text], check=False).returncode == 0, text


def test_every_marked_block_is_run_by_a_test() -> None:
    tests = "".join(Path(str(m.__file__)).read_text() for m in (test_incidents, test_runbook))
    names = [name for name, _ in blocks() if name]
    assert len(names) > 8
    assert [name for name in names if f'"{name}"' not in tests] == []


@pytest.mark.parametrize(
    "name", ["Find or erase an address", "Resend emails that were given up", "Suspend"]
)
def test_every_documented_staff_button_exists(name: str) -> None:
    sources = [*ROOT.glob("*/admin.py"), *ROOT.glob("*/staff/*.py")]
    sources += [*ROOT.glob("templates/admin/**/*.html")]
    assert any(name in path.read_text() for path in sources)
