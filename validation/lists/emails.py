"""Email the creators of lists that are completed or have failed."""

from accounts.emails import link, queue_email
from runtime.mail.rendering import EmailRow
from validation.models import AddressList

_VERDICTS = ("deliverable", "risky", "undeliverable", "unknown")


def queue_list_completed(address_list: AddressList) -> None:
    counts = {verdict: f"{getattr(address_list, verdict):,}" for verdict in _VERDICTS}
    rows = [EmailRow(verdict.capitalize(), count, "amount") for verdict, count in counts.items()]
    rows.append(EmailRow("Addresses", f"{address_list.addresses:,}", "total"))
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    _queue("list_completed", address_list, counts=summary, rows=rows)


def queue_list_failed(address_list: AddressList) -> None:
    _queue("list_failed", address_list)


def _queue(template: str, address_list: AddressList, **context: object) -> None:
    """Queue the email, unless the creator has left the account. Lists of keys may have none."""
    members = address_list.account.memberships.filter(user__email=address_list.created_by)
    if members.exists():
        page = link("validation:show-list", list_id=address_list.public_id)
        context |= {"list": address_list, "account": address_list.account, "link": page}
        queue_email(address_list.created_by, f"validation/mails/{template}", context)
