"""Run benchmarks: `python -m tests.bench [SUBJECT…] [--write] [--rows NUMBER]`.

The subjects are api, one-caller, results, cold-domains, start, batches, engine, lists,
reverse-proxy, load, pages, sign-ins and web-worker; together they take about half an hour.
`make bench` runs api, one-caller, results, cold-domains, start, batches, lists and sign-ins.

`--rows 50000000` measures the pages with as many rows of the request log as a large service has, or
the lists or cold domains with as many addresses.
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
from tempfile import gettempdir

from tests.bench import (
    api,
    api_metrics,
    batches,
    batches_metrics,
    cold_domains,
    engine,
    lists,
    lists_metrics,
    one_caller,
    overload,
    pages,
    results,
    reverse_proxy,
    sign_ins,
    start,
)
from tests.bench.table import (
    Metric,
    Round,
    markdown,
    render,
    summarize_missed_metrics,
    summarize_missed_rows,
    write_between_markers,
)
from tests.bench.web_worker import CONTENDERS, ROUNDS, WINDOW_SECONDS, measure
from tests.bench.web_worker_rows import CHOSEN, ROWS
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
        "--rows", type=int, help="rows of the request log, of a list, or cold addresses"
    )
    arguments = parser.parse_args()
    # Stop the servers on SIGTERM too: SystemExit runs every finally block.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    for subject in arguments.subjects or SUBJECTS:
        has_size = arguments.rows and subject in ("cold-domains", "lists", "pages")
        size = {"rows": arguments.rows} if has_size else {}
        report = SUBJECTS[subject](**size)
        print(report, flush=True)
        if arguments.write:
            write_between_markers(DOCUMENT, f"the {subject}, measured", report)


def report_engine() -> str:
    # In a separate process, because it binds itself to one core.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as executor:
        metrics = executor.submit(engine.measure).result()
    packages = ", ".join(f"{name} {version(name)}" for name in ("email-validator", "dnspython"))
    return _format_report(
        metrics,
        f"The median of {engine.ROUNDS} rounds (lowest to highest), on one core of "
        f"{os.cpu_count()}. Python {platform.python_version()}, {packages}.",
    )


def report_api() -> str:
    spawn = multiprocessing.get_context("spawn")
    # At most two load generators run at a time: for the slow calls, and for the measured ones.
    with ProcessPoolExecutor(max_workers=2, mp_context=spawn) as executor:
        metrics = api_metrics.measure(executor, lambda text: print(text, file=sys.stderr))
    names = ("gunicorn", "gevent", "Django", "djangorestframework", "psycopg")
    packages = ", ".join(f"{name} {version(name)}" for name in names)
    return _format_report(
        metrics,
        f"The median of {api.ROUNDS} rounds (lowest to highest), {api.WINDOW_SECONDS:g} s for each "
        f"measurement, {api.CALLERS} connections, {api.WORKERS} web workers, {os.cpu_count()} "
        f"cores for everything. Python {platform.python_version()}, {packages}.",
    )


def report_one_caller() -> str:
    metrics = _run_in_process(one_caller.measure)
    return _format_report(
        metrics,
        f"The median of {one_caller.ROUNDS} rounds (lowest to highest) of {api.WINDOW_SECONDS:g} "
        f"s for each measurement: one connection, one call after the other; {api.WORKERS} web "
        f"workers, data in {gettempdir()}; {_machine()}.",
    )


def report_results() -> str:
    metrics = _run_in_process(results.measure)
    return _format_report(
        metrics,
        f"The median of {results.ROUNDS} rounds (lowest to highest) of {api.WINDOW_SECONDS:g} s "
        "for each measurement, of the product with `RESULT_RETENTION_HOURS` 24 and 0 in turns; "
        f"web workers, PostgreSQL and Redis; {api.WORKERS} web workers; {_machine()}.",
    )


def report_cold_domains(rows: int = cold_domains.ADDRESSES) -> str:
    metrics = _run_in_process(partial(cold_domains.measure, addresses=rows))
    return _format_report(
        metrics,
        f"{rows:,} addresses on {min(rows, cold_domains.DOMAINS):,} domains, one call each over "
        f"{api.CALLERS} connections, and the same calls again; PostgreSQL, Redis, {api.WORKERS} "
        f"web workers, each with its own cache; {_machine()}.",
    )


def report_start() -> str:
    metrics = start.measure(lambda text: print(text, file=sys.stderr))
    return _format_report(
        metrics,
        f"The median of {start.ROUNDS} starts (lowest to highest) on SQLite with existing data, "
        f"{api.WORKERS} web workers and one list process; memory is the proportional set size, "
        f"{start.SETTLE_SECONDS} s after a start; {_machine()}.",
    )


def report_batches() -> str:
    spawn = multiprocessing.get_context("spawn")
    # One load generator for the flood, and one for the measured calls.
    with ProcessPoolExecutor(max_workers=2, mp_context=spawn) as executor:
        metrics = batches_metrics.measure(executor, lambda text: print(text, file=sys.stderr))
    return _format_report(
        metrics,
        f"The median of {batches.ROUNDS} rounds (lowest to highest), {batches.SECONDS:g} s for "
        f"each measurement. Batches of {batches.SIZE} addresses over {batches.BATCH_CALLERS} "
        f"connections, single calls over {batches.SINGLE_CALLERS}; all of one customer. The "
        f"resolver replies after {1000 * batches.DNS_SECONDS:g} ms for cold domains. The other "
        f"customer sends {batches.CALM_RATE:g} single calls per second; {api.WORKERS} web "
        f"workers; {_machine()}.",
    )


def report_lists(rows: int = lists.ADDRESSES) -> str:
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as executor:
        metrics = lists_metrics.measure(
            executor, lambda text: print(text, file=sys.stderr), addresses=rows
        )
    return _format_report(
        metrics,
        f"Lists of {rows:,} addresses, whose domains are looked up for the first time; the "
        f"resolver replies after {1000 * lists.DNS_SECONDS:g} ms; PostgreSQL. One run each. The "
        f"other customer sends {batches.CALM_RATE:g} single calls per second; {_machine()}.",
    )


def report_reverse_proxy() -> str:
    metrics = _run_in_process(reverse_proxy.measure)
    return _format_report(
        metrics,
        f"All calls of {reverse_proxy.ROUNDS} rounds of {reverse_proxy.WINDOW_SECONDS:g} s: "
        f"{reverse_proxy.RATE:g} calls of validate per second over TLS, through the shipped nginx, "
        "with PostgreSQL and Redis, "
        f"data in {gettempdir()}; {_machine()}.",
    )


def report_load() -> str:
    metrics = _run_in_process(overload.measure)
    return _format_report(
        metrics,
        f"For {overload.SECONDS:g} s, {overload.CALLERS:,} connections send "
        f"{overload.OVERLOAD_FACTOR} times the top rate of {overload.TOP_RATE_CALLERS} "
        f"connections; 2 web workers; {_machine()}.",
    )


def report_sign_ins() -> str:
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=2, mp_context=spawn) as executor:
        metrics = sign_ins.measure(executor, lambda text: print(text, file=sys.stderr))
    return _format_report(
        metrics,
        f"The median of {sign_ins.ROUNDS} rounds (lowest to highest) of {sign_ins.SECONDS:g} s. "
        f"{sign_ins.STRANGERS} strangers, each from their own network address, try wrong passwords "
        f"in a loop while {sign_ins.CALLERS} connections validate; PostgreSQL, Redis, 2 web "
        f"workers; {_machine()}.",
    )


def _run_in_process(
    measure: Callable[[Executor, Callable[[str], None]], list[Metric]],
) -> list[Metric]:
    """Measure with a load generator in a process of its own."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as executor:
        return measure(executor, lambda text: print(text, file=sys.stderr))


def _machine() -> str:
    return f"{os.cpu_count()} cores for everything, Python {platform.python_version()}"


def _format_report(metrics: list[Metric], method: str) -> str:
    table = markdown([["", "measured", "target"], *(metric.cells() for metric in metrics)])
    return "\n\n".join((table, method, summarize_missed_metrics(metrics)))


def report_web_worker() -> str:
    return describe_rounds(measure_rounds())


def measure_rounds() -> list[Round]:
    rounds: list[Round] = []
    # At most two load generators run at a time: for the slow calls, and for the measured ones.
    # They are spawned, because a fork would copy the thread of the slow resolver mid-operation.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=2, mp_context=spawn) as executor:
        for finished in measure(executor):
            rounds.append(finished)
            print(f"Round {len(rounds)} of {ROUNDS} is done.", file=sys.stderr)
    return rounds


def describe_rounds(rounds: list[Round]) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("gunicorn", "gevent", "Django"))
    return "\n\n".join(
        (
            render(ROWS, rounds, list(CONTENDERS), CHOSEN),
            f"The median of {len(rounds)} rounds (lowest to highest), {WINDOW_SECONDS:g} s for "
            "each measurement. The undisturbed calls run just before. "
            f"Python {platform.python_version()}, {packages}, {os.cpu_count()} cores.",
            summarize_missed_rows(ROWS, rounds, CHOSEN),
        )
    )


def report_pages(rows: int = 2_000_000) -> str:
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as executor:
        short, long = executor.submit(pages.measure, rows).result()
    sizes = [f"ms, {size:,} rows" for size in (rows // 10, rows)]
    header = ["page", *sizes, "queries", "KB", "full scans"]
    cells = [pages.cells(few, many) for few, many in zip(short, long, strict=True)]
    missed = [page.name for page in long if not page.is_met]
    limits = f"{pages.MAX_MS} ms, {pages.MAX_QUERIES} queries and {pages.MAX_BYTES // 1000} KB"
    return "\n\n".join(
        (
            markdown([header, *cells]),
            f"The median of {pages.ROUNDS} requests for each page, in one process, on PostgreSQL. "
            f"Python {platform.python_version()}, Django {version('Django')}.",
            f"Over {limits}: {'; '.join(missed)}." if missed else f"Every page is within {limits}.",
        )
    )


SUBJECTS = {
    "api": report_api,
    "one-caller": report_one_caller,
    "results": report_results,
    "cold-domains": report_cold_domains,
    "start": report_start,
    "batches": report_batches,
    "engine": report_engine,
    "lists": report_lists,
    "reverse-proxy": report_reverse_proxy,
    "load": report_load,
    "pages": report_pages,
    "sign-ins": report_sign_ins,
    "web-worker": report_web_worker,
}


if __name__ == "__main__":
    main()
