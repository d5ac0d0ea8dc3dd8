from engine.domain_data import DomainData
from engine.suggestions.endings import undouble_ending
from engine.suggestions.evidence import CROWDED_ENDINGS, has_same_letters, is_recognizable
from engine.suggestions.provider_names import FAMOUS_NAMES, is_distinctive, is_long, is_unmistakable
from engine.typo_index import Match, choose_best, name_of
from engine.typos import Typo, starts_alike

# Companies pay for these; owners of typos rarely do.
_BUSINESS_PROVIDERS = frozenset(
    (
        *("google", "microsoft_365", "zoho", "proton", "fastmail", "mimecast", "proofpoint"),
        *("barracuda", "cisco", "rackspace", "apple"),
    )
)
# Also common names of hosts: live.com.au, but live.shop.au.
_HOST_NAMES = frozenset(
    (
        *("email", "free", "home", "inbox", "list", "live", "mail", "meta", "online", "plus"),
        *("post", "seed", "start", "web", "webmail"),
    )
)


def find_squatted_domain(
    domain: str, data: DomainData, *, provider: str | None, is_idle: bool
) -> str | None:
    """Return the provider's domain, unless the typed one may be a company's.

    `is_idle`: its records show that it has no mailboxes.
    """
    # africa.com has others' subdomains.
    if domain in data.not_typos or data.registrable_domain(domain) is None:
        return None
    # As in gmail.com.com.
    undoubled = undouble_ending(domain, data)
    if undoubled and data.is_well_known(undoubled):
        return undoubled
    best = choose_best(data.typo_index.find(domain))
    if best is None:
        return None
    if best.name == name_of(domain) or has_same_letters(domain, best):
        is_squat = _has_wrong_ending(domain, best, data)
    elif is_idle:
        is_squat = is_recognizable(domain, best)
    else:
        is_squat = _has_wrong_name(domain, best, is_business=provider in _BUSINESS_PROVIDERS)
    return best.domain if is_squat else None


def _has_wrong_ending(domain: str, match: Match, data: DomainData) -> bool:
    name, _, ending = match.domain.partition(".")
    # As in yahoo.co.k.uk, gmailc.om, yahooco.uk.
    is_odd = has_same_letters(domain, match) or data.registrable_domain(domain) != domain
    # yahoo.co.fr may also be meant for yahoo.co.kr.
    is_other_country = match.typo is Typo.OTHER and not match.has_same_tld(domain)
    if is_odd and name not in _HOST_NAMES and not is_other_country:
        return True
    # Elsewhere, the name may be another company's.
    return match.typo is not Typo.OTHER and ending in ("com", "net")


def _has_wrong_name(domain: str, match: Match, *, is_business: bool) -> bool:
    name, _, ending = match.domain.partition(".")
    is_alike = starts_alike(domain, match.domain)
    is_likely = is_alike and match.typo is not Typo.OTHER
    if is_business:
        return is_likely and name in FAMOUS_NAMES
    # A plural, such as hotmails.com, may be another company's.
    if domain == f"{name}s.{ending}":
        return False
    if name in _HOST_NAMES:
        # onlnie.no is no word, but livve.fr and emial.com may be companies.
        is_no_word = match.typo in (Typo.TRANSPOSED, Typo.DOUBLED) and is_long(name)
        return is_no_word and domain[0] == name[0] and ending not in CROWDED_ENDINGS
    if is_distinctive(name):
        return is_alike or is_unmistakable(name)
    is_recognizable_word = is_long(name) and is_long(name_of(domain))
    return is_likely and (is_recognizable_word or match.typo is Typo.DOUBLED)
