"""Distribute tests over xdist workers: tests that share a running product go to one worker.

Starting a product is slow. All other tests run on any free worker.

Groups depend on the test's path, not on marks: `--dist loadgroup` appends the mark to the test id,
pytest 9.2 no longer parses it, and the group is then spread over all workers, each of which starts
the product again.
"""

from functools import cache
from pathlib import PurePath

from xdist.scheduler import LoadScopeScheduling

from tests.servers.product import ROOT

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
    return str(path) if _shares_fixtures(path) else node_id


@cache
def _shares_fixtures(path: PurePath) -> bool:
    """Return whether the file has fixtures that its tests share, such as a product of its own."""
    return 'scope="module"' in (ROOT / path).read_text()


class GroupScheduler(LoadScopeScheduling):
    """A scheduler that starts the largest groups first."""

    def _split_scope(self, nodeid: str) -> str:
        return find_group(nodeid)
