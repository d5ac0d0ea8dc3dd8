"""A process that dies while it parses a list."""

from accounts.models import Account
from lists.models import AddressList, ListAddress, ListChunk, ListDomain
from lists.models.domains import BLOCK_DOMAINS
from lists.models.states import ListState
from tests.lists.uploads import parse, rows_of, upload
from tests.support.fresh_database import run_and_kill

# In two blocks.
ROWS, DOMAINS = 10_000, BLOCK_DOMAINS + 100


def test_list_of_a_killed_process_is_parsed_again_from_the_start(shop: Account) -> None:
    lines = "".join(f"user{number}@shop{number % DOMAINS}.com\n" for number in range(ROWS))
    uploaded = upload(shop, lines)
    run_and_kill(parse, when=lambda: ListChunk.objects.count() >= 3)
    assert ListChunk.objects.count() < ROWS // 1000
    uploaded.refresh_from_db()
    assert uploaded.state == ListState.PARSING
    assert AddressList.objects.claim() is None
    AddressList.objects.update(leased_until=None)
    parsed = parse()
    assert (parsed.state, parsed.attempts) == (ListState.READY, 0)
    assert (parsed.rows, parsed.addresses, parsed.duplicates) == (ROWS, ROWS, 0)
    cells = [row[0] for rows in rows_of(parsed) for row in rows.cells]
    assert cells == lines.split()
    assert (ListAddress.objects.count(), ListDomain.objects.count()) == (ROWS, DOMAINS)
    assert parsed.blocks.count() == 2
