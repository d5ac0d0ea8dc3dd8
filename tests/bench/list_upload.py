"""Upload a list that starts as soon as it is read."""

import json
import random
from typing import NamedTuple

from tests.bench.customers import NO_LIMIT
from tests.servers.keys import manage
from tests.servers.product import Product

_PART_BYTES = 8_000_000


class UploadedList(NamedTuple):
    id: str
    secret: str


def upload_list(site: Product, addresses: int, domains: int) -> UploadedList:
    """Create an account with a list."""
    code = f"from tests.bench.list_upload import print_list; print_list({addresses}, {domains})"
    return UploadedList(*json.loads(manage(site, "shell", "--no-imports", "-c", code)))


def print_list(addresses: int, domains: int) -> None:
    """Upload the list, and print its id and the secret. Runs in a process of the product."""
    from django.utils import timezone

    from accounts.models import User
    from accounts.services import open_account
    from apikeys.actor import Actor
    from apikeys.models import ApiKey
    from credits.models import Plan
    from credits.services import grant
    from lists.uploads.options import ListOptions
    from lists.uploads.services import begin_parsing, create_list, store_part

    Plan.objects.update(list_addresses=10_000_000, list_bytes=1 << 30)
    name = f"list-{timezone.now():%H%M%S%f}"
    user = User.objects.create(email=f"{name}@shop.example")
    account = open_account(user=user, name=name)
    account.requests_per_minute_override = NO_LIMIT
    account.save(update_fields=["requests_per_minute_override"])
    _, secret = ApiKey.objects.create_key(account=account, name="Benchmark")
    grant(account=account, amount=addresses, reason="Benchmark", actor=None)
    options = ListOptions(starts_when_ready=True, content_type="text/csv")
    address_list = create_list(actor=Actor(account, user=user), options=options)
    content = _content(name, addresses, domains)
    for number, start in enumerate(range(0, len(content), _PART_BYTES), 1):
        part = content[start : start + _PART_BYTES]
        store_part(address_list=address_list, number=number, content=part)
    begin_parsing(address_list=address_list)
    print(json.dumps([address_list.public_id, secret]))


def _content(name: str, addresses: int, domains: int) -> bytes:
    """Return a CSV file. No other list has the same domains, so none of them is cached."""
    numbers = random.Random(1)
    lines = (
        f"customer{number}@domain{numbers.randrange(domains)}-{name}.com,Customer {number}"
        for number in range(addresses)
    )
    return "\n".join(["email,name", *lines]).encode()
