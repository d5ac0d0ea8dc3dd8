"""Every page opens on both databases. Most tests of single pages run on SQLite only."""

import pytest

from accounts.models import Account, User
from tests.support.pages import all_pages, browser_for, populate_account


@pytest.mark.django_db
def test_every_page_and_every_search_opens(owner: User, account: Account) -> None:
    User.objects.filter(pk=owner.pk).update(is_staff=True, is_superuser=True)
    values = populate_account(owner, account)
    browser = browser_for(User.objects.get(pk=owner.pk))
    # The test client raises what a view raises.
    opened = [
        browser.get(page.path(values), {"q": "shop"}).status_code == 200
        for page in all_pages().values()
    ]
    assert opened.count(True) > 100
