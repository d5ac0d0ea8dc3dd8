"""Measure another customer's single calls, alone and while a list is checked.

Both in turns in one run: the list is resumed before a round and paused after it. What else the
machine does then affects both alike, and the medians of the rounds can be compared.
"""

import time
from concurrent.futures import Executor
from functools import partial

from tests.bench.api import DOMAINS, validate
from tests.bench.batches import CALM_RATE, SINGLE_CALLERS
from tests.bench.customers import make_customers
from tests.bench.list_upload import upload_list
from tests.bench.lists import Site, call_list, list_processes, stage_of, watch
from tests.bench.load import Load, Outcome, generate_in_turns
from tests.bench.processes import cpu_seconds

ROUNDS, SECONDS = 9, 4.0
# Large enough not to end before the rounds do.
ADDRESSES, DOMAIN_SHARE = 1_000_000, 0.1
# List processes that use less of a core than this are idle: they only ask for work.
_IDLE_SHARE, _INTERVAL, _TIME_LIMIT = 0.1, 0.5, 60


def measure_calm(executor: Executor, site: Site) -> tuple[list[Outcome], list[Outcome]]:
    """Return the outcomes while the list is paused, and while it is checked."""
    secret = make_customers(site.running, accounts=1)["paid"][0]
    uploaded = upload_list(site.running, ADDRESSES, int(ADDRESSES * DOMAIN_SHARE))
    documents = watch(site, uploaded)
    while next(documents)["state"] != "running":
        pass

    def change(action: str) -> None:
        call_list(site, uploaded, action)
        _wait_for_processes(site, idle=action == "pause")

    requests = tuple(validate(number, secret) for number in range(DOMAINS))
    load = Load(site.address, requests, SINGLE_CALLERS, SECONDS, rate=CALM_RATE)
    pause, resume = partial(change, "pause"), partial(change, "resume")
    outcomes = generate_in_turns(executor, load, ROUNDS, pause, resume)
    if stage_of(call_list(site, uploaded)) == "completed":
        raise RuntimeError("The list was completed before the calls were.")
    return outcomes


def _wait_for_processes(site: Site, *, idle: bool) -> None:
    """Wait until the list processes have stopped, or begun, to work."""
    pids = [process.pid for process in list_processes(site)]
    ends_at = time.monotonic() + _TIME_LIMIT
    while time.monotonic() < ends_at:
        before = cpu_seconds(pids)
        time.sleep(_INTERVAL)
        if (cpu_seconds(pids) - before < _IDLE_SHARE * _INTERVAL) is idle:
            return
    raise RuntimeError("The list can't be paused or resumed.")
