"""`python -m tests.bench [api] [engine] [front] [load] [pages] [sign-ins] [web-worker] [--write]`

`make bench` measures the API, in some six minutes; all of it takes twice as long.

`--rows 50000000` measures the pages over as many rows of the request log as a large service has.
"""

import argparse
import multiprocessing
import os
import platform
import signal
import sys
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from importlib.metadata import version
from tempfile import gettempdir

from tests.bench import api, api_lines, engine, front, overload, pages, sign_ins
from tests.bench.server import REPOSITORY
from tests.bench.table import (
    Line,
    Round,
    markdown,
    name_missed,
    name_missed_lines,
    render,
    write_between_markers,
)
from tests.bench.web_worker import CONTENDERS, ROUNDS, WINDOW_SECONDS, measure
from tests.bench.web_worker_rows import CHOSEN, ROWS

DOCUMENT = REPOSITORY / "docs" / "performance.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument(
        "subjects",
        nargs="*",
        choices=[[], *SUBJECTS],
        metavar="SUBJECT",
        help=f"{' or '.join(SUBJECTS)}; all of them unless named",
    )
    parser.add_argument("--write", action="store_true", help=f"also into docs/{DOCUMENT.name}")
    parser.add_argument("--rows", type=int, help="of the request log, for the pages")
    arguments = parser.parse_args()
    # Whoever stops this stops the servers as well: SystemExit passes through every finally.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    for subject in arguments.subjects or SUBJECTS:
        size = {"rows": arguments.rows} if arguments.rows and subject == "pages" else {}
        report = SUBJECTS[subject](**size)
        print(report, flush=True)
        if arguments.write:
            write_between_markers(DOCUMENT, f"the {subject}, measured", report)


def report_engine() -> str:
    # In a process of its own: it stays on one core.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as executor:
        lines = executor.submit(engine.measure).result()
    packages = ", ".join(f"{name} {version(name)}" for name in ("email-validator", "dnspython"))
    how = f"The median of {engine.ROUNDS} rounds (lowest to highest), on one core of "
    return _of_lines(
        lines, f"{how}{os.cpu_count()}. Python {platform.python_version()}, {packages}."
    )


def report_api() -> str:
    spawn = multiprocessing.get_context("spawn")
    # Two load generators at most: the slow calls, and those that are counted beside them.
    with ProcessPoolExecutor(max_workers=2, mp_context=spawn) as executor:
        lines = api_lines.measure(executor, lambda text: print(text, file=sys.stderr))
    names = ("gunicorn", "gevent", "Django", "djangorestframework", "psycopg")
    packages = ", ".join(f"{name} {version(name)}" for name in names)
    return _of_lines(
        lines,
        f"The median of {api.ROUNDS} rounds (lowest to highest), {api.WINDOW_SECONDS:g} s for each "
        f"measurement, {api.CALLERS} connections, {api.WORKERS} web workers, {os.cpu_count()} "
        f"cores for everything. Python {platform.python_version()}, {packages}.",
    )


def report_front() -> str:
    lines = _measured(front.measure)
    return _of_lines(
        lines,
        f"All calls of {front.ROUNDS} rounds of {front.WINDOW_SECONDS:g} s, {front.RATE:g} a "
        "second, of validate over TLS through the shipped nginx, PostgreSQL and Redis, their data "
        f"in {gettempdir()}; {_machine()}.",
    )


def report_load() -> str:
    lines = _measured(overload.measure)
    return _of_lines(
        lines,
        f"{overload.CALLERS:,} connections ask {overload.TIMES} times what {overload.FEW} get "
        f"answered, for {overload.SECONDS:g} s, by the clock; 2 web workers; {_machine()}.",
    )


def report_sign_ins() -> str:
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=2, mp_context=spawn) as executor:
        lines = sign_ins.measure(executor, lambda text: print(text, file=sys.stderr))
    return _of_lines(
        lines,
        f"The median of {sign_ins.ROUNDS} rounds (lowest to highest) of {sign_ins.SECONDS:g} s. "
        f"{sign_ins.STRANGERS} strangers with an address each try wrong passwords in a loop while "
        f"{sign_ins.CALLERS} connections validate; PostgreSQL, Redis, 2 web workers; {_machine()}.",
    )


def _measured(measure: Callable[[Executor, Callable[[str], None]], list[Line]]) -> list[Line]:
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as executor:
        return measure(executor, lambda text: print(text, file=sys.stderr))


def _machine() -> str:
    return f"{os.cpu_count()} cores for everything, Python {platform.python_version()}"


def _of_lines(lines: list[Line], how: str) -> str:
    table = markdown([["", "measured", "target"], *(line.cells() for line in lines)])
    return "\n\n".join((table, how, name_missed_lines(lines)))


def report_web_worker() -> str:
    return describe(measure_rounds())


def measure_rounds() -> list[Round]:
    rounds: list[Round] = []
    # Two load generators at most: the slow calls, and those that are counted beside them. They are
    # new processes, not forks: a fork would take the slow resolver's thread along half-way.
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=2, mp_context=spawn) as executor:
        for finished in measure(executor):
            rounds.append(finished)
            print(f"Round {len(rounds)} of {ROUNDS} is done.", file=sys.stderr)
    return rounds


def describe(rounds: list[Round]) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("gunicorn", "gevent", "Django"))
    return "\n\n".join(
        (
            render(ROWS, rounds, list(CONTENDERS), CHOSEN),
            f"The median of {len(rounds)} rounds (lowest to highest), {WINDOW_SECONDS:g} s for "
            "each measurement. A rate kept is the share of the undisturbed rate just before. "
            f"Python {platform.python_version()}, {packages}, {os.cpu_count()} cores.",
            name_missed(ROWS, rounds, CHOSEN),
        )
    )


def report_pages(rows: int = 2_000_000) -> str:
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=spawn) as executor:
        short, long = executor.submit(pages.measure, rows).result()
    sizes = [f"ms, {size:,} rows" for size in (rows // 10, rows)]
    head = ["page", *sizes, "queries", "KB", "reads whole"]
    cells = [pages.cells(few, many) for few, many in zip(short, long, strict=True)]
    missed = [page.name for page in long if not page.is_met]
    most = f"{pages.MOST_MS} ms, {pages.MOST_QUERIES} queries and {pages.MOST_BYTES // 1000} KB"
    return "\n\n".join(
        (
            markdown([head, *cells]),
            f"The median of {pages.ROUNDS} looks at each, in one process, on PostgreSQL. "
            f"Python {platform.python_version()}, Django {version('Django')}.",
            f"Over {most}: {'; '.join(missed)}." if missed else f"Every page is within {most}.",
        )
    )


SUBJECTS = {
    "api": report_api,
    "engine": report_engine,
    "front": report_front,
    "load": report_load,
    "pages": report_pages,
    "sign-ins": report_sign_ins,
    "web-worker": report_web_worker,
}


if __name__ == "__main__":
    main()
