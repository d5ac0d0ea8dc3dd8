"""Addresses that software makes are recognized, which changes no verdict."""

import pytest

from engine.check import Engine
from engine.machine_addresses import is_machine_mailbox
from tests.engine.test_mailbox_words import NAMES
from tests.servers.dns import FakeDns


@pytest.mark.parametrize(
    "local_part",
    [
        *("bounces+1234567-ab12-jane=example.com", "bounces+x", "Bounces+SRS=aBc=X", "bounce+1.a"),
        *("bounce-mc.us1_2.345-6789", "bounces-77", "bounce-9_HTML-1-2-3"),
        *("news-return-12-jane=example.com", "list-bounces+jane=shop.co.uk", "owner-x=a.b"),
        *("prvs=1234abcdef=jane", "prvs=jane/1234abcdef", "msprvs1=19abc=bounces-1-2", "PRVS=1=a"),
        *("btv1==0123456789a==jane", "SRS0=HHH=TT=example.com=jane", "srs0+HHH=TT=a.com=jane"),
        *("SRS1=HHH=example.com==GGG=TT=example.org=jane", "SRS0-HHH=TT=example=jane"),
    ],
)
def test_format_of_software_is_recognized(local_part: str) -> None:
    assert is_machine_mailbox(local_part)


@pytest.mark.parametrize(
    "local_part",
    [
        *("jane", "bounce", "bounces", "bounce-house", "bouncer+news", "reply+jane", "b", "prvs"),
        *("a=b", "jane=doe", "=", "srs0", "bounces-", "bounce.1", "x=.", "1+1=2", "b+1"),
    ],
)
def test_mailbox_of_a_person_or_role_is_no_format_of_software(local_part: str) -> None:
    assert not is_machine_mailbox(local_part)


def test_no_personal_name_is_a_machine_address() -> None:
    assert not any(is_machine_mailbox(f"{name}+news") for name in NAMES)


@pytest.mark.parametrize(
    ("email", "is_machine"),
    [
        ("reply+AB12@reply.github.com", True),
        ("12345+jane@users.noreply.github.com", True),
        ("jane@users.noreply.gitlab.com", True),
        ("bounces+12-jane=example.com@shop.com", True),
        ("reply+AB12@shop.com", False),
        ("jane@github.com", False),
        ("jane@any.users.noreply.github.com", False),
        ("no address", None),
    ],
)
def test_machine_address_is_a_fact_of_mailbox_or_domain(
    engine: Engine, email: str, is_machine: bool | None
) -> None:
    assert engine.check_offline(email).document()["checks"]["machine_address"] is is_machine


def test_machine_address_changes_neither_verdict_nor_score(
    engine: Engine, fake_dns: FakeDns
) -> None:
    fake_dns.add_mail_domain("shop.com")
    person, machine = (
        engine.check(f"{name}@shop.com").document() for name in ("jane+1", "bounces+1")
    )
    different = {name for name in person if person[name] != machine[name]}
    assert different == {"email", "normalized", "canonical", "local_part", "checks"}
    assert machine["checks"] == {**person["checks"], "machine_address": True}
