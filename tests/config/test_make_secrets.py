"""`manage.py make_secrets` prints an environment file, which the operator fills in."""

import re
from pathlib import Path

import pytest

from config.settings.production_checks import SECRETS, SELLER
from tests.operations.test_deploy_files import check
from tests.servers.product import ROOT
from tests.servers.programs import run_program

pytestmark = pytest.mark.process

# `NAME=value`, also in a comment.
ASSIGNMENT = re.compile(r"^(#?)([A-Z_]+)=(.*)$", re.MULTILINE)
REQUIRED_OF_THE_OPERATOR = ["ALLOWED_HOSTS", "BASE_URL", "EMAIL_URL", *SELLER]


def make_secrets(**environment: str) -> str:
    process = run_program("manage.py", "make_secrets", **environment)
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout


def values(text: str) -> dict[str, str]:
    return {name: value for comment, name, value in ASSIGNMENT.findall(text) if not comment}


@pytest.fixture(scope="module")
def printed() -> str:
    return make_secrets()


def test_printed_file_lets_no_instance_start_before_the_operator_fills_it_in(
    printed: str, tmp_path: Path
) -> None:
    process = check(printed, tmp_path)
    assert process.returncode == 1
    missing = re.findall(r"^  - (\w+)", process.stderr, re.M)
    assert sorted(missing) == sorted(REQUIRED_OF_THE_OPERATOR)


def test_two_runs_print_different_secrets_and_nothing_else_differs(printed: str) -> None:
    first, second = values(printed), values(make_secrets())
    generated = {name for name in first if first[name] != second[name]}
    assert generated == {*SECRETS, "DATABASE_PASSWORD"}
    assert first.keys() == second.keys()
    secrets = [values[name] for values in (first, second) for name in generated]
    assert len(set(secrets)) == 8
    # Needs no quotes in a shell, a URL, or an environment file.
    assert all(re.fullmatch(r"[\w-]{64}", secret) for secret in secrets)


def test_secrets_are_made_before_any_setting_exists_and_nothing_is_written(tmp_path: Path) -> None:
    data = tmp_path / "data"
    text = make_secrets(ENVIRONMENT="production", DATA_DIR=str(data), DATABASE_URL="nonsense")
    assert "SECRET_KEY" in values(text)
    assert not data.exists()


def test_printed_file_is_the_example_with_secrets(printed: str) -> None:
    example = (ROOT / "deploy" / "production.env.example").read_text()
    without_values = re.compile(r"^#?([A-Z_]+=).*$", re.MULTILINE)
    assert without_values.sub(r"\1", printed) == without_values.sub(r"\1", example)
