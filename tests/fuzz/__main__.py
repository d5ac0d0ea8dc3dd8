"""Run all fuzz targets with random cases: `python -m tests.fuzz [WORD…]`.

With words, it runs only the targets whose names contain one. It takes FUZZ_SECONDS (600) on two
cores. After a failure it exits with 1 and prints the smallest example.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from tests.servers.product import ROOT

SECONDS = float(os.environ.get("FUZZ_SECONDS", "600"))
WORKERS = 2
# A worker creates a database and starts a product before its first case.
MIN_SECONDS = 2.0
PROGRESS_INTERVAL = 15.0
PATHS = ("tests/fuzz", "tests/credits/wallet/test_any_order.py")
OPTIONS = ("--no-header", "-p", "no:cacheprovider", "--timeout=0", "-m", "")
PYTEST = (sys.executable, "-m", "pytest", *OPTIONS)


def main() -> None:
    # SystemExit runs the finally blocks, which stop the child processes.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    tests = find_tests(sys.argv[1:])
    if not tests:
        sys.exit("No target matches.")
    seconds = max(SECONDS * min(WORKERS, len(tests)) / len(tests), MIN_SECONDS)
    print(f"{len(tests)} targets, {seconds:.0f} s each, {WORKERS} at a time.", flush=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        status = run(tests, seconds, Path(folder))
        counts = read_counts(Path(folder))
        if status:
            print((Path(folder) / "output").read_text())
    print(format_table(tests, counts, has_passed=status == 0))
    sys.exit(status)


def find_tests(words: list[str]) -> list[str]:
    command = [*PYTEST, "--collect-only", "-p", "no:randomly", *PATHS]
    collected = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if collected.returncode:
        sys.exit(collected.stdout + collected.stderr)
    all_tests = [line for line in collected.stdout.splitlines() if "::" in line]
    return [test for test in all_tests if not words or any(word in test for word in words)]


def run(tests: list[str], seconds: float, folder: Path) -> int:
    output = folder / "output"
    counts = folder / "counts"
    counts.mkdir()
    environment = {"FUZZ_TEST_SECONDS": f"{seconds}", "FUZZ_REPORTS": str(counts)}
    command = [*PYTEST, "-n", f"{WORKERS}", "--tb=short", "--show-capture=no", *tests]
    with output.open("w") as file:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **environment},
            stdout=file,
            stderr=file,
            # A separate process group, so that all child processes can be stopped together.
            start_new_session=True,
        )
    try:
        started = time.monotonic()
        while process.poll() is None:
            print_progress(started, folder)
            wait(process, PROGRESS_INTERVAL)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()
    return process.returncode


def wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def print_progress(started: float, folder: Path) -> None:
    counts = read_counts(folder)
    elapsed = int(time.monotonic() - started)
    busy = ", ".join(sorted(display_name(test) for test in list(counts)[-WORKERS:]))
    print(
        f"{elapsed // 60:3}:{elapsed % 60:02}  {sum(counts.values()):>9,} cases  {busy}", flush=True
    )


def read_counts(folder: Path) -> dict[str, int]:
    counts: dict[str, int] = {}
    for report in (folder / "counts").glob("*"):
        for line in report.read_text().splitlines():
            cases, test = line.split(" ", 1)
            counts[test] = int(cases)
    return counts


def display_name(test: str) -> str:
    """Return a name such as `engine: every text gets a consistent finding`."""
    path, _, function = test.partition("::")
    return f"{Path(path).stem.removeprefix('test_')}: {function.removeprefix('test_')}".replace(
        "_", " "
    )


def format_table(tests: list[str], counts: dict[str, int], *, has_passed: bool) -> str:
    """Format the counts as a Markdown table for the docs."""
    rows = [f"| {display_name(test)} | {counts.get(test, 0):,} |" for test in sorted(tests)]
    rows.append(f"| **all** | **{sum(counts.values()):,}** |")
    day = datetime.now(UTC).date()
    result = "no failures" if has_passed else "FAILED, see above"
    return "\n".join(
        ["", "| target | cases |", "|---|---|", *rows, "", f"{day}, {SECONDS:g} s: {result}."]
    )


if __name__ == "__main__":
    main()
