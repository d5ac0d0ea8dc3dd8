"""`python -m tests.fuzz [WORD…]` tries every target, or those with a word in their names, with
random cases, for FUZZ_SECONDS (600) on two cores. Where it finds something it ends with 1 and the
smallest example.
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
LANES = 2
# Before its first case a lane makes a database, and starts a product.
LEAST_SECONDS = 2.0
TOLD_EVERY = 15.0
PLACES = ("tests/fuzz", "tests/credits/wallet/test_any_order.py")
PYTEST = (sys.executable, "-m", "pytest", "--no-header", "-p", "no:cacheprovider", "--timeout=0")


def main() -> None:
    # Whoever stops this stops what it started as well: SystemExit passes through every finally.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    tests = find_tests(sys.argv[1:])
    if not tests:
        sys.exit("No target has that in its name.")
    each = max(SECONDS * min(LANES, len(tests)) / len(tests), LEAST_SECONDS)
    print(f"{len(tests)} targets, {each:.0f} s each, {LANES} at a time.", flush=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        status = run(tests, each, Path(folder))
        counts = read_counts(Path(folder))
        if status:
            print((Path(folder) / "output").read_text())
    print(table(tests, counts, found_nothing=status == 0))
    sys.exit(status)


def find_tests(words: list[str]) -> list[str]:
    command = [*PYTEST, "--collect-only", "-p", "no:randomly", *PLACES]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        sys.exit(listed.stdout + listed.stderr)
    found = [line for line in listed.stdout.splitlines() if "::" in line]
    return [test for test in found if not words or any(word in test for word in words)]


def run(tests: list[str], each: float, folder: Path) -> int:
    output = folder / "output"
    counts = folder / "counts"
    counts.mkdir()
    given = {"FUZZ_TEST_SECONDS": f"{each}", "FUZZ_REPORTS": str(counts)}
    command = [*PYTEST, "-n", f"{LANES}", "--tb=short", "--show-capture=no", *tests]
    with output.open("w") as file:
        running = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **given},
            stdout=file,
            stderr=file,
            # With all that it starts it is a group of its own, which ends together.
            start_new_session=True,
        )
    try:
        began = time.monotonic()
        while running.poll() is None:
            tell(began, folder)
            wait(running, TOLD_EVERY)
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGTERM)
        running.wait()
    return running.returncode


def wait(running: subprocess.Popen[bytes], seconds: float) -> None:
    try:
        running.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def tell(began: float, folder: Path) -> None:
    counts = read_counts(folder)
    passed = int(time.monotonic() - began)
    busy = ", ".join(sorted(name_of(test) for test in list(counts)[-LANES:]))
    print(
        f"{passed // 60:3}:{passed % 60:02}  {sum(counts.values()):>9,} cases  {busy}", flush=True
    )


def read_counts(folder: Path) -> dict[str, int]:
    counts: dict[str, int] = {}
    for report in (folder / "counts").glob("*"):
        for line in report.read_text().splitlines():
            cases, test = line.split(" ", 1)
            counts[test] = int(cases)
    return counts


def name_of(test: str) -> str:
    """`engine: every text gets a consistent finding`"""
    path, _, function = test.partition("::")
    return f"{Path(path).stem.removeprefix('test_')}: {function.removeprefix('test_')}".replace(
        "_", " "
    )


def table(tests: list[str], counts: dict[str, int], *, found_nothing: bool) -> str:
    """To be pasted into a page of the docs."""
    rows = [f"| {name_of(test)} | {counts.get(test, 0):,} |" for test in sorted(tests)]
    rows.append(f"| **all** | **{sum(counts.values()):,}** |")
    day = datetime.now(UTC).date()
    found = "nothing was found" if found_nothing else "SOMETHING WAS FOUND, see above"
    return "\n".join(
        ["", "| target | cases |", "|---|---|", *rows, "", f"{day}, {SECONDS:g} s: {found}."]
    )


if __name__ == "__main__":
    main()
