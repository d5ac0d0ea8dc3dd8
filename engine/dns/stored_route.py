from typing import Any

import orjson

from engine.dns.mail_route import MailHost, MailRoute

# `expires_at` belongs to one process's clock.
_STORED = (
    *("domain_exists", "accepts_mail", "null_mx", "problem"),
    *("provider", "fallback", "has_ipv4", "spf", "dmarc", "is_refused"),
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
    """Another release may have stored the route with other fields."""
    stored = orjson.loads(text)
    hosts = tuple(MailHost(*mail_host) for mail_host in stored.get("hosts", ()))
    fields = {name: stored[name] for name in _STORED if name in stored}
    return MailRoute(**fields, hosts=hosts)
