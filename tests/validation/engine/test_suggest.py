"""What is suggested to somebody who mistyped, and to whom nothing is."""

import pytest

from tests.servers.dns import World
from validation.engine.check import Engine
from validation.engine.domain_data import DomainData
from validation.engine.suggest import meant_domain
from validation.engine.typos import Slip, are_neighbours, distance_between, slip_between

pytestmark = pytest.mark.anywhere

LISTS = DomainData()
# Domains without mail, and what was meant.
NOT_WORKING = {
    "gmial.com": "gmail.com",
    "gmai.com": "gmail.com",
    "gmal.com": "gmail.com",
    "gamil.com": "gmail.com",
    "gnail.com": "gmail.com",
    "gmaill.com": "gmail.com",
    "gmail.con": "gmail.com",
    "gmail.cmo": "gmail.com",
    "gmail.co": "gmail.com",
    "gmail.om": "gmail.com",
    "gmail.comm": "gmail.com",
    "gmailc.om": "gmail.com",
    "gmail.net": "gmail.com",
    "gmial.con": "gmail.com",
    "hmail.com": "gmail.com",
    "www.gmail.com": "gmail.com",
    "gmailcom.com": "gmail.com",
    "hotmial.com": "hotmail.com",
    "hotmal.com": "hotmail.com",
    "hotnail.com": "hotmail.com",
    "homtail.com": "hotmail.com",
    "hotmmial.com": "hotmail.com",
    "hotmail.co.ul": "hotmail.co.uk",
    "hotmail.vom": "hotmail.com",
    "yaho.com": "yahoo.com",
    "yahooo.com": "yahoo.com",
    "yhaoo.com": "yahoo.com",
    "yahoo.co.ukk": "yahoo.co.uk",
    "yahoo.cm": "yahoo.com",
    "outlok.com": "outlook.com",
    "outllok.com": "outlook.com",
    "outlook.cok": "outlook.com",
    "iclould.com": "icloud.com",
    "icoud.com": "icloud.com",
    "aol.con": "aol.com",
    "gmail.cooom": "gmail.com",
    "comcast.nry": "comcast.net",
    "homail.con": "hotmail.com",
    "yajoo.com": "yahoo.com",
    "con-artists.con": "con-artists.com",
    "live.con": "live.com",
    "comcast.ent": "comcast.net",
    "verison.net": "verizon.net",
    "gmx.dee": "gmx.de",
    "web.dee": "web.de",
    "company.con": "company.com",
    "company.ocm": "company.com",
    "company.ogr": "company.org",
    "company.nte": "company.net",
    "company.co.ku": "company.co.uk",
    "shop.xom": "shop.com",
}
# These work, and are mistyped all the same.
WORKING = {
    "gmial.com": "gmail.com",
    "gmai.com": "gmail.com",
    "gmail.co": "gmail.com",
    "gmail.cm": "gmail.com",
    "gnail.com": "gmail.com",
    "hotmial.com": "hotmail.com",
    "hotmai.com": "hotmail.com",
    "yaho.com": "yahoo.com",
    "yahooo.com": "yahoo.com",
    "outlok.com": "outlook.com",
    "icloud.co": "icloud.com",
}
HONEST = (
    *("gmail.com", "googlemail.com", "hotmail.de", "hotmail.se", "outlook.jp", "yahoo.ie"),
    *(
        "y7mail.com",
        "ymail.com",
        "mail.com",
        "email.com",
        "gmx.ch",
        "gmx.co.uk",
        "aol.de",
        "me.com",
    ),
    *("mailw.com", "cloud.com", "live.dk", "proton.me", "pm.me", "hey.com", "fastmail.com"),
    *("company.co", "shop.cm", "startup.io", "office.gov.in", "school.ac.uk", "acme.com", "t.co"),
    *("emails.com", "gmails.com", "mymail.com", "hmail.com", "tmail.com", "hotmailbox.org"),
    *("yahoo-inc.com", "outlooks.org", "lookout.com", "inbox.com", "mailbox.org", "mail.ru"),
    *("gail.com", "protomail.com", "outlook.co", "example.com"),
    *("duck.com", "mozmail.com", "anonaddy.me", "aim.com", "att.com", "sky.de", "free.com"),
)


@pytest.mark.parametrize(("domain", "meant"), NOT_WORKING.items())
def test_a_domain_without_mail_is_corrected(domain: str, meant: str) -> None:
    assert meant_domain(domain, LISTS, works=False) == meant


@pytest.mark.parametrize(("domain", "meant"), WORKING.items())
def test_a_typo_of_a_famous_provider_is_corrected_though_it_works(domain: str, meant: str) -> None:
    assert meant_domain(domain, LISTS, works=True) == meant
    assert meant_domain(domain, LISTS, works=None) == meant


@pytest.mark.parametrize("domain", HONEST)
def test_an_honest_domain_that_works_is_left_alone(domain: str) -> None:
    assert meant_domain(domain, LISTS, works=True) is None
    assert meant_domain(domain, LISTS, works=None) is None


def test_a_well_known_domain_is_never_corrected() -> None:
    for domain in LISTS.free_providers | LISTS.relays:
        assert meant_domain(domain, LISTS, works=False) is None, domain


@pytest.mark.parametrize(
    "domain",
    ["quarterly-report.com", "acme.co", "qz.com", "zebra.org", "my-shop.de", "example.con"],
)
def test_what_nobody_can_know_is_not_guessed(domain: str) -> None:
    assert meant_domain(domain, LISTS, works=False) is None


def test_a_provider_of_its_own_hosts_is_no_typo(engine: Engine, world: World) -> None:
    """Another domain of theirs that no list knows yet."""
    world.takes_mail("hotmaill.com", "hotmaill-com.olc.protection.outlook.com")
    assert engine.check("jane@hotmaill.com").did_you_mean is None


def test_a_typo_that_works_is_risky_with_a_whole_address_suggested(
    engine: Engine, world: World
) -> None:
    world.takes_mail("gmial.com")
    finding = engine.check("Jane.Doe+news@GMIAL.com")
    assert (finding.verdict, finding.reasons) == ("risky", ("possible_typo",))
    assert finding.did_you_mean == "Jane.Doe+news@gmail.com"
    assert finding.accept_for_signup


def test_a_typo_that_does_not_exist_is_suggested_beside_the_verdict(engine: Engine) -> None:
    finding = engine.check("jane@gmail.con")
    assert finding.reasons == ("domain_not_found", "possible_typo")
    assert finding.did_you_mean == "jane@gmail.com"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("jane@gmail,com", "jane@gmail.com"),
        ("jane@shop,co,uk", "jane@shop.co.uk"),
        ("jane@gmail", "jane@gmail.com"),
        ("jane@gmailcom", "jane@gmail.com"),
        ("jane@hotmial", "jane@hotmail.com"),
        ("jane@comcast", "jane@comcast.net"),
        (" jane@shop.com ", "jane@shop.com"),
        ("jane@shop.com\n", "jane@shop.com"),
        ("jane@shop.com.", "jane@shop.com"),
        ("jane@shop..com", "jane@shop.com"),
        ("jane@@shop.com", "jane@shop.com"),
        ("jane @ shop.com", "jane@shop.com"),
        ("jane@shop .com", "jane@shop.com"),
        ("jane@shop.com,", "jane@shop.com"),
        ("Jane Doe <jane@shop.com>", "jane@shop.com"),
        ("Doe, Jane <Jane@Shop.com>;", "Jane@shop.com"),
        ("<jane@shop.com>", "jane@shop.com"),
        ("'jane@shop.com'", "jane@shop.com"),
        ("mailto:jane@shop.com", "jane@shop.com"),
        ("jane(work)@shop.com", "jane@shop.com"),
        ('"jane"@shop.com', "jane@shop.com"),
        ("jane\uff20shop.com", "jane@shop.com"),
        ("jane[at]shop.com", "jane@shop.com"),
        ("jane\u200b@shop.com", "jane@shop.com"),
        ("jane.@gmail.com", "jane@gmail.com"),
        ("jane@gmial,com", "jane@gmail.com"),
        ("jane@shop,con", "jane@shop.com"),
        ("jane@shop.co,uk", "jane@shop.co.uk"),
        ("jane@gmail:com", "jane@gmail.com"),
        ("jane@gmail com", "jane@gmail.com"),
        ("jane at gmail.com", "jane@gmail.com"),
        ("\u201cjane@gmail.com\u201d", "jane@gmail.com"),
        ("jane@localhost", None),
        ("jane.@münchen.con", "jane@münchen.com"),
        ("jane@shop.com work", None),
        ("jane@shop.com, Inc", None),
        ("jane@shop,de jane", None),
        ("jane@gmail.com,bob.com", None),
        ("jane@example,com", None),
        ("jane@shop.com\r\nRCPT TO:<joe@other.com>", None),
        ("jane@shop.com <joe@other.com>", None),
        ("jane@a\u200db,com", None),
        ("jane", None),
        ("@gmail.com", None),
        ("jane@", None),
        ("jane doe@shop.com", None),
        ("jane@shop.com,joe@shop.com", None),
        ("jane@shop.com\r\nBcc: joe@shop.com", None),
        ("jane@[8.8.8.8]", None),
        ("jane@8.8.8.8", None),
        (f"jane@{'a' * 64}.com", None),
        ("a" * 300 + "@gmail,com", None),
    ],
)
def test_wrong_syntax_is_repaired_where_it_is_certain(text: str, meant: str | None) -> None:
    finding = Engine().check(text)
    assert (finding.reason, finding.did_you_mean) == ("invalid_syntax", meant)


@pytest.mark.parametrize(
    ("typed", "meant", "slip"),
    [
        ("gmial", "gmail", Slip.TRANSPOSED),
        ("gmaill", "gmail", Slip.DOUBLED),
        ("gmal", "gmail", Slip.OMITTED),
        ("gnail", "gmail", Slip.NEIGHBOUR),
        ("gmaikl", "gmail", Slip.NEIGHBOUR),
        ("gma1l", "gmail", Slip.NEIGHBOUR),
        ("gmeil", "gmail", Slip.STRANGE),
        ("gmailx", "gmail", Slip.STRANGE),
        ("gmail", "gmail", None),
        ("gmla", "gmail", None),
        ("", "gmail", None),
    ],
)
def test_one_slip_has_a_name(typed: str, meant: str, slip: Slip | None) -> None:
    assert slip_between(typed, meant) == slip


def test_keys_have_neighbours() -> None:
    assert all(are_neighbours("g", key) for key in "fhtyvb")
    assert not any(are_neighbours("g", key) for key in "dj1.gé")


def test_distances_count_slips() -> None:
    assert [distance_between("outlook", word) for word in ("outlook", "uotlook", "otlok")] == [
        0,
        1,
        2,
    ]


def test_what_is_suggested_is_an_address(engine: Engine) -> None:
    """One letter more, and this is too long."""
    domain = f"{'b' * 62}.{'b' * 60}.{'b' * 60}.co.u"
    finding = engine.check(f"{'a' * 64}@{domain}")
    assert (finding.reason, finding.did_you_mean) == ("domain_not_found", None)
