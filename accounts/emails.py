"""Queue account emails, one function per email, in the caller's transaction.

Subject and text are templates. The HTML part is generated from the text, so the two never differ.
"""

import re
from typing import Any

from django.conf import settings
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse

from accounts.date_display import DEFAULT_DISPLAY, use_date_display
from accounts.models import Account, Invitation, User
from accounts.names import is_plain_address, quoted_name
from accounts.roles import ROLE_DESCRIPTIONS, Role
from runtime.mail import outbox
from runtime.models import RecipientLimit
from runtime.unicode import show_invisible

# Anyone can send these to any address, so runtime/mail/recipient_limits.py limits them.
RATE_LIMITED_TEMPLATES = {
    "account/email/account_already_exists",
    "account/email/email_confirmation",
    "account/email/email_confirmation_signup",
    "account/email/login_code",
    "account/email/password_reset_key",
    "account/email/unknown_account",
    "accounts/mails/invitation",
}
_CODE = re.compile(r"[A-Z0-9]{3,4}-[A-Z0-9]{3,4}")


def link(view: str, **arguments: Any) -> str:
    """Build an absolute URL from BASE_URL, never from the Host header of a request."""
    return f"{settings.BASE_URL}{reverse(view, kwargs=arguments)}"


def queue_invitation(*, invitation: Invitation, token: str) -> bool:
    """Queue the invitation. Returns False if the recipient's limit dropped it."""
    context = {
        "account": invitation.account,
        "inviter": _inviter_name(invitation.invited_by),
        "role": Role(invitation.role).label,
        "description": ROLE_DESCRIPTIONS[Role(invitation.role)],
        "link": link("accounts:accept-invitation", token=token),
        "expires_at": invitation.expires_at,
    }
    return queue_email(invitation.email, "accounts/mails/invitation", context)


def _inviter_name(inviter: User | None) -> str:
    """Name the inviter for someone outside the account, without anything that looks like a link."""
    if inviter and inviter.name:
        return quoted_name(inviter.name)
    return inviter.email if inviter and is_plain_address(inviter.email) else "A team member"


def queue_member_removed(*, account: Account, to: str) -> None:
    queue_email(to, "accounts/mails/member_removed", {"account": account})


def queue_account_closed(*, account: Account, to: str) -> None:
    queue_email(to, "accounts/mails/account_closed", {"account": account})


def queue_second_factor_removed(*, to: str, kind: str) -> None:
    queue_email(to, "accounts/mails/second_factor_removed", {"kind": kind})


def queue_sign_in_email(
    *, template: str, to: str, context: dict[str, Any], is_known: bool = False
) -> bool:
    """Queue one of allauth's emails: a code, a link, or a notice of a changed password or factor.

    `is_known`: the recipient has signed in before in the browser that requested the email.
    """
    return queue_email(to, template, context, is_known=is_known)


@transaction.atomic
def queue_email(to: str, template: str, context: dict[str, Any], *, is_known: bool = False) -> bool:
    """Queue the email, or return False if the recipient's limit dropped it."""
    kind = template.rpartition("/")[2]
    is_limited = template in RATE_LIMITED_TEMPLATES and not is_known
    if is_limited and not RecipientLimit.objects.consume(to, kind):
        return False
    context = {**context, "base_url": settings.BASE_URL, "support_email": settings.SUPPORT_EMAIL}
    # Times in emails are in UTC, also if a request of a user with another time zone sends them.
    with use_date_display(DEFAULT_DISPLAY):
        subject = show_invisible(render_to_string(f"{template}_subject.txt", context))
        text = show_invisible(render_to_string(f"{template}_message.txt", context).strip()) + "\n"
    html = render_to_string("mails/layout.html", {"paragraphs": _paragraphs(text)})
    outbox.queue_mail(to=to, subject=subject, text=text, html=html)
    return True


def _paragraphs(text: str) -> list[tuple[str, str]]:
    """Split the text into paragraphs, each with its kind: `link`, `code`, or `words`."""
    return [(_paragraph_kind(part), part) for part in re.split(r"\n\s*\n", text.strip())]


def _paragraph_kind(paragraph: str) -> str:
    if paragraph.startswith(("https://", "http://")) and not re.search(r"\s", paragraph):
        return "link"
    return "code" if _CODE.fullmatch(paragraph) else "words"
