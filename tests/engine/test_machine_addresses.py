"""Addresses that software makes are recognized, which changes no verdict."""

import pytest

from engine.check import Engine
from tests.servers.dns import FakeDns


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
