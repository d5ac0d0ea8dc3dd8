"""The handbook, docs/operations.md and its chapters, matches the code: all it refers to exists."""

import re
import subprocess
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class

from tests.operations import test_incidents, test_runbook, test_three_machines
from tests.servers import three_machines
from tests.servers.product import ROOT
from tests.servers.runbook import PAGES, blocks
from tests.support.headings import anchors

TEXT = "\n".join(page.read_text() for page in PAGES)
# They run the marked blocks.
RUNNERS = (test_incidents, test_runbook, test_three_machines, three_machines)
# Names that belong to a shell, systemd, SQL or the tests.
NOT_OURS = {
    *("FILE", "REPOSITORY", "RELEASE", "BACKUPS", "ARCHIVE", "PGDATA", "BASE", "MOMENT"),
    *("REQUEST_ID", "PID", "KEY", "ACCOUNT", "ENDPOINT", "STAFF", "MAILTO", "EMAIL", "NAME"),
    "TEXT",
    *("ADDRESS", "COMMAND", "PATH", "RELEASED", "SELECT", "ALTER", "DELETE", "NULL", "JSON"),
    *("CONCURRENTLY", "NETWORK", "PRIMARY", "PASSWORD", "RENAME"),
    # Variables of compose.yaml.
    *("IMAGE", "REQUIREMENTS", "BACKUP_DAYS", "COMPOSE_PROFILES"),
}
HERE_DOCUMENT = re.compile(r"(<<(\w+)[^\n]*)\n.*?\n\2$", re.DOTALL | re.MULTILINE)
# A setting has an underscore, or is alone in backticks, or precedes an equals sign.
SETTING = re.compile(r"(?<![\w$<])[A-Z]{2,}(?:_[A-Z]+)+(?!\w)|(?<=`)[A-Z]{4,}(?==|`)")


def test_every_documented_command_exists() -> None:
    commands = set(re.findall(r"\bmanage (?:--\S+ )?([a-z_]\w*)", TEXT))
    in_containers = set(re.findall(r"compose run (?:--\S+ )*api ([a-z_]+)", TEXT))
    assert len(commands) > 12
    assert len(in_containers) > 3
    assert commands | in_containers <= {*get_commands(), "is"}


def test_every_documented_option_exists() -> None:
    for command, option in re.findall(r"\bmanage ([a-z_]+)[^`\n]*?(--[a-z-]+)", TEXT):
        app = get_commands()[command]
        parser = load_command_class(str(app), command).create_parser("manage.py", command)
        assert option in parser.format_help(), f"{command} {option}"


def test_every_setting_is_in_the_configuration_reference() -> None:
    reference = (ROOT / "docs" / "configuration.md").read_text()
    for line in re.findall(r"`[^`\n]+`", TEXT):
        for name in (found.removesuffix("_FILE") for found in SETTING.findall(line)):
            assert f"`{name}`" in reference or name in NOT_OURS, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_has_a_target(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file), target


def test_every_page_is_linked_from_the_first() -> None:
    first, *chapters = PAGES
    for chapter in chapters:
        assert f"(operations/{chapter.name})" in first.read_text(), chapter.name


def test_every_block_is_valid_bash() -> None:
    for _, text in blocks():
        assert subprocess.run(["bash", "-n", "-c", text], check=False).returncode == 0, text


def test_every_marked_block_is_run_by_a_test() -> None:
    tests = "".join(Path(str(m.__file__)).read_text() for m in RUNNERS)
    names = [name for name, _ in blocks() if name]
    assert len(names) > 8
    assert [name for name in names if f'"{name}"' not in tests] == []


def test_procedure_stops_at_the_failing_step() -> None:
    """A failing step ends it, as `&&` joins the steps."""
    procedures = 0
    for _, block in blocks():
        text = HERE_DOCUMENT.sub(r"\1", block).replace("\\\n", "")
        lines = [re.sub(r"(^|\s+)#.*", "", line).strip() for line in text.splitlines()]
        *steps, _ = (line for line in lines if line)
        # Commands to choose from have no such step.
        if any(step.endswith("&&") for step in steps):
            procedures += 1
            # What follows a pipe fails without input.
            assert [step for step in steps if not step.endswith(("&&", "|"))] == []
    assert procedures >= 22
