"""The steps of the handbook's procedures are joined by `&&`, so that a failing step ends them."""

import re

import pytest

from tests.servers.runbook import blocks

pytestmark = pytest.mark.anywhere

# Each procedure is identified by text that only its block contains.
PROCEDURES = [
    "docker build --tag email-validation .",
    "docker compose run --rm api check --deploy",
    "docker compose run --rm api create_account",
    "docker compose build --pull",
    "ALTER DATABASE validation RENAME",
    "docker push",
    "-f webhooks.yaml -f ingress.yaml",
    "kubectl replace",
    "max_slot_wal_keep_size",
    'pg_basebackup --pgdata "$PGDATA" --checkpoint=fast --write-recovery-conf',
    "apt-get install",
    "createuser --pwprompt",
    "manage check --deploy",
    "systemctl enable --now email-validation.target",
    "cp -R /srv/email-validation/deploy/systemd",
    "manage collectstatic",
    "createdb --owner=validation --encoding=UTF8 --template=template0 restored",
    'manage back_up "$BACKUPS"',
    'mkdir -p "$DATA_DIR/old"',
    "archive_command",
    "recovery_target_time",
    "password validation",
]
HERE_DOCUMENT = re.compile(r"(<<(\w+)[^\n]*)\n.*?\n\2$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("excerpt", PROCEDURES)
def test_procedure_stops_at_the_failing_step(excerpt: str) -> None:
    (text,) = (text for _, text in blocks() if excerpt in text)
    text = HERE_DOCUMENT.sub(r"\1", text).replace("\\\n", "")
    lines = [re.sub(r"(^|\s+)#.*", "", line).strip() for line in text.splitlines()]
    steps = [line for line in lines if line]
    assert len(steps) > 1
    assert [step for step in steps[:-1] if not step.endswith("&&")] == []
