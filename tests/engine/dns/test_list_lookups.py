"""The lookups of a list run in threads, and none of them is lost or kept waiting."""

import threading
from collections.abc import Generator

from engine.check import Engine
from engine.dns.slots import MAX_LOOKUPS_PER_OWNER
from tests.servers.dns import FakeDns, silence


def test_names_of_one_owner_wait_for_each_other_and_are_all_known(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    names = [f"n{number}.shop.com" for number in range(3 * MAX_LOOKUPS_PER_OWNER)]
    for name in names:
        fake_dns.add_mail_domain(name)
    routes = dict(patient_engine.look_up([*names, *names], at_once=len(names)))
    assert all(route.accepts_mail for route in routes.values())
    assert routes.keys() == set(names)


def test_lookups_that_wait_for_the_same_probe_of_the_resolver_are_all_known(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    names = [f"gone{number}.com" for number in range(40)]
    routes = dict(patient_engine.look_up(names, at_once=40))
    assert {route.problem for route in routes.values()} == {"domain_not_found"}
    # One probe, not one for each.
    assert fake_dns.probes["gmail.com", "MX"] == 1


def test_slow_domain_does_not_delay_the_others(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("shop.com")
    fake_dns.set_behavior("slow.com", "MX", silence)
    routes = engine.look_up(["slow.com", "shop.com"], at_once=2)
    assert [domain for domain, _ in routes] == ["shop.com", "slow.com"]


def test_error_of_the_caller_ends_the_lookups(patient_engine: Engine, fake_dns: FakeDns) -> None:
    names = [f"shop{number}.com" for number in range(50)]
    routes = patient_engine.look_up(names, at_once=2)
    assert isinstance(routes, Generator)
    next(routes)
    routes.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("list")]
    assert sum(fake_dns.queries[name, "MX"] for name in names) < len(names)
