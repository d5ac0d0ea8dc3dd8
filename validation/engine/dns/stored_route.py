"""Store what the DNS says about a domain as JSON, for other processes and for later. Pure."""

from typing import Any

import orjson

from validation.engine.dns.mail_route import MailHost, MailRoute

# Without how and when the lookup was made. The clock of `expires_at` is that of one process.
_STORED = (
    *("domain_exists", "accepts_mail", "null_mx", "problem"),
    *("provider", "fallback", "has_ipv4", "spf", "dmarc"),
)
_NO_ROUTE = MailRoute()


def dump_route(route: MailRoute) -> str:
    stored: dict[str, Any] = {
        name: value
        for name in _STORED
        if (value := getattr(route, name)) != getattr(_NO_ROUTE, name)
    }
    if route.hosts:
        stored["hosts"] = [list(mail_host) for mail_host in route.hosts]
    return orjson.dumps(stored).decode()


def load_route(text: str) -> MailRoute:
    """Reverse dump_route. The route counts as expired.

    Another release may have stored it, with fewer fields or more.
    """
    stored = orjson.loads(text)
    hosts = tuple(MailHost(*mail_host) for mail_host in stored.get("hosts", ()))
    fields = {name: stored[name] for name in _STORED if name in stored}
    return MailRoute(**fields, hosts=hosts)
