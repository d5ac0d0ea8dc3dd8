from accounts.staff.panels import Hit, SearchResults, admin_link, require_staff_permissions
from lists.models import AddressList


@require_staff_permissions("lists.view_addresslist", "accounts.view_account")
def find_lists(text: str) -> SearchResults:
    lists = AddressList.objects.none()
    if text.startswith("lst_"):
        lists = AddressList.objects.filter(public_id=text).select_related("account")
    hits = [
        Hit(
            admin_link(address_list, address_list.public_id),
            f"{address_list.state}, {address_list.addresses:,} addresses",
            [admin_link(address_list.account)],
            is_exact=True,
        )
        for address_list in lists
    ]
    return SearchResults("Lists", hits)
