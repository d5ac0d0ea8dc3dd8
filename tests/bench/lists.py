"""Measure how fast one process parses and checks a list: `python -m tests.bench.lists`.

Runs on PostgreSQL with DATABASE_URL, otherwise on SQLite. `--profile` prints the biggest costs.
"""

import argparse
import cProfile
import os
import pstats
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from tests.bench.quick_resolver import quick_resolver

if TYPE_CHECKING:
    from validation.models import AddressList

DNS_SECONDS = 0.02
ADDRESSES, DOMAINS = 100_000, 10_000


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.lists")
    parser.add_argument("--addresses", type=int, default=ADDRESSES)
    parser.add_argument("--domains", type=int, default=DOMAINS)
    parser.add_argument("--profile", action="store_true")
    arguments = parser.parse_args()
    folder = os.environ["DATA_DIR"] = tempfile.mkdtemp(prefix="bench-lists-")
    try:
        with quick_resolver(DNS_SECONDS) as resolver:
            os.environ["DNS_RESOLVERS"] = resolver.address
            _measure(arguments.addresses, arguments.domains, is_profiled=arguments.profile)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measure(addresses: int, domains: int, *, is_profiled: bool) -> None:
    _set_up()
    from validation.lists.processing.running import check_once, prepare_once

    address_list = _upload(addresses, domains)
    profile = cProfile.Profile() if is_profiled else None
    seconds = {"parse": _time(prepare_once, None)}
    prepare_once()
    seconds["domains"] = _time(lambda: _has_blocks(address_list) and check_once(), None)
    seconds["chunks"] = _time(check_once, profile)
    _report(address_list, seconds)
    if profile is not None:
        pstats.Stats(profile, stream=sys.stdout).sort_stats("tottime").print_stats(35)


def _set_up() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", "--new-database", verbosity=0)
    call_command("create_account", "bench@shop.example", "--credits", "10000000")
    from credits.models import Plan

    Plan.objects.update(list_addresses=10_000_000, list_bytes=1 << 30)


def _upload(addresses: int, domains: int) -> "AddressList":
    from accounts.models import Account
    from validation.lists.services import Actor, upload_list
    from validation.lists.uploads.options import ListOptions

    numbers = random.Random(1)
    lines = [
        f"customer{number}@domain{numbers.randrange(domains)}.com,Customer {number}"
        for number in range(addresses)
    ]
    actor = Actor(Account.objects.get(memberships__user__email="bench@shop.example"))
    content = "\n".join(["email,name", *lines]).encode()
    options = ListOptions(starts_when_ready=True, content_type="text/csv")
    return upload_list(actor=actor, content=content, options=options)


def _has_blocks(address_list: "AddressList") -> bool:
    return address_list.blocks.filter(is_done=False).exists()


def _time(work: Callable[[], bool], profile: cProfile.Profile | None) -> tuple[float, float]:
    started = time.perf_counter(), time.process_time()
    if profile is not None:
        profile.enable()
    while work():
        pass
    if profile is not None:
        profile.disable()
    return time.perf_counter() - started[0], time.process_time() - started[1]


def _report(address_list: "AddressList", seconds: dict[str, tuple[float, float]]) -> None:
    address_list.refresh_from_db()
    verdicts = {
        name: getattr(address_list, name)
        for name in ("deliverable", "risky", "undeliverable", "unknown")
    }
    print(address_list.state, address_list.addresses, verdicts)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory: {peak:.0f} MB")
    wall, cpu = (sum(values) for values in zip(*seconds.values(), strict=True))
    for name, (elapsed, used) in {**seconds, "total": (wall, cpu)}.items():
        rate = address_list.addresses / elapsed
        print(f"{name}: {elapsed:.1f} s, {rate:,.0f} addresses/s, {used:.1f} s of CPU")


if __name__ == "__main__":
    main()
