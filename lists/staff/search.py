from accounts.staff.links import account_hit
from accounts.staff.panels import SearchResults, require_staff_permissions
from lists.models import AddressList


@require_staff_permissions("lists.view_addresslist", "accounts.view_account")
def find_lists(text: str) -> SearchResults:
    lists = AddressList.objects.filter(public_id=text).select_related("account")
    hits = [
        account_hit(found, found.public_id, f"{found.state}, {found.addresses:,} addresses")
        for found in lists
    ]
    return SearchResults("Lists", hits)
