"""Work on lists, which the product of the journeys leaves to the tests."""

from tests.servers.keys import manage
from tests.servers.product import Product

_WORK = """
from validation.lists.processing.running import work_once
while work_once():
    pass
"""


def run_lists(site: Product) -> None:
    """Do all the work that lists have now."""
    manage(site, "shell", "--no-imports", "-c", _WORK)
