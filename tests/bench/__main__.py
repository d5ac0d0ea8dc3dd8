"""`python -m tests.bench [--write]`: which web worker, measured in less than three minutes."""

import argparse
import multiprocessing
import os
import platform
import signal
import sys
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version

from tests.bench.server import REPOSITORY
from tests.bench.table import Round, name_missed, render, write_between_markers
from tests.bench.web_worker import CONTENDERS, ROUNDS, WINDOW_SECONDS, measure
from tests.bench.web_worker_rows import CHOSEN, ROWS

DOCUMENT = REPOSITORY / "docs" / "performance.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("--write", action="store_true", help=f"also into docs/{DOCUMENT.name}")
    arguments = parser.parse_args()
    # Whoever stops this stops the servers as well: SystemExit passes through every finally.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    report = describe(measure_rounds())
    print(report)
    if arguments.write:
        write_between_markers(DOCUMENT, "the web worker, measured", report)


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


if __name__ == "__main__":
    main()
