from accounts.emails import link, queue_email
from accounts.roles import Role
from lists.event_types import LIST_FAILED, LIST_RESULTS_READY
from lists.models import AddressList
from runtime.mail.rendering import EmailRow


def queue_list_results(address_list: AddressList, rechecked: int) -> None:
    """Announce the results. `rechecked` unknown ones may be checked again."""
    counts = address_list.verdict_counts.items()
    rows = [EmailRow(verdict.capitalize(), f"{count:,}", "amount") for verdict, count in counts]
    rows.append(EmailRow("Addresses", f"{address_list.addresses:,}", "total"))
    summary = ", ".join(f"{count:,} {verdict}" for verdict, count in counts)
    context = {"counts": summary, "rows": rows, "rechecked": rechecked}
    _queue("list_results", address_list, event_type=LIST_RESULTS_READY, **context)


def queue_list_failed(address_list: AddressList) -> None:
    _queue("list_failed", address_list, event_type=LIST_FAILED)


def _queue(template: str, address_list: AddressList, **context: object) -> None:
    """Email the list's or its key's creator, or the owners if the creator left the account."""
    members = address_list.account.memberships.select_related("user")
    creators = members.filter(user__email=address_list.created_by)
    if not creators and address_list.key is not None:
        creators = members.filter(user=address_list.key.created_by)
    page = link("lists:show-list", list_id=address_list.public_id)
    context |= {"list": address_list, "account": address_list.account, "link": page}
    for member in creators or members.filter(role=Role.OWNER):
        queue_email(member.user.email, f"lists/mails/{template}", context)
