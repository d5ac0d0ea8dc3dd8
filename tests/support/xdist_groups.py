"""Distribute tests over xdist workers: tests that share a running product go to one worker.

Starting the product is slow. All other tests run on any free worker.

Groups depend on the test's path, not on marks: `--dist loadgroup` appends the mark to the test id,
pytest 9.2 no longer parses it, and the group is then spread over all workers, each of which starts
the product again.
"""

from pathlib import PurePath

from xdist.scheduler import LoadScopeScheduling

# Each of these files starts its own product.
OWN_PRODUCT = {
    *(
        "tests/apikeys/rest/test_schema_conformance.py",
        "tests/apikeys/throttling/test_limits_across_processes.py",
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
# These files share one product.
SHARED_FUZZ_SITE = {"tests/fuzz/test_description.py", "tests/fuzz/test_http.py"}
JOURNEYS = PurePath("tests/journeys")
# These take as long as all other journeys together, so a second worker runs them.
SECOND_HALF = {"test_billing", "test_docs_examples", "test_pages", "test_passkey", "test_states"}


def find_group(node_id: str) -> str:
    path = PurePath(node_id.partition("::")[0])
    if path.parent == JOURNEYS:
        return "second half of the journeys" if path.stem in SECOND_HALF else "journeys"
    if str(path) in SHARED_FUZZ_SITE:
        return "fuzzed over sockets"
    return str(path) if str(path) in OWN_PRODUCT else node_id


class GroupScheduler(LoadScopeScheduling):
    """A scheduler that starts the largest groups first."""

    def _split_scope(self, nodeid: str) -> str:
        return find_group(nodeid)
