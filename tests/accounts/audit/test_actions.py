"""The table of labels has exactly one entry for each action that is recorded."""

import re
from pathlib import Path

from accounts.audit.actions import LABELS
from accounts.audit.models import AuditEntry
from accounts.audit.queries import HEADER
from accounts.events.types import types_by_name
from tests.site.actions import customers, sign_in, staff

ROOT = Path(__file__).resolve().parents[3]
# Skipped: `credits.…` is also a module or a permission. tests/site/test_every_action.py covers it.
SUBJECTS = {code.partition(".")[0] for code in LABELS} - {"credits"}
ACTION_CODE = re.compile(rf"[\"']((?:{'|'.join(SUBJECTS)})\.[a-z_]+)[\"']")
NAMES_OF_FILES = {"domains.json"}
# Not performed by a form: events of the payment service, automatic top-up, views by staff, sign-ins
# at other providers, and what only the API does.
WITHOUT_FORM = {
    *("order.paid_twice", "order.odd_payment", "order.payment_failed", "card.saved"),
    *("top_up.paused", "account.looked_at_by_staff", "user.provider_connected"),
}


def test_every_recorded_action_has_a_label() -> None:
    apps = ("accounts", "apikeys", "credits", "validation", "lists", "reference", "config")
    files = [file for app in apps for file in (ROOT / app).rglob("*.py")]
    codes = {code for file in files for code in ACTION_CODE.findall(file.read_text())}
    codes -= NAMES_OF_FILES
    assert len(codes) > 40
    # Types of events have names of the same form, some of them the same.
    assert codes - LABELS.keys() - types_by_name().keys() == set()


def test_every_labeled_action_is_performed_by_a_test() -> None:
    performed = {case.action for case in [*customers.CASES, *sign_in.CASES, *staff.CASES]}
    assert LABELS.keys() - performed == WITHOUT_FORM
    assert not WITHOUT_FORM & performed


def test_unknown_action_is_shown_by_its_code() -> None:
    assert AuditEntry(action="order.sent_by_pigeon").action_label == "order.sent_by_pigeon"
    assert HEADER[-1] == "action"
