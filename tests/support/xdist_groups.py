"""Distribute tests over xdist workers: tests that share a running product go to one worker.

Starting a product is slow. All other tests run on any free worker.

Groups depend on the test's path, not on marks: `--dist loadgroup` appends the mark to the test id,
pytest 9.2 no longer parses it, and the group is then spread over all workers, each of which starts
the product again.
"""

from functools import cache
from pathlib import PurePath

from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from tests.servers.product import ROOT

# These files share one product.
SHARED_FUZZ_SITE = {"tests/fuzz/test_description.py", "tests/fuzz/test_http.py"}
JOURNEYS = PurePath("tests/journeys")
# A second worker runs these, with a product and a browser of its own. One worker would end last:
# the journeys take half of the proofs' CPU time. All tests of these files are proofs, because
# `make test` starts only one product and one browser for all journeys.
SECOND_HALF = {"test_font", "test_keyboard", "test_pages", "test_zoom"}
# Needs no browser, and has a product of its own.
WITHOUT_BROWSER = "test_docs_examples"
# Some tests of these files take five seconds or more.
LONG = {
    *("tests/credits/wallet/test_any_order.py", "tests/fuzz/test_pages.py"),
    *("tests/site/test_both_databases.py", "tests/site/test_every_form.py"),
    *("tests/site/test_every_page.py", "tests/site/test_observatory.py"),
}


def is_long(node_id: str) -> bool:
    """Return whether the test should start early: at the end, the other workers would wait."""
    return node_id.partition("::")[0] in LONG


def find_group(node_id: str) -> str:
    path = PurePath(node_id.partition("::")[0])
    if path.parent == JOURNEYS and path.stem != WITHOUT_BROWSER:
        return "second half of the journeys" if path.stem in SECOND_HALF else "journeys"
    if str(path) in SHARED_FUZZ_SITE:
        return "fuzzed over sockets"
    return str(path) if _shares_fixtures(path) else node_id


@cache
def _shares_fixtures(path: PurePath) -> bool:
    """Return whether the file has fixtures that its tests share, such as a product of its own."""
    return 'scope="module"' in (ROOT / path).read_text()


class GroupScheduler(LoadScopeScheduling):
    """A scheduler that starts the largest groups first, and forgets those that have ended.

    xdist goes through all groups of a worker after each of its tests.
    """

    def mark_test_complete(
        self, node: WorkerController, item_index: int, duration: float = 0
    ) -> None:
        super().mark_test_complete(node, item_index, duration)
        group = find_group(self.registered_collections[node][item_index])
        if all(self.assigned_work[node][group].values()):
            del self.assigned_work[node][group]

    def _split_scope(self, nodeid: str) -> str:
        return find_group(nodeid)
