"""docs/operations.md is held to the program: what it names is there."""

import re
import subprocess
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from tests.operations import test_incidents, test_runbook
from tests.servers.product import ROOT
from tests.servers.runbook import PAGE, blocks

TEXT = PAGE.read_text()
# What a shell, systemd, SQL and the tests know by these names.
NOT_OURS = {
    *("FILE", "REPOSITORY", "RELEASE", "BACKUPS", "ARCHIVE", "PGDATA", "BASE", "MOMENT"),
    *("REQUEST_ID", "PID", "KEY", "ACCOUNT", "STAFF", "MAILTO", "EMAIL", "NAME", "TEXT"),
    *("ADDRESS", "COMMAND", "PATH", "RELEASED", "SELECT", "ALTER", "DELETE", "NULL", "JSON"),
}
# A word of ours stands alone in its quotes, or has an underscore or an equals sign.
SETTING = re.compile(r"(?<![\w$<])[A-Z]+(?:_[A-Z]+)+(?!\w)|(?<=`)[A-Z]{4,}(?=[=`])")


def test_every_command_is_there() -> None:
    named = set(re.findall(r"\bmanage (?:--\S+ )?([a-z_]\w*)", TEXT))
    assert len(named) > 12
    assert named <= {*get_commands(), "is"}


def test_every_option_is_known_to_its_command() -> None:
    for command, option in re.findall(r"\bmanage ([a-z_]+)[^`\n]*?(--[a-z-]+)", TEXT):
        app = get_commands()[command]
        parser = load_command_class(str(app), command).create_parser("manage.py", command)
        assert option in parser.format_help(), f"{command} {option}"


def test_every_setting_is_explained() -> None:
    explained = (ROOT / "docs" / "configuration.md").read_text()
    for line in re.findall(r"`[^`\n]+`", TEXT):
        for name in re.findall(
            r"(?<![\w$<])[A-Z]{2,}(?:_[A-Z]+)+(?!\w)|(?<=`)[A-Z]{4,}(?==|`)", line
        ):
            assert f"`{name}`" in explained or name in NOT_OURS, name


def test_every_link_leads_somewhere() -> None:
    titles = re.findall(r"^#+ (.+)$", TEXT, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
    for target in re.findall(r"\]\(([^)]+)\)", TEXT):
        if target.startswith("#"):
            assert target[1:] in anchors, target
        elif "://" not in target:
            assert (PAGE.parent / target).is_file(), target


def test_every_block_is_a_script_that_bash_can_read() -> None:
    for _, text in blocks():
        assert subprocess.run(["bash", "-n", "-c", text], check=False).returncode == 0, text


def test_every_marked_block_is_run_by_a_test() -> None:
    run = "".join(Path(str(one.__file__)).read_text() for one in (test_incidents, test_runbook))
    named = [name for name, _ in blocks() if name]
    assert len(named) > 8
    assert [name for name in named if f'"{name}"' not in run] == []


@pytest.mark.parametrize(
    "name", ["Find or erase an address", "Send again what was given up", "Suspend"]
)
def test_what_staff_are_told_to_press_is_there(name: str) -> None:
    sources = [*ROOT.glob("*/admin.py"), *ROOT.glob("validation/staff*.py")]
    sources += [*ROOT.glob("templates/admin/**/*.html")]
    assert any(name in path.read_text() for path in sources)
