"""Mailboxes that their providers' published rules exclude."""

import pytest

from engine import Engine, MailHost, MailRoute
from engine.domain_data import read_data_file
from tests.engine.test_domain_data import DATA

ROUTE = MailRoute(
    domain_exists=True,
    accepts_mail=True,
    null_mx=False,
    hosts=(MailHost(5, "gmail-smtp-in.l.google.com"),),
    provider="google",
    has_ipv4=True,
)
ENGINE = Engine()


def reasons(email: str, route: MailRoute = ROUTE) -> tuple[str, ...]:
    domain = email.rpartition("@")[2].lower()
    return ENGINE.check_offline(email, {domain: ENGINE.describe(domain, route)}).reasons


@pytest.mark.parametrize(
    "email",
    [
        *("jane_doe@gmail.com", "jane-doe@gmail.com", "jane'doe@gmail.com", "j&doe123@gmail.com"),
        *("jane=doe@googlemail.com", "jane_doe+news@gmail.com", "JANE_DOE@GMAIL.COM"),
        *("jürgen.doe@gmail.com", f"{'a' * 31}@gmail.com", f"{'a.' * 30}ab@gmail.com"),
        *("jane&doe@outlook.com", "jane'doe@hotmail.fr", "jane!doe@live.com"),
        *("jane/doe@yahoo.com", "jane$doe@yahoo.co.uk", "jane*doe@aol.com"),
        *(f"{'a' * 33}@aol.com", "jane#doe@icloud.com", "jane=doe@163.com"),
        *("jane~doe@qq.com", "jane%doe@sina.com", "jane&doe@ok.de", f"{'a' * 51}@ok.de"),
    ],
)
def test_impossible_mailbox_is_undeliverable(email: str) -> None:
    finding_reasons = reasons(email)
    assert finding_reasons[0] == "impossible_mailbox"
    assert ENGINE.check_offline(email).reasons == ("check_failed",)


@pytest.mark.parametrize(
    "email",
    [
        *("j@gmail.com", "janed@gmail.com", "j.a.n.e.d@gmail.com", "jane+newsletter@gmail.com"),
        *("jan@yahoo.com", "ja@aol.com", "ja@icloud.com", "janed@126.com", "ja@foxmail.com"),
        *("jan@sina.cn", "jane@ok.de"),
    ],
)
def test_short_mailbox_is_unlikely(email: str) -> None:
    assert reasons(email) == ("unlikely_mailbox",)


@pytest.mark.parametrize(
    "email",
    [
        *("jane.doe@gmail.com", "janedo@gmail.com", "j.a.n.e.d.o@gmail.com", "123456@gmail.com"),
        *("jane.doe+a_b-c@gmail.com", f"{'a' * 30}@gmail.com", f"{'a.' * 29}a@gmail.com"),
        *("j@outlook.com", "jane_doe-1@hotmail.com", f"{'a' * 64}@live.com", "1@hotmail.com"),
        *("jane_doe@yahoo.com", "jane-keyword_word@yahoo.com", "Jane.Doe@aol.com"),
        *("jane_doe.0x@icloud.com", "words-words-1a@icloud.com", "13800138000@163.com"),
        *("10001@qq.com", "jane_doe@sina.com", "jane_doe@ok.de"),
        # Other domains at the same provider have their own rules.
        *("jane_doe@shop.com", "j@shop.com", "jane'doe@shop.com"),
    ],
)
def test_possible_mailbox_has_no_reason(email: str) -> None:
    assert reasons(email) == ("domain_accepts_mail",)


def test_rules_come_after_what_the_dns_knows() -> None:
    no_mail = MailRoute(domain_exists=True, accepts_mail=False, null_mx=True, problem="null_mx")
    assert reasons("jane_doe@gmail.com", no_mail) == ("null_mx", "impossible_mailbox")
    unknown = MailRoute(problem="dns_timeout")
    assert reasons("jane_doe@gmail.com", unknown) == ("dns_timeout",)


def test_risks_of_a_short_mailbox_are_ordered() -> None:
    assert reasons("info@gmail.com") == ("unlikely_mailbox", "role_account")
    assert reasons("info_1@gmail.com")[0] == "impossible_mailbox"


def test_rules_are_for_free_providers_and_at_least_nine() -> None:
    entries = read_data_file("mailbox_rules").entries
    assert len(entries) >= 9
    domains = [domain for entry in entries for domain in entry.split()[3:]]
    assert len(domains) == len(set(domains))
    assert set(domains) - DATA.free_providers <= {"ok.de", "yeah.net"}
