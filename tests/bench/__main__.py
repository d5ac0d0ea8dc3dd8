"""Run benchmarks: `python -m tests.bench [SUBJECT…] [--write] [--addresses NUMBER]`.

`SUBJECTS` lists the subjects; together they take about half an hour. `make bench` runs all but
`mailboxes` and `wal`. `--addresses 1000000` measures a longer list.
"""

import argparse
import multiprocessing
import os
import platform
import signal
import sys
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from importlib.metadata import version

from tests.bench import (
    api,
    api_metrics,
    batches,
    lists,
    lists_metrics,
    mailboxes,
    pools,
    start,
    wal,
)
from tests.bench.table import (
    Metric,
    markdown,
    summarize_missed_metrics,
    tabulate,
    write_between_markers,
)
from tests.servers.product import ROOT

DOCUMENT = ROOT / "docs" / "performance.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument(
        "subjects",
        nargs="*",
        choices=[[], *SUBJECTS],
        metavar="SUBJECT",
        help=f"{', '.join(SUBJECTS)} (default: all)",
    )
    parser.add_argument(
        "--write", action="store_true", help=f"write the tables to docs/{DOCUMENT.name}"
    )
    parser.add_argument(
        "--addresses", type=int, default=lists.ADDRESSES, help="the length of the measured lists"
    )
    arguments = parser.parse_args()
    # Stop the servers on SIGTERM too: SystemExit runs every finally block.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    for subject in arguments.subjects or SUBJECTS:
        size = {"addresses": arguments.addresses} if subject == "lists" else {}
        report = SUBJECTS[subject](**size)
        print(report, flush=True)
        if arguments.write:
            write_between_markers(DOCUMENT, f"the {subject}, measured", report)


def report_api() -> str:
    # One load generator for the slow calls, and one for the measured ones.
    metrics = _measure(api_metrics.measure, generators=2)
    names = ("gunicorn", "gevent", "Django", "djangorestframework", "psycopg")
    packages = ", ".join(f"{name} {version(name)}" for name in names)
    return _format_report(
        metrics,
        f"The median of {api.ROUNDS} rounds (lowest to highest), {api.WINDOW_SECONDS:g} s for each "
        f"measurement, {api.CALLERS} connections, {api.WORKERS} web workers, {os.cpu_count()} "
        f"cores for everything. Python {platform.python_version()}, {packages}.",
    )


def report_start() -> str:
    metrics = start.measure(_print_progress)
    return _format_report(
        metrics,
        f"The median of {start.ROUNDS} starts (lowest to highest) on SQLite with existing data, "
        f"{api.WORKERS} web workers, one list and one webhook process; memory is the proportional "
        f"set size, {start.SETTLE_SECONDS} s after a start; {_machine()}.",
    )


def report_batches() -> str:
    metrics = _measure(batches.measure)
    return _format_report(
        metrics,
        f"The median of {batches.ROUNDS} rounds (lowest to highest), {batches.SECONDS:g} s for "
        f"each measurement. Batches of {batches.SIZE} addresses over {batches.BATCH_CALLERS} "
        f"connections, single calls over {batches.SINGLE_CALLERS}; all of one customer. The "
        f"resolver replies after {1000 * batches.DNS_SECONDS:g} ms for cold domains; "
        f"{api.WORKERS} web workers; PostgreSQL; {_machine()}.",
    )


def report_pools() -> str:
    # One load generator for the other work, and one for the measured calls.
    metrics = _measure(pools.measure, generators=2)
    return _format_report(
        metrics,
        f"The median of {pools.ROUNDS} rounds (lowest to highest) of {pools.SECONDS:g} s. A "
        f"customer sends {batches.CALM_RATE:g} single calls per second over TLS, through the "
        f"shipped nginx; others send batches of {batches.SIZE} addresses over "
        f"{pools.BATCH_CALLERS} connections, or upload or download lists over {pools.TRANSFERS}; "
        f"PostgreSQL, Redis; {_machine()}.",
    )


def report_lists(addresses: int) -> str:
    metrics = _measure(partial(lists_metrics.measure, addresses=addresses))
    return _format_report(
        metrics,
        f"Lists of {addresses:,} addresses, whose domains are looked up for the first time; the "
        f"resolver replies after {1000 * lists.DNS_SECONDS:g} ms; PostgreSQL. One run each. The "
        f"other customer sends {batches.CALM_RATE:g} single calls per second; {_machine()}.",
    )


def report_wal() -> str:
    cells = wal.measure(_print_progress)
    method = (
        f"{wal.CALLS:,} calls, {wal.CALLS // 10} batches, a list of {wal.ADDRESSES:,} addresses "
        f"with {wal.ADDRESSES // 10:,} domains, and {wal.DELIVERIES:,} events; no checkpoint "
        "except for the one named; PostgreSQL 18."
    )
    return f"{markdown([wal.HEADER, *cells])}\n\n{method}"


def report_mailboxes() -> str:
    metrics = _measure(mailboxes.measure)
    return _format_report(
        metrics,
        f"A list of {mailboxes.MAILBOXES:,} addresses at {mailboxes.HOSTS} hosts of as many "
        "organizations, each asked once per second at most; one process, one relay, servers on the "
        f"same machine, PostgreSQL; p99 in {mailboxes.ROUNDS} turns; {_machine()}.",
    )


def _measure(
    measure: Callable[[Executor, Callable[[str], None]], list[Metric]], generators: int = 1
) -> list[Metric]:
    with _processes(generators) as executor:
        return measure(executor, _print_progress)


def _processes(number: int) -> ProcessPoolExecutor:
    """Return an executor for load generators, which must not compute in this process.

    They are spawned, because a fork would copy the resolver's thread mid-operation.
    """
    return ProcessPoolExecutor(number, mp_context=multiprocessing.get_context("spawn"))


def _print_progress(text: str) -> None:
    print(text, file=sys.stderr)


def _machine() -> str:
    return f"{os.cpu_count()} cores for everything, Python {platform.python_version()}"


def _format_report(metrics: list[Metric], method: str) -> str:
    return f"{tabulate(metrics)}\n\n{method} {summarize_missed_metrics(metrics)}"


SUBJECTS: dict[str, Callable[..., str]] = {
    "api": report_api,
    "start": report_start,
    "wal": report_wal,
    "batches": report_batches,
    "pools": report_pools,
    "lists": report_lists,
    "mailboxes": report_mailboxes,
}


if __name__ == "__main__":
    main()
