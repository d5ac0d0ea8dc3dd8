"""What two replies say together, and what a result says then."""

from datetime import date

import pytest

from engine import Finding, MailHost, MailRoute, smtp_document, with_mailbox
from engine.smtp.mailbox import (
    CONTROL_LENGTH,
    MailboxAnswer,
    control_name,
    decide,
    needs_control,
    needs_postmaster,
)
from engine.smtp.replies import ReplyClass
from engine.syntax.parsing import AddressParts, parse_address

A, G = ReplyClass.ACCEPTED, ReplyClass.GONE
FULL, DISABLED = ReplyClass.FULL, ReplyClass.DISABLED
NO_ANSWERS = [
    *(ReplyClass.REFUSED_US, ReplyClass.GREYLISTED, ReplyClass.TEMPORARY),
    *(ReplyClass.UNCLEAR, None),
]


@pytest.mark.parametrize(
    ("name", "control", "reason"),
    [
        (A, G, "mailbox_accepted"),
        (A, A, "accept_all"),
        *[(A, control, "domain_accepts_mail") for control in (*NO_ANSWERS, FULL, DISABLED)],
        (G, A, "mailbox_not_found"),
        *[(G, control, "server_refused_us") for control in NO_ANSWERS],
        (FULL, FULL, "server_temporary_error"),
        (DISABLED, DISABLED, "server_temporary_error"),
        *[(FULL, control, "mailbox_full") for control in (A, G, *NO_ANSWERS, DISABLED)],
        *[(DISABLED, control, "mailbox_disabled") for control in (A, G, *NO_ANSWERS, FULL)],
        (ReplyClass.GREYLISTED, None, "greylisted"),
        (ReplyClass.TEMPORARY, None, "server_temporary_error"),
        (ReplyClass.REFUSED_US, None, "server_refused_us"),
        (ReplyClass.UNCLEAR, None, "server_refused_us"),
    ],
)
def test_two_replies_decide(name: ReplyClass, control: ReplyClass | None, reason: str) -> None:
    assert decide(name, control).reason == reason


def test_host_that_refuses_both_names_is_believed_if_it_accepts_others() -> None:
    assert decide(G, G).reason == "server_refused_us"
    assert decide(G, G, accepted_recently=True).reason == "mailbox_not_found"
    assert decide(G, G, postmaster=A).reason == "mailbox_not_found"
    for postmaster in (G, *NO_ANSWERS):
        assert decide(G, G, postmaster=postmaster).reason == "server_refused_us"


def test_control_and_postmaster_are_asked_when_they_decide() -> None:
    assert [name for name in ReplyClass if needs_control(name)] == [A, G, DISABLED, FULL]
    assert needs_postmaster(G, G, accepted_recently=False)
    assert not needs_postmaster(G, G, accepted_recently=True)
    assert not needs_postmaster(G, A, accepted_recently=False)
    assert not needs_postmaster(A, G, accepted_recently=False)


def test_control_name_lasts_a_week_and_is_secret() -> None:
    monday = date(2026, 11, 23)
    name = control_name("shop.example", b"key", monday)
    assert len(name) == CONTROL_LENGTH
    assert name.isalpha()
    assert control_name("shop.example", b"key", date(2026, 11, 29)) == name
    others = {
        control_name("shop.example", b"key", date(2026, 11, 30)),
        control_name("store.example", b"key", monday),
        control_name("shop.example", b"other", monday),
    }
    assert len({name, *others}) == 4


ROUTE = MailRoute(
    domain_exists=True,
    accepts_mail=True,
    null_mx=False,
    hosts=(MailHost(10, "mx.shop.example"),),
    provider="other",
    has_ipv4=True,
)


def finding(*reasons: str) -> Finding:
    parts = parse_address("info@shop.example")
    assert isinstance(parts, AddressParts)
    checks = {"syntax": True, "disposable": False}
    return Finding("info@shop.example", reasons, "dns", parts=parts, checks=checks, route=ROUTE)


@pytest.mark.parametrize(
    ("before", "answer", "after", "evidence", "exists"),
    [
        ("domain_accepts_mail", "mailbox_accepted", ("mailbox_accepted",), "smtp", True),
        ("role_account", "mailbox_accepted", ("role_account",), "smtp", True),
        ("role_account", "accept_all", ("accept_all", "role_account"), "smtp", None),
        ("role_account", "mailbox_full", ("mailbox_full", "role_account"), "smtp", True),
        ("role_account", "mailbox_not_found", ("mailbox_not_found", "role_account"), "smtp", False),
        ("role_account", "domain_accepts_mail", ("role_account",), "dns", None),
        ("role_account", "greylisted", ("greylisted",), "smtp", None),
        ("role_account", "smtp_timeout", ("smtp_timeout",), "dns", None),
        ("null_mx", "mailbox_accepted", ("null_mx",), "dns", None),
        ("dns_timeout", "mailbox_not_found", ("dns_timeout",), "dns", None),
    ],
)
def test_answer_is_added_to_the_finding(
    before: str, answer: str, after: tuple[str, ...], evidence: str, exists: bool | None
) -> None:
    found = with_mailbox(finding(before), MailboxAnswer(answer), smtp_document("done"))
    assert (found.reasons, found.evidence) == (after, evidence)
    assert found.document()["checks"]["mailbox_exists"] is exists
    assert found.document()["smtp"]["state"] == "done"


def test_only_an_accepted_mailbox_is_safe_to_send() -> None:
    for answer, is_safe in {
        "mailbox_accepted": True,
        "domain_accepts_mail": None,
        "accept_all": False,
        "mailbox_not_found": False,
        "greylisted": None,
    }.items():
        found = with_mailbox(
            finding("domain_accepts_mail"), MailboxAnswer(answer), smtp_document("done")
        )
        assert found.safe_to_send is is_safe
