"""Find an address's mailbox by the rules of known providers."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

PLUS = "+"


@dataclass(frozen=True)
class AliasRule:
    separator: str = PLUS
    ignores_dots: bool = False
    # If the provider's domains share mailboxes.
    main_domain: str = ""


_GMAIL = AliasRule(ignores_dots=True, main_domain="gmail.com")
_PLUS_TAGS = AliasRule()
_YAHOO = AliasRule(separator="-")
_RULES_BY_DOMAIN = {
    **dict.fromkeys(("gmail.com", "googlemail.com"), _GMAIL),
    **dict.fromkeys(("live.com", "msn.com", "passport.com", "windowslive.com"), _PLUS_TAGS),
    **dict.fromkeys(("icloud.com", "me.com", "mac.com"), _PLUS_TAGS),
    **dict.fromkeys(("fastmail.com", "fastmail.fm", "fastmail.com.au"), _PLUS_TAGS),
    **dict.fromkeys(("proton.me", "protonmail.com", "protonmail.ch", "pm.me"), _PLUS_TAGS),
    **dict.fromkeys(("ymail.com", "rocketmail.com", "y7mail.com", "myyahoo.com"), _YAHOO),
}
_RULES_BY_NAME = {"outlook": _PLUS_TAGS, "hotmail": _PLUS_TAGS, "yahoo": _YAHOO}
_COUNTRY_SUFFIX = re.compile(r"((com|co)\.)?[a-z]{2}|com")
# None is an unknown provider.
_PROVIDERS_WITH_NAME_RULES = {None, "microsoft_consumer", "yahoo"}
# Their plus tags also work at customers' domains.
_PROVIDERS_WITH_TAGS = {
    *("google", "microsoft_365", "microsoft_consumer", "apple", "fastmail", "proton")
}


# A batch has few domains.
@lru_cache(maxsize=512)
def find_rule(domain: str, provider: str | None = None) -> AliasRule | None:
    rule = _RULES_BY_DOMAIN.get(domain)
    if rule is None and provider in _PROVIDERS_WITH_TAGS:
        return _PLUS_TAGS
    name, _, suffix = domain.partition(".")
    if (
        rule is None
        and provider in _PROVIDERS_WITH_NAME_RULES
        and _COUNTRY_SUFFIX.fullmatch(suffix)
    ):
        return _RULES_BY_NAME.get(name)
    return rule


def canonical_address(local_part: str, domain: str, provider: str | None = None) -> str:
    # A lower-case J may compose with a combining caron.
    local = unicodedata.normalize("NFC", local_part.lower())
    rule = find_rule(domain, provider)
    if rule is None:
        return f"{local}@{domain}"
    mailbox = local.partition(rule.separator)[0]
    if rule.ignores_dots:
        mailbox = mailbox.replace(".", "")
    return f"{mailbox or local}@{rule.main_domain or domain}"


def split_tag(local_part: str, domain: str, provider: str | None = None) -> tuple[str, str | None]:
    rule = find_rule(domain, provider)
    for separator in (rule.separator, PLUS) if rule else (PLUS,):
        mailbox, _, tag = local_part.partition(separator)
        if mailbox and tag:
            return mailbox, tag
    return local_part, None


def strip_plus_tag(local_part: str) -> str:
    return local_part.partition(PLUS)[0] or local_part
