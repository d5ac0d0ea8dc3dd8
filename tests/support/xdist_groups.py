"""Which tests stand on one product that is slow to start: the same worker of a run gets all of
them. The others go wherever there is time.

By their place and not by marks: `--dist loadgroup` writes a mark into the test's id, which pytest
9.2 does not read any more, and then spreads a group over all workers: each starts its product.
"""

from pathlib import PurePath

from xdist.scheduler import LoadScopeScheduling

# Each has a product of its own.
WITH_A_PRODUCT = {
    *(
        "tests/apikeys/rest/test_schema_conformance.py",
        "tests/apikeys/throttling/test_exactness.py",
    ),
    *(
        "tests/config/server/test_overload.py",
        "tests/operations/test_reverse_proxy.py",
        "tests/operations/test_slow_clients.py",
    ),
    *(
        "tests/config/server/test_make_serve.py",
        "tests/config/server/test_make_serve_on_postgresql.py",
    ),
    *("tests/config/server/test_web_worker.py", "tests/credits/wallet/test_exactly_once.py"),
}
# They share one.
FUZZED = {"tests/fuzz/test_description.py", "tests/fuzz/test_http.py"}
JOURNEYS = PurePath("tests/journeys")
# They take as long as the others together: two workers walk them, each with its own product.
SECOND_HALF = {"test_billing", "test_docs_examples", "test_pages", "test_passkey", "test_states"}


def group_of(test: str) -> str:
    path = PurePath(test.partition("::")[0])
    if path.parent == JOURNEYS:
        return "second half of the journeys" if path.stem in SECOND_HALF else "journeys"
    if str(path) in FUZZED:
        return "fuzzed over sockets"
    return str(path) if str(path) in WITH_A_PRODUCT else test


class Groups(LoadScopeScheduling):  # type: ignore[misc]
    """The largest groups come first."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
