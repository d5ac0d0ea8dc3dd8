"""Which domains that accept mail are typos of a provider, and which have another owner."""

import pytest

from engine.check import Engine
from engine.domain_data import DomainData
from engine.suggestions.suggest import suggest_domain
from tests.engine.suggestions.typing_errors import make_typos
from tests.servers.dns import FakeDns

DATA = DomainData()
# Any letter of a name that is like no other.
SQUATS = {
    "gmaxl.com": "gmail.com",
    "hotmapl.com": "hotmail.com",
    "outlqok.de": "outlook.de",
    "xutlook.com": "outlook.com",
    "yahzo.co.jp": "yahoo.co.jp",
    "docomk.ne.jp": "docomo.ne.jp",
    "softbaenk.ne.jp": "softbank.ne.jp",
    "rediffnail.com": "rediffmail.com",
    "comcas.net": "comcast.net",
    "wsbcglobal.net": "sbcglobal.net",
    "t-onlime.de": "t-online.de",
    "seznqm.cz": "seznam.cz",
    "interqa.pl": "interia.pl",
    "liberp.it": "libero.it",
    "aliqun.com": "aliyun.com",
    # Famous providers.
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
    # Names of five letters that few other names are like.
    "nzver.com": "naver.com",
    "glxbo.com": "globo.com",
    "zigxo.nl": "ziggo.nl",
    "welxo.com": "welho.com",
    "arcxr.de": "arcor.de",
    # The usual slips in shorter names.
    "nsver.com": "naver.com",
    "ziggoo.nl": "ziggo.nl",
    "gmxx.de": "gmx.de",
    # Swapped and doubled letters in words, also those that name hosts.
    "onlnie.no": "online.no",
    "onlline.no": "online.no",
    "eamil.cz": "email.cz",
    "inobx.ru": "inbox.ru",
    "inboxx.ru": "inbox.ru",
    "onett.pl": "onet.pl",
    "shaww.ca": "shaw.ca",
    # Periods and endings.
    "gmailc.om": "gmail.com",
    "yahooco.uk": "yahoo.co.uk",
    "uolcom.br": "uol.com.br",
    "hotmail.cm": "hotmail.com",
    "comcast.ne": "comcast.net",
    "yahoo.c.uk": "yahoo.co.uk",
    "gmail.com.com": "gmail.com",
    "gmx.de.de": "gmx.de",
}
OWN_DOMAINS = (
    # Companies and services with names of their own.
    *("lacoste.net", "grail.com", "columbus.fi", "pcloud.com", "earthling.net", "emobile.ne.jp"),
    *("betinternet.com", "hmail.com"),
    # Words, and names that begin with another letter.
    *("libera.it", "oranger.fr", "chapter.net", "planeet.nl", "gambler.ru", "gotmail.com"),
    *("invia.com", "voile.fr", "netto.fi", "stxrt.no", "tulus.net", "stark.no", "posta.it"),
    *("never.com", "tetra.com.br", "melia.com", "candex.com", "hemnet.nl", "slive.com"),
    # Other slips in names that are words, and short names.
    *("oline.no", "inline.no", "noline.no", "nibox.ru", "inbo.ru", "emails.cz", "emal.cz"),
    *("emial.com", "emmail.com"),
    *("livve.fr", "lvie.fr", "frree.fr", "fere.fr", "listt.ru", "liist.ru", "sahw.ca", "onte.pl"),
    # Plurals, short names, and the provider's name in another country.
    *(
        "gmails.com",
        "t-onlines.de",
        "gmax.de",
        "webb.de",
        "wem.de",
        "aon.com",
        "vive.com",
        "mai.ru",
    ),
    *(
        "yahoo.ae",
        "yahoo.co.fr",
        "hotmail.lu",
        "posteo.me",
        "vodafone.in",
        "live.eco.uk",
        "shop.de.de",
    ),
    # Providers, and companies with names like theirs.
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
    *("indra.com", "wella.com", "telit.com", "enpal.com", "lesta.ru", "arcos.de", "africa.com"),
    *("duck.com", "mozmail.com", "anonaddy.me", "aim.com", "att.com", "sky.de", "free.com"),
    # One of several providers, none of them much better known.
    *("tii.it", "yahoo.com.zr"),
)
BUSINESS_HOSTS = {
    "aspmx.l.google.com": "google",
    "gmaxil-com.mail.protection.outlook.com": "microsoft_365",
    "mx1.example.pphosted.com": "proofpoint",
    # Apple's hosts have the domains of iCloud+ customers as well.
    "mx01.mail.icloud.com": "apple",
}


@pytest.mark.parametrize(("domain", "suggestion"), SQUATS.items())
def test_typo_of_a_distinctive_name_is_corrected(domain: str, suggestion: str) -> None:
    for accepts_mail in (True, None, False):
        assert suggest_domain(domain, DATA, accepts_mail=accepts_mail) == suggestion


@pytest.mark.parametrize("domain", OWN_DOMAINS)
def test_domain_of_another_owner_is_not_corrected(domain: str) -> None:
    assert suggest_domain(domain, DATA, accepts_mail=True) is None
    assert suggest_domain(domain, DATA, accepts_mail=None) is None


@pytest.mark.parametrize("provider", BUSINESS_HOSTS.values())
def test_domain_whose_owner_pays_for_mail_is_corrected_only_for_a_slip_in_a_famous_name(
    provider: str,
) -> None:
    suggestions = {
        domain: suggest_domain(domain, DATA, accepts_mail=True, provider=provider)
        for domain in ("gmaxl.com", "comcasr.net", "gmial.com")
    }
    assert suggestions == {"gmaxl.com": None, "comcasr.net": None, "gmial.com": "gmail.com"}


def test_mail_host_of_a_company_rules_out_an_unlikely_typo(
    engine: Engine, fake_dns: FakeDns
) -> None:
    fake_dns.add_mail_domain("gmaxl.com")
    fake_dns.add_mail_domain("gmaxil.com", "aspmx.l.google.com")
    assert engine.check("jane@gmaxl.com").did_you_mean == "jane@gmail.com"
    assert engine.check("jane@gmaxil.com").reasons == ("domain_accepts_mail",)


@pytest.mark.parametrize("domain", ["gmqx.de", "wab.de", "lqve.com"])
def test_idle_domain_is_corrected_like_one_that_accepts_no_mail(domain: str) -> None:
    corrected = suggest_domain(domain, DATA, accepts_mail=False)
    assert corrected is not None
    assert suggest_domain(domain, DATA, accepts_mail=True) is None
    assert suggest_domain(domain, DATA, accepts_mail=True, is_idle=True) == corrected


@pytest.mark.parametrize(
    "domain", ["libera.it", "mai.ru", "yahoo.ae", "hotmail.xyz", "qz.com", "acme.com"]
)
def test_idle_domain_with_a_name_of_its_own_is_not_corrected(domain: str) -> None:
    assert suggest_domain(domain, DATA, accepts_mail=True, is_idle=True) is None


def test_domain_without_a_mail_host_of_its_own_is_idle(engine: Engine, fake_dns: FakeDns) -> None:
    fake_dns.add_records("gmqx.de", A="93.184.216.34")
    finding = engine.check("jane@gmqx.de")
    assert finding.reasons == ("possible_typo", "no_mx_record")
    assert finding.did_you_mean == "jane@gmx.de"


@pytest.mark.parametrize(
    ("spf", "suggestion"), [("v=spf1 -all", "jane@gmx.de"), ("v=spf1 mx -all", None)]
)
def test_domain_that_disowns_all_its_mail_is_idle(
    engine: Engine, fake_dns: FakeDns, spf: str, suggestion: str | None
) -> None:
    fake_dns.add_mail_domain("gmqx.de")
    fake_dns.add_records("gmqx.de", TXT=f'"{spf}"')
    assert engine.check("jane@gmqx.de").did_you_mean == suggestion


def test_listed_exception_would_be_a_typo_otherwise() -> None:
    """Each line of the file has an effect, and names a domain that an owner can have."""
    without = DomainData()
    without.__dict__["not_typos"] = frozenset()
    for domain in DATA.not_typos:
        assert suggest_domain(domain, without, accepts_mail=True, is_idle=True), domain
        assert suggest_domain(domain, DATA, accepts_mail=True, is_idle=True) is None, domain
        assert DATA.registrable_domain(domain) == domain


def test_known_typo_is_corrected_whatever_its_records_say() -> None:
    typos = {"gmail.net", "yahoo.net", "hotmail.net", "gemail.com", "gimail.com", "hitmail.com"}
    assert typos <= DATA.known_typos.keys()
    for typed, meant in DATA.known_typos.items():
        assert meant in DATA.typo_targets
        assert not DATA.is_well_known(typed)
        assert typed not in DATA.not_typos
        for provider in (None, "google", "yahoo"):
            assert suggest_domain(typed, DATA, accepts_mail=True, provider=provider) == meant


@pytest.mark.parametrize(
    ("accepts_mail", "min_corrected", "max_wrong"), [(True, 0.8, 0.003), (False, 0.98, 0)]
)
def test_most_typos_of_a_large_provider_are_corrected(
    accepts_mail: bool, min_corrected: float, max_wrong: float
) -> None:
    providers = ("gmail.com", "outlook.com", "yahoo.co.jp", "t-online.de", "comcast.net")
    corrected = wrong = count = 0
    for provider in providers:
        for typo in make_typos(provider):
            if DATA.is_well_known(typo) or not DATA.registrable_domain(typo):
                continue
            suggestion = suggest_domain(typo, DATA, accepts_mail=accepts_mail)
            count += 1
            corrected += suggestion == provider
            wrong += suggestion not in (None, provider)
    assert count > 1_000
    assert corrected / count > min_corrected
    assert wrong / count <= max_wrong
