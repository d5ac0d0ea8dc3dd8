"""Which DMARC policy applies to a domain (RFC 9989)."""

import pytest

from engine.check import Engine
from engine.dns.dmarc import names_in_tree_walk
from tests.servers.dns import Behavior, FakeDns, servfail, silence

REJECT = "v=DMARC1; p=reject"


def find_policy(engine: Engine, domain: str) -> object:
    return engine.check(f"jane@{domain}").document()["domain_auth"]["dmarc"]


def add_records(fake_dns: FakeDns, records: dict[str, str]) -> None:
    for name, text in records.items():
        fake_dns.add_records(f"_dmarc.{name}", TXT=f'"{text}"')


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (REJECT, "reject"),
        ("v=DMARC1;p=QUARANTINE;rua=mailto:a@b.co", "quarantine"),
        ("V=DMARC1; P=reject", "reject"),
        ("v = DMARC1 ; p = reject", "reject"),
        ("v=dmarc1; p=reject", "none"),
        ("p=reject; v=DMARC1", "none"),
        ("v=DMARC1; p=whatever", "none"),
        ("v=DMARC1; rua=mailto:a@b.co", "none"),
        ("v=DMARC1; p=reject; sp=whatever", "none"),
        ("v=DMARC1; p=reject; np=whatever", "none"),
        ("v=DMARC1; p=reject; sp=none; np=none", "reject"),
        ("v=DMARC1; p=reject; pct=0", "reject"),
        ("v=DMARC1; p=reject; psd=y", "reject"),
        ("v=DMARC1; p=reject; t=y", "quarantine"),
        ("v=DMARC1; p=quarantine; T=Y", "none"),
        ("v=DMARC1; p=none; t=y", "none"),
        ("v=DMARC1; p=reject; t=n", "reject"),
    ],
)
def test_own_record_decides(
    patient_engine: Engine, fake_dns: FakeDns, record: str, expected: str
) -> None:
    fake_dns.add_mail_domain("shop.com")
    add_records(fake_dns, {"shop.com": record})
    assert find_policy(patient_engine, "shop.com") == expected


PSD = "v=DMARC1; p=none; sp=quarantine; np=reject; psd=y"


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ({}, "none"),
        ({"mail.shop.co.uk": "v=DMARC1; p=none", "shop.co.uk": REJECT}, "none"),
        ({"shop.co.uk": REJECT}, "reject"),
        ({"shop.co.uk": "v=DMARC1; p=reject; sp=none"}, "none"),
        ({"shop.co.uk": "v=DMARC1; p=none; sp=reject; t=y"}, "quarantine"),
        ({"shop.co.uk": "v=DMARC1; p=reject; np=none"}, "reject"),
        # Without psd, the name with the fewest labels is the organizational domain.
        ({"shop.co.uk": REJECT, "uk": "v=DMARC1; p=quarantine"}, "quarantine"),
        ({"shop.co.uk": "v=DMARC1; p=reject; psd=n", "uk": "v=DMARC1; p=quarantine"}, "reject"),
        # The organizational domain is the name below the public suffix.
        ({"shop.co.uk": REJECT, "co.uk": PSD}, "reject"),
        ({"co.uk": PSD}, "quarantine"),
        ({"uk": PSD}, "quarantine"),
        ({"shop.co.uk": REJECT, "uk": PSD}, "quarantine"),
        ({"co.uk": PSD, "uk": "v=DMARC1; p=reject; psd=n"}, "quarantine"),
    ],
)
def test_parents_decide_for_a_domain_without_a_record(
    patient_engine: Engine, fake_dns: FakeDns, records: dict[str, str], expected: str
) -> None:
    fake_dns.add_mail_domain("mail.shop.co.uk")
    add_records(fake_dns, records)
    assert find_policy(patient_engine, "mail.shop.co.uk") == expected


@pytest.mark.parametrize(
    ("record", "expected"),
    [(PSD, "reject"), ("v=DMARC1; p=reject; sp=quarantine", "quarantine"), (REJECT, "reject")],
)
def test_domain_without_mail_hosts_and_addresses_counts_as_nonexistent(
    patient_engine: Engine, fake_dns: FakeDns, record: str, expected: str
) -> None:
    fake_dns.add_records("empty.shop.com", TXT='"some text"')
    add_records(fake_dns, {"shop.com": record})
    finding = patient_engine.check("jane@empty.shop.com")
    assert (finding.reason, finding.route.dmarc) == ("no_mail_server", expected)


def test_several_records_are_discarded(patient_engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_mail_domain("mail.shop.com")
    fake_dns.add_records("_dmarc.mail.shop.com", TXT=[f'"{REJECT}"', '"v=DMARC1; p=none"'])
    assert find_policy(patient_engine, "mail.shop.com") == "none"
    fake_dns.add_mail_domain("news.shop.org")
    fake_dns.add_records("_dmarc.news.shop.org", TXT=[f'"{REJECT}"', '"v=DMARC1; p=none"'])
    add_records(fake_dns, {"shop.org": "v=DMARC1; p=quarantine"})
    assert find_policy(patient_engine, "news.shop.org") == "quarantine"


@pytest.mark.parametrize("failure", [silence, servfail])
def test_failed_query_for_a_parent_leaves_the_policy_unknown(
    patient_engine: Engine, fake_dns: FakeDns, failure: Behavior
) -> None:
    fake_dns.add_mail_domain("mail.shop.com")
    fake_dns.set_behavior("_dmarc.shop.com", "TXT", failure)
    finding = patient_engine.check("jane@mail.shop.com")
    assert (finding.reason, finding.route.dmarc) == ("domain_accepts_mail", None)


def test_failed_query_above_the_end_of_the_walk_does_not_matter(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    fake_dns.add_mail_domain("mail.shop.com")
    add_records(fake_dns, {"shop.com": "v=DMARC1; p=reject; psd=n"})
    fake_dns.set_behavior("_dmarc.com", "TXT", servfail)
    assert find_policy(patient_engine, "mail.shop.com") == "reject"


def test_domain_with_its_own_record_needs_no_tree_walk(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    fake_dns.add_mail_domain("mail.shop.com")
    add_records(fake_dns, {"mail.shop.com": REJECT})
    assert find_policy(patient_engine, "mail.shop.com") == "reject"
    assert [name for name, _ in fake_dns.queries if "_dmarc" in name] == ["_dmarc.mail.shop.com"]


def test_parents_are_queried_once_for_all_their_domains(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    for name in ("one.com", "two.com"):
        fake_dns.add_mail_domain(name)
        assert find_policy(patient_engine, name) == "none"
    assert fake_dns.queries["_dmarc.com", "TXT"] == 1


@pytest.mark.parametrize(
    ("domain", "names"),
    [
        ("shop.com", ["shop.com", "com"]),
        ("b.a.shop.com", ["b.a.shop.com", "a.shop.com", "shop.com", "com"]),
        ("a.b.c.d.e.f.g.com", ["a.b.c.d.e.f.g.com", "b.c.d.e.f.g.com", "c.d.e.f.g.com"]),
        ("x.y.z.a.b.c.d.e.f.g.com", ["x.y.z.a.b.c.d.e.f.g.com", "b.c.d.e.f.g.com"]),
    ],
)
def test_tree_walk_skips_to_seven_labels(domain: str, names: list[str]) -> None:
    walk = names_in_tree_walk(domain)
    assert walk[: len(names)] == names
    assert walk[-1] == "com"
    assert len(walk) <= 8


def test_deep_domain_with_many_hosts_stays_within_the_budget(
    patient_engine: Engine, fake_dns: FakeDns
) -> None:
    domain = ".".join("abcdefghijklmnop") + ".com"
    fake_dns.add_records(domain, MX=[f"{n} mx{n}.{domain}." for n in range(10)])
    fake_dns.add_records(f"mx9.{domain}", A="8.8.8.8")
    add_records(fake_dns, {"p.com": REJECT})
    finding = patient_engine.check(f"jane@{domain}")
    assert (finding.reason, finding.route.dmarc) == ("domain_accepts_mail", "reject")
    assert fake_dns.messages <= 60
