"""Queue account emails in the caller's transaction."""

from typing import Any

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils.formats import date_format

from accounts.date_display import DEFAULT_DISPLAY, use_date_display
from accounts.models import Account, Invitation, User, WebhookEndpoint
from accounts.names import is_plain_address, quoted_name
from accounts.roles import ROLE_DESCRIPTIONS, Role
from runtime.mail import outbox
from runtime.mail.rendering import EmailRow, render_email
from runtime.models import RecipientLimit

# Anyone can send these, so recipients have a limit.
RATE_LIMITED_TEMPLATES = {
    "account/email/account_already_exists",
    "account/email/email_confirmation",
    "account/email/email_confirmation_signup",
    "account/email/login_code",
    "account/email/password_reset_key",
    "account/email/unknown_account",
    "accounts/mails/invitation",
    "reference/mails/opt_out",
}


def link(view: str, **arguments: Any) -> str:
    """Build a URL from BASE_URL, never from a Host header."""
    return f"{settings.BASE_URL}{reverse(view, kwargs=arguments)}"


def queue_invitation(*, invitation: Invitation, token: str) -> bool:
    """Return False if the recipient's limit dropped it."""
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
    """Name the inviter, without anything that looks like a link."""
    if inviter and inviter.name:
        return quoted_name(inviter.name)
    return inviter.email if inviter and is_plain_address(inviter.email) else "A team member"


def queue_member_removed(*, account: Account, to: str) -> None:
    queue_email(to, "accounts/mails/member_removed", {"account": account})


def queue_account_closed(*, account: Account, to: str) -> None:
    queue_email(to, "accounts/mails/account_closed", {"account": account})


def queue_second_factor_required(
    *, account: Account, actor: User, to: str, has_factor: bool
) -> None:
    context = {"account": account, "actor": actor.display_name(), "has_factor": has_factor}
    context["link"] = link("accounts:add-required-factor")
    queue_email(to, "accounts/mails/second_factor_required", context)


def queue_second_factor_removed(*, to: str, kind: str) -> None:
    queue_email(to, "accounts/mails/second_factor_removed", {"kind": kind})


def queue_webhook_disabled(*, endpoint: WebhookEndpoint) -> None:
    """Notify owners and developers."""
    reason = endpoint.get_disabled_reason_display()
    rows = [EmailRow("Webhook", str(endpoint)), EmailRow("Reason", reason)]
    context = {"account": endpoint.account, "rows": rows}
    members = endpoint.account.memberships.filter(role__in=[Role.OWNER, Role.DEVELOPER])
    for member in members.select_related("user"):
        queue_email(member.user.email, "accounts/mails/webhook_disabled", context)


def queue_sign_in_email(
    *, template: str, to: str, context: dict[str, Any], is_known: bool = False
) -> bool:
    """Queue one of allauth's emails. `is_known`: see accounts/authentication/rate_limits.py."""
    rows = []
    # allauth adds these to its notices only.
    if "timestamp" in context:
        time = date_format(context["timestamp"], "DATETIME_FORMAT")
        rows = [EmailRow("Time", f"{time} UTC"), EmailRow("IP address", str(context["ip"]))]
    context = {
        **context,
        "rows": rows,
        "sign_in_url": link("account_login"),
        "reset_url": link("account_reset_password"),
    }
    return queue_email(to, template, context, is_known=is_known)


@transaction.atomic
def queue_email(
    to: str, template: str, context: dict[str, Any], *, is_known: bool = False, attachment: str = ""
) -> bool:
    """Return False if the recipient's limit dropped it, or the account has turned it off.

    It can turn it off if the context has the `event_type` that the email is about.
    """
    event_type = context.get("event_type")
    if event_type and context["account"].muted_emails.filter(type=event_type.name).exists():
        return False
    kind = template.rpartition("/")[2]
    is_limited = template in RATE_LIMITED_TEMPLATES and not is_known
    if is_limited and not RecipientLimit.objects.consume(to, kind):
        return False
    context = {**context, "base_url": settings.BASE_URL, "support_email": settings.SUPPORT_EMAIL}
    if event_type:
        context["notifications_link"] = link("accounts:show-notifications")
    # In UTC, not the time zone of the user whose request sends it.
    with use_date_display(DEFAULT_DISPLAY):
        email = render_email(template, context)
    outbox.queue_mail(
        to=to, subject=email.subject, text=email.text, html=email.html, attachment=attachment
    )
    return True
