"""Whether a domain's mail hosts can be reached over IPv4."""

import pytest

from engine.check import Engine
from engine.dns.budget import LIST, VISITOR
from engine.dns.mail_route import dump_route, load_route
from engine.dns.mail_route_lookup import find_mail_route
from tests.engine.conftest import look_up
from tests.servers.dns import Behavior, FakeDns, servfail, silence

IPV4, IPV6 = "8.8.8.8", "2606:4700::1"


def reaches_over_ipv4(engine: Engine) -> object:
    return engine.check("jane@shop.com").document()["mx"]["ipv4"]


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ({"A": IPV4}, {}, True),
        ({"A": IPV4, "AAAA": IPV6}, {}, True),
        ({"AAAA": IPV6}, {"A": IPV4}, True),
        ({"AAAA": IPV6}, {"AAAA": IPV6}, False),
        ({"AAAA": IPV6}, {}, False),
        ({"A": "10.0.0.1", "AAAA": IPV6}, {}, False),
        ({"A": "10.0.0.1"}, {}, None),
        ({}, {}, None),
    ],
)
@pytest.mark.parametrize("is_patient", [False, True])
def test_one_public_ipv4_address_is_enough(
    patient_engine: Engine,
    fake_dns: FakeDns,
    one: dict[str, str],
    two: dict[str, str],
    expected: bool | None,
    is_patient: bool,
) -> None:
    fake_dns.add_records("shop.com", MX=["10 one.shop.com.", "20 two.shop.com."])
    for name, records in (("one.shop.com", one), ("two.shop.com", two)):
        fake_dns.add_records(name, **records)
    if is_patient:
        assert look_up(patient_engine, "shop.com").has_ipv4 is expected
    else:
        assert reaches_over_ipv4(patient_engine) is expected


@pytest.mark.parametrize(
    ("records", "expected"),
    [({"A": IPV4}, True), ({"AAAA": IPV6}, False), ({"A": "10.0.0.1", "AAAA": IPV6}, False)],
)
def test_domain_without_mx_is_reached_at_its_own_address(
    patient_engine: Engine, fake_dns: FakeDns, records: dict[str, str], expected: bool
) -> None:
    fake_dns.add_records("shop.com", **records)
    assert reaches_over_ipv4(patient_engine) is expected


@pytest.mark.parametrize("failure", [silence, servfail])
def test_failed_ipv4_query_leaves_it_unknown(
    patient_engine: Engine, fake_dns: FakeDns, failure: Behavior
) -> None:
    fake_dns.add_records("shop.com", MX="10 mx.shop.com.")
    fake_dns.add_records("mx.shop.com", AAAA=IPV6)
    fake_dns.set_behavior("mx.shop.com", "A", failure)
    finding = patient_engine.check("jane@shop.com")
    assert (finding.reason, finding.route.has_ipv4) == ("domain_accepts_mail", None)


def test_hosts_that_were_not_examined_leave_it_unknown(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    fake_dns.add_records("shop.com", MX=["10 one.shop.com.", "20 two.shop.com."])
    fake_dns.add_records("one.shop.com", AAAA=IPV6)
    fake_dns.add_records("two.shop.com", A=IPV4)
    find_owner = patient_engine.domain_data.find_owner
    lookup = ("shop.com", patient_engine.resolver, patient_engine.slots, find_owner)
    assert find_mail_route(*lookup, VISITOR).has_ipv4 is None
    assert find_mail_route(*lookup, LIST).has_ipv4 is True


def test_route_stored_by_another_release_can_be_read() -> None:
    older = '{"domain_exists":true,"accepts_mail":true,"null_mx":false,"provider":"mimecast"}'
    route = load_route(older)
    assert (route.has_ipv4, route.is_gateway) == (None, True)
    newer = '{"domain_exists":true,"invented_later":1}'
    assert dump_route(load_route(newer)) == '{"domain_exists":true}'
