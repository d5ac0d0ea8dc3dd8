"""Which mistyped addresses get a suggestion, and which don't."""

import pytest

from engine.check import Engine
from engine.domain_data import DomainData
from engine.suggestions.suggest import suggest_domain
from tests.servers.dns import FakeDns

DATA = DomainData()
# Domains without mail, with the expected suggestion.
TYPOS_WITHOUT_MAIL = {
    "gmail.net": "gmail.com",
    "gmial.con": "gmail.com",
    "www.gmail.com": "gmail.com",
    "gmailcom.com": "gmail.com",
    "hotmmial.com": "hotmail.com",
    "aol.con": "aol.com",
    "gmail.cooom": "gmail.com",
    "comcast.nry": "comcast.net",
    "homail.con": "hotmail.com",
    "con-artists.con": "con-artists.com",
    "live.con": "live.com",
    "verison.net": "verizon.net",
    "gmx.dee": "gmx.de",
    "web.dee": "web.de",
    "company.con": "company.com",
    "company.ocm": "company.com",
    "company.ogr": "company.org",
    "company.nte": "company.net",
    "company.co.ku": "company.co.uk",
    "shop.xom": "shop.com",
    # Doubled endings and missing periods.
    "shop.de.de": "shop.de",
    "shop.co.uk.uk": "shop.co.uk",
    "shop.co.uk.co.uk": "shop.co.uk",
    "gmial.com.com": "gmail.com",
    "yahoo.co.za.za": "yahoo.co.za",
    "docomone.jp": "docomo.ne.jp",
    "terra.combr": "terra.com.br",
    "liveco.uk": "live.co.uk",
    # A provider's name with a country's ending.
    "yahoo.uk": "yahoo.co.uk",
    "hotmail.ar": "hotmail.com.ar",
    "docomo.jp": "docomo.ne.jp",
    "yahoo.co": "yahoo.com",
    "outlook.xyz": "outlook.com",
    "uol.br": "uol.com.br",
    # The only domain of a distinctive name.
    "hanmail.com": "hanmail.net",
    "comcast.org": "comcast.net",
    "qq.co": "qq.com",
    # A provider's name with the ending of a country where it has no domain.
    **{
        f"gmail.{ending}": "gmail.com"
        for ending in ("de", "it", "ru", "dk", "cz", "ee", "bg", "kz", "fr")
    },
    "yahoo.co.fr": "yahoo.fr",
    "yahoo.c5.jp": "yahoo.co.jp",
    # Two letters before an ending that doesn't exist.
    "qq.con": "qq.com",
    "qq.comm": "qq.com",
    "qq.cmo": "qq.com",
    "me.con": "me.com",
    "wp.lp": "wp.pl",
    "ya.ruu": "ya.ru",
    "xy.con": "xy.com",
    # Any wrong letter in an ending that doesn't exist, after a provider's own name.
    "bk.rpu": "bk.ru",
    "au.coms": "au.com",
    "onet.com.cpl": "onet.com.pl",
    "odn.nep.jp": "odn.ne.jp",
    # A wrong first letter, and short names below a country's ending.
    "ziggx.nl": "ziggo.nl",
    "palla.co.il": "walla.co.il",
    "vtlen.pl": "tlen.pl",
    "mwem.co.za": "mweb.co.za",
    "za7q.ne.jp": "zaq.ne.jp",
    # Only the period is in another place.
    "w.ppl": "wp.pl",
    "gm.xch": "gmx.ch",
    "b.kru": "bk.ru",
    # Endings that don't exist, although gmail.org could.
    "yahoo.c": "yahoo.com",
    "hotmail.c": "hotmail.com",
    "qq.c": "qq.com",
    "shop.nt": "shop.net",
    "shop.og": "shop.org",
    "shop.cojp": "shop.co.jp",
    "shop.comau": "shop.com.au",
    "yahoo.cojp": "yahoo.co.jp",
    "gmail.og": "gmail.com",
    "gmail.fvr": "gmail.com",
    "icloud.nwt": "icloud.com",
    "g.mail": "gmail.com",
    "hot.mail": "hotmail.com",
    "i.cloud": "icloud.com",
    # Providers of other countries, and short names.
    "ezwed.ne.jp": "ezweb.ne.jp",
    "nver.com": "naver.com",
    "kpnmai.nl": "kpnmail.nl",
    "suomi42.fi": "suomi24.fi",
    "mynrt.com": "mynet.com",
    "gmz.de": "gmx.de",
    "wbe.de": "web.de",
    "aok.com": "aol.com",
    "163.cmo": "163.com",
    "qqq.com": "qq.com",
}


@pytest.mark.parametrize(("domain", "suggestion"), TYPOS_WITHOUT_MAIL.items())
def test_domain_without_mail_is_corrected(domain: str, suggestion: str) -> None:
    assert suggest_domain(domain, DATA, accepts_mail=False) == suggestion


def test_well_known_domain_is_never_corrected() -> None:
    for domain in DATA.free_providers | DATA.relays:
        assert suggest_domain(domain, DATA, accepts_mail=False) is None, domain


@pytest.mark.parametrize(
    "domain",
    [
        *("quarterly-report.com", "acme.co", "qz.com", "zebra.org", "my-shop.de", "example.con"),
        *("co.uk.uk", "com.com", "a.b.de", "example.com.com", "yahoo.com.zr", "yahoo.qt"),
        # Short names of smaller providers, and two typos in a short name.
        *("ice.com", "toms.com", "yarbo.com", "goal.com", "kimz.com", "wpost.xyz"),
        # A provider's name, or a word, with the ending of another country.
        *("outlook.nl", "hotmail.us", "yahoo.fm", "yahoo.eu", "protonmail.ca"),
        *("live.gr", "live.us", "free.de"),
        # A likely typo of one provider, and a less likely one of a better-known provider.
        *("yandex.au", "mail.au", "vtt.net", "tac.com", "caiway.nt", "yahoo.co.is"),
        # A digit before a provider's domain.
        *("1mail.com", "9mail.com"),
        # A provider's domain in a country, or a slip in a better-known one.
        *("yahoo.tr", "hotmail.co.hk", "yahoo.com.gr", "yahoo.com.be"),
        # Endings that could be several, and names whose main domain has another ending.
        *("shop.c", "shop.or", "shop.nn", "orange.c", "yahoo.nt"),
        # Providers of several countries have this name.
        *("orange.xqz", "posteo.xqz", "netzero.eom"),
    ],
)
def test_ambiguous_domain_is_not_corrected(domain: str) -> None:
    assert suggest_domain(domain, DATA, accepts_mail=False) is None


def test_domain_at_a_providers_own_hosts_is_not_corrected(
    engine: Engine, fake_dns: FakeDns
) -> None:
    """The mail host shows that the domain is Microsoft's own, though no data file lists it."""
    fake_dns.add_mail_domain("hotmaill.com", "hotmaill-com.olc.protection.outlook.com")
    assert engine.check("jane@hotmaill.com").did_you_mean is None


def test_nonexistent_typo_gets_a_suggestion_with_its_verdict(engine: Engine) -> None:
    finding = engine.check("jane@gmail.con")
    assert finding.reasons == ("domain_not_found", "possible_typo")
    assert finding.did_you_mean == "jane@gmail.com"


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("jane@gmail,com", "jane@gmail.com"),
        ("jane@shop,co,uk", "jane@shop.co.uk"),
        ("jane@gmail", "jane@gmail.com"),
        ("jane@gmailcom", "jane@gmail.com"),
        ("jane@hotmial", "jane@hotmail.com"),
        ("jane@comcast", "jane@comcast.net"),
        ("jane@yahoofr", "jane@yahoo.fr"),
        ("jane@gmxde", "jane@gmx.de"),
        ("jane@mailcom", "jane@mail.com"),
        ("jane@hotmailcouk", "jane@hotmail.co.uk"),
        ("jane@docomonejp", "jane@docomo.ne.jp"),
        ("jane@gmialcom", "jane@gmail.com"),
        ("jane@gmailfr", None),
        ("jane@telecom", None),
        ("jane@ymail", "jane@ymail.com"),
        # Words, and names of several providers.
        *((f"jane@{word}", None) for word in ("mail", "email", "tmail", "hmail", "inbox", "ail")),
        *((f"jane@{word}", None) for word in ("alice", "orange", "tiscali", "vodafone", "mendex")),
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
        ("jane.@gogglemaii.com", "jane@googlemail.com"),
        ("jane.@protnmial.com", "jane@protonmail.com"),
        ("jane.@protonmail.ch", "jane@protonmail.ch"),
        ("jane.@protonmail.fr", "jane@protonmail.fr"),
        ("jane.@hittail.com", "jane@hittail.com"),
        ("jane.@goodmail.com", "jane@goodmail.com"),
        ("jane@gmial,com", "jane@gmail.com"),
        ("jane@shop,con", "jane@shop.com"),
        ("jane@shop.co,uk", "jane@shop.co.uk"),
        ("jane@gmail:com", "jane@gmail.com"),
        ("jane@gmail com", "jane@gmail.com"),
        ("jane at gmail.com", "jane@gmail.com"),
        ("\u201cjane@gmail.com\u201d", "jane@gmail.com"),
        ('"jane@shop.com"', "jane@shop.com"),
        ('"jane@shop.com', "jane@shop.com"),
        ("jane@shop.com/", "jane@shop.com"),
        ("jane@shop.com\\", "jane@shop.com"),
        ("/jane@shop,com", "/jane@shop.com"),
        ("email:jane@shop.com", "jane@shop.com"),
        ("E-Mail : jane@shop.com", "jane@shop.com"),
        ("mailto:jane@shop.com?subject=Hello there", "jane@shop.com"),
        ("<mailto:jane@shop.com?cc=joe@shop.com>", "jane@shop.com"),
        ("jane@shop.com (work)", "jane@shop.com"),
        ("(work) jane@shop.com", "jane@shop.com"),
        ("jane@shop.com (Jane Doe).", "jane@shop.com"),
        ("jane(at)shop.com (work)", "jane@shop.com"),
        ("jane@gmail-com", "jane@gmail.com"),
        ("jane@gmail_com", "jane@gmail.com"),
        ("jane@yahoo-co-uk", "jane@yahoo.co.uk"),
        ("jane@t-online", "jane@t-online.de"),
        ("jane@wanadoo", "jane@wanadoo.fr"),
        ("jane@wanadooo", "jane@wanadoo.fr"),
        ("jane@wanadoofr", "jane@wanadoo.fr"),
        ("jane@yandex", "jane@yandex.ru"),
        ("jane@tonline", "jane@t-online.de"),
        ("jane@e-kolay", "jane@e-kolay.net"),
        ("jane@shop-com", None),
        ("jane@shop_com", None),
        ('"jane doe"@shop.com', None),
        ("jane@shop.com (joe@shop.com)", None),
        ("jane@shop.com? joe@shop.com", None),
        ("my email: jane@shop.com", None),
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
def test_invalid_syntax_is_repaired_only_when_certain(text: str, suggestion: str | None) -> None:
    finding = Engine().check(text)
    assert (finding.reason, finding.did_you_mean) == ("invalid_syntax", suggestion)


def test_suggestion_that_is_too_long_is_dropped(engine: Engine) -> None:
    """The corrected domain is one letter longer, which makes the address too long."""
    domain = f"{'b' * 62}.{'b' * 60}.{'b' * 60}.co.u"
    finding = engine.check(f"{'a' * 64}@{domain}")
    assert (finding.reason, finding.did_you_mean) == ("domain_not_found", None)
