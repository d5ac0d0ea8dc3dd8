"""Upload a list that starts as soon as it is read: `python -m tests.bench.list_upload 100000 5000`.

The arguments are the number of addresses and of their domains. The command writes to the database
of DATABASE_URL, and prints the list's id and the secret of a key of its account as JSON.
"""

import json
import os
import random
import subprocess
import sys
from typing import NamedTuple

from tests.bench.customers import NO_LIMIT
from tests.servers.product import ROOT, Product

_PART_BYTES = 8_000_000


class UploadedList(NamedTuple):
    id: str
    secret: str


def upload_list(site: Product, addresses: int, domains: int) -> UploadedList:
    """Create an account with a list."""
    result = subprocess.run(
        [sys.executable, "-m", "tests.bench.list_upload", str(addresses), str(domains)],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **site.environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return UploadedList(*json.loads(result.stdout))


def _upload(addresses: int, domains: int) -> UploadedList:
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
    return UploadedList(address_list.public_id, secret)


def _content(name: str, addresses: int, domains: int) -> bytes:
    """Return a CSV file. No other list has the same domains, so none of them is cached."""
    numbers = random.Random(1)
    lines = (
        f"customer{number}@domain{numbers.randrange(domains)}-{name}.com,Customer {number}"
        for number in range(addresses)
    )
    return "\n".join(["email,name", *lines]).encode()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    print(json.dumps(_upload(int(sys.argv[1]), int(sys.argv[2]))))
