import time
from collections.abc import Iterable
from functools import lru_cache

from django.db import transaction

from accounts.engine import get_engine
from engine import DOMAIN_DATA, DomainInfo, StaffDomains, dump_route, load_route
from lists.bulk_sql import find_domains, store_routes
from lists.models import AddressList, DomainBlock, ListDomain
from runtime.database.leased_rows import Heartbeat
from validation.domain_data import staff_domains
from validation.lookup_limits import AccountLookupLimit

# More wouldn't be faster: the process has no idle time left.
LOOKUPS_AT_ONCE = 128
# How often the number of domains looked up is stored.
PROGRESS_SECONDS = 1.0


def look_up_block(address_list: AddressList, block: DomainBlock) -> None:
    rows = ListDomain.objects.filter(list=address_list, block=block.number)
    routes = dict(rows.values_list("domain", "route"))
    domains = [domain for domain, route in routes.items() if not route or _is_unknown(route)]
    limit = AccountLookupLimit(address_list.account)
    known, stored = len(routes) - len(domains), {}
    last_update = time.monotonic()
    with Heartbeat(block):
        for domain, route in get_engine().look_up(domains, at_once=LOOKUPS_AT_ONCE, limit=limit):
            stored[domain] = dump_route(route)
            if time.monotonic() - last_update >= PROGRESS_SECONDS:
                looked_up = known + len(stored)
                DomainBlock.objects.filter(pk=block.pk).update(looked_up=looked_up)
                AddressList.objects.get(pk=address_list.pk).mark_progress()
                last_update = time.monotonic()
    with transaction.atomic():
        if block.lock_if_held():
            store_routes(address_list, block.number, stored)
            block.release(is_done=True, attempts=0, looked_up=len(routes))
    AddressList.objects.get(pk=address_list.pk).mark_progress()


def _is_unknown(stored: str) -> bool:
    route = load_route(stored)
    return route.accepts_mail is None and route.problem != "reserved_domain"


def load_facts(address_list: AddressList, domains: Iterable[str]) -> dict[str, DomainInfo]:
    staff, generation = staff_domains.current(), DOMAIN_DATA.generation
    routes = find_domains(address_list, set(domains)).items()
    return {
        domain: _describe(domain, route, staff, generation) for domain, route in routes if route
    }


# Most addresses of a list share few domains.
@lru_cache(maxsize=10_000)
def _describe(domain: str, route: str, staff: StaffDomains, generation: object) -> DomainInfo:
    return get_engine().describe(domain, load_route(route))
