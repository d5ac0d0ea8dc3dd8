"""What the engine makes of public data that it wasn't built from, and of typing errors."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

from engine.domain_data import DOMAIN_DATA, is_below
from engine.smtp.replies import DEFINITE, ReplyClass, classify
from engine.suggestions.suggest import suggest_domain
from engine.syntax.parsing import AddressParts, parse_address
from tests.engine.smtp.test_replies import REPLIES
from tests.engine.suggestions.typing_errors import make_typos
from tests.engine.test_kinds_of_names import NAMES

PROVIDERS = 100
# Tests write control characters as their symbols.
_SYMBOLS = {0x2400 + code: code for code in range(32)}


@dataclass(frozen=True)
class Measure:
    name: str
    # How many of how many.
    count: int
    total: int


def measure_syntax(file: Path) -> list[Measure]:
    """Read tests of RFC 5321 and 5322, whose categories say what is wrong."""
    invalid, accepted, valid, refused = 0, 0, 0, 0
    for test in ElementTree.parse(file).iter("test"):  # noqa: S314 - chosen by the caller
        email = (test.findtext("address") or "").translate(_SYMBOLS)
        is_accepted = isinstance(parse_address(email), AddressParts)
        if test.findtext("category") == "ISEMAIL_ERR":
            invalid, accepted = invalid + 1, accepted + is_accepted
        elif test.findtext("category") in {"ISEMAIL_VALID_CATEGORY", "ISEMAIL_DNSWARN"}:
            valid, refused = valid + 1, refused + (not is_accepted)
    return [
        Measure("invalid_accepted", accepted, invalid),
        Measure("valid_refused", refused, valid),
    ]


def measure_legitimate(file: Path) -> list[Measure]:
    domains = read_lines(file)
    typos = [domain for domain in domains if suggest_domain(domain, DOMAIN_DATA, accepts_mail=True)]
    disposable = [domain for domain in domains if DOMAIN_DATA.is_disposable(domain)]
    return [
        Measure("disposable", len(disposable), len(domains)),
        Measure("typo", len(typos), len(domains)),
    ]


def measure_disposable(domains: Iterable[str]) -> list[Measure]:
    found = [DOMAIN_DATA.is_disposable(domain) for domain in domains]
    return [Measure("found", sum(found), len(found))]


def measure_typos() -> list[Measure]:
    """Mistype the best-known providers once, in each way. Registered domains don't count."""
    known = frozenset(DOMAIN_DATA.typo_targets) | DOMAIN_DATA.free_providers
    measures = []
    for name, accepts_mail in (("without_mail", False), ("with_mail", True)):
        corrected = wrong = total = 0
        for provider in DOMAIN_DATA.typo_targets[:PROVIDERS]:
            for typo in make_typos(provider):
                if is_below(typo, known) or typo in DOMAIN_DATA.not_typos:
                    continue
                suggestion = suggest_domain(typo, DOMAIN_DATA, accepts_mail=accepts_mail)
                total += 1
                corrected += suggestion == provider
                wrong += suggestion not in (None, provider)
        measures.append(Measure(f"corrected_{name}", corrected, total))
        measures.append(Measure(f"wrong_{name}", wrong, total))
    return measures


def measure_roles() -> list[Measure]:
    """Combine given and family names into mailboxes of persons."""
    forms = ("{0}.{1}", "{0}{1}", "{0}_{1}", "{1}.{0}")
    mailboxes = {form.format(*pair) for pair in product(NAMES, repeat=2) for form in forms}
    roles = [mailbox for mailbox in mailboxes if DOMAIN_DATA.is_role_account(mailbox)]
    return [Measure("role", len(roles), len(mailboxes))]


def measure_replies() -> list[Measure]:
    """Classify labeled replies of mail servers: the words alone, without a control name."""
    found = [
        (ReplyClass(expected), classify("rcpt", reply, provider, "jane"))
        for expected, provider, reply in REPLIES
    ]
    gone = [expected for expected, got in found if got is ReplyClass.GONE]
    accepted = [expected for expected, got in found if got is ReplyClass.ACCEPTED]
    return [
        Measure("decided", sum(got in DEFINITE for _, got in found), len(found)),
        Measure("right_undeliverable", gone.count(ReplyClass.GONE), len(gone)),
        Measure("right_deliverable", accepted.count(ReplyClass.ACCEPTED), len(accepted)),
    ]


def read_lines(file: Path) -> list[str]:
    lines = (line.strip().lower() for line in file.read_text(encoding="utf-8").splitlines())
    return sorted({line for line in lines if line and not line.startswith("#")})
