from engine import Verdict
from validation.account_domains.matching import OwnDomains
from validation.models import AccountDomains

MAX_NAMED = 5


def account_list_note(account_list: str | None, verdict: str) -> str:
    """Say what the account's lists changed, if anything."""
    if account_list == "denied":
        return "Denied by your own domains: reject the address."
    if account_list is None:
        return ""
    if verdict == Verdict.UNDELIVERABLE:
        return "Allowed by your own domains, but undeliverable: reject the address."
    return "Allowed by your own domains: accept the address."


def overruled_note(domains: AccountDomains) -> str:
    denied = OwnDomains(denied=frozenset(domains.denied))
    overruled = [domain for domain in domains.allowed if denied.find(domain)]
    if not overruled:
        return ""
    more = len(overruled) - MAX_NAMED
    names = ", ".join(overruled[:MAX_NAMED]) + (f", and {more:,} more" if more > 0 else "")
    return f"Denied wins, so these allowed domains are denied: {names}."


def saved_message(domains: AccountDomains) -> str:
    allowed, denied = len(domains.allowed), len(domains.denied)
    return f"Saved {allowed:,} allowed and {denied:,} denied domains. Your next request uses them."
