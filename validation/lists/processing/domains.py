"""Look up the domains of a list, a block at a time."""

from collections.abc import Iterable
from functools import lru_cache

from django.db import transaction

from accounts.engine import get_engine
from runtime.database.heartbeat import Heartbeat
from validation.domain_data import staff_domains
from validation.engine.dns.mail_route import MailRoute
from validation.engine.dns.stored_route import dump_route, load_route
from validation.engine.domain_data import StaffDomains
from validation.engine.lookups import look_up_all
from validation.engine.verdicts.decision import DomainInfo
from validation.lists.bulk_rows import find_domains, store_routes
from validation.models import AddressList, DomainBlock, ListDomain

# More would not be faster: by then, the process has no time left to wait.
LOOKUPS_AT_ONCE = 128


def look_up_block(address_list: AddressList, block: DomainBlock) -> bool:
    """Look up the block's domains, when lists are checked again only those that are unknown.

    Return False if the lease ended and another process claimed the block.
    """
    rows = ListDomain.objects.filter(list=address_list, block=block.number)
    domains = [
        domain
        for domain, route in rows.values_list("domain", "route")
        if not route or _is_unknown(load_route(route))
    ]
    with Heartbeat(block):
        routes = look_up_all(get_engine(), domains, at_once=LOOKUPS_AT_ONCE)
        stored = {domain: dump_route(route) for domain, route in routes}
    with transaction.atomic():
        if not block.lock_if_held():
            return False
        store_routes(address_list, block.number, stored)
        return block.release(is_done=True, attempts=0)


def load_facts(address_list: AddressList, domains: Iterable[str]) -> dict[str, DomainInfo]:
    """Return what was found about these domains, for `Engine.check_with_facts`."""
    staff = staff_domains.current()
    routes = find_domains(address_list, set(domains))
    return {domain: _describe(domain, route, staff) for domain, route in routes.items() if route}


# Most addresses of a list share few domains. An entry takes about 2 KB.
@lru_cache(maxsize=10_000)
def _describe(domain: str, route: str, staff: StaffDomains) -> DomainInfo:
    return get_engine().describe(domain, load_route(route))


def _is_unknown(route: MailRoute) -> bool:
    return route.accepts_mail is None and route.problem != "reserved_domain"
