"""An account's people and its audit log, for tabs of its page."""

from django.db.models import Max

from accounts.models import Account, AuditEntry, Invitation
from accounts.staff.links import account_admin_list_url, link_cell
from accounts.staff.panels import Cell, Fact, Link, Panel, require_staff_permissions

NEWEST = 30


@require_staff_permissions("accounts.view_user", tab="Overview")
def about_panel(account: Account) -> Panel:
    members = account.memberships.select_related("user")
    owner = members.filter(role="owner").first()
    seen = members.aggregate(at=Max("user__last_login"))["at"]
    return Panel(
        "About the account",
        facts=[
            Fact("Owner", link_cell(owner.user) if owner else Cell(None)),
            Fact("Last sign-in", Cell(seen)),
            Fact("Created", Cell(account.created_at)),
            Fact("Requests per minute", Cell(account.request_limit)),
        ],
    )


@require_staff_permissions("accounts.view_membership", "accounts.view_user", tab="Team")
def members_panel(account: Account) -> Panel:
    members = account.memberships.select_related("user")
    return Panel(
        "Members",
        "No members.",
        columns=("Email", "Name", "Role", "Joined", "Last sign-in"),
        rows=[
            [
                link_cell(member.user),
                Cell(member.user.name or None),
                Cell(member.get_role_display()),
                Cell(member.joined_at),
                Cell(member.user.last_login),
            ]
            for member in members
        ],
        more=Link("Invitations", account_admin_list_url(Invitation, account)),
    )


@require_staff_permissions("accounts.view_auditentry", tab="Audit log")
def audit_panel(account: Account) -> Panel:
    return Panel(
        "Audit log",
        "No entries yet.",
        columns=("Time", "Who", "What", "About", "IP address"),
        rows=[
            [
                Cell(entry.at),
                Cell(entry.actor_name),
                link_cell(entry, entry.action_label),
                Cell(entry.target or None),
                Cell(entry.ip),
            ]
            for entry in account.audit_entries.all()[:NEWEST]
        ],
        note=f"The latest {NEWEST} entries.",
        more=Link("Whole audit log", account_admin_list_url(AuditEntry, account)),
    )
