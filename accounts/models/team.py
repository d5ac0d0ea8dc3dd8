from django.db import models
from django.utils import timezone
from django.utils.crypto import salted_hmac

from accounts.models.accounts import Account
from accounts.models.users import User
from accounts.roles import Role, TeamPermission, has_permission, roles_assignable_by
from runtime.ids import random_id


def membership_id() -> str:
    return random_id("mem")


def invitation_id() -> str:
    return random_id("inv")


class MembershipQuerySet(models.QuerySet["Membership"]):
    def in_open_accounts(self) -> "MembershipQuerySet":
        return self.filter(account__closed_at=None).select_related("account")


class Membership(models.Model):
    public_id = models.CharField(
        "ID", max_length=30, unique=True, editable=False, default=membership_id
    )
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=20, choices=Role)
    joined_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "user"], name="membership_once_per_user"),
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="membership_role_is_known"
            ),
        ]
        ordering = ["joined_at", "pk"]

    def __str__(self) -> str:
        return f"{self.user} in {self.account}"

    def has_permission(self, permission: TeamPermission) -> bool:
        return has_permission(Role(self.role), permission)


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def pending(self) -> "InvitationQuerySet":
        return self.filter(accepted_at=None, expires_at__gt=timezone.now())

    def by_token(self, token: str) -> "Invitation | None":
        digest = Invitation.digest(token)
        invitations = self.pending().filter(account__closed_at=None, token=digest)
        invitation = invitations.select_related("account", "invited_by").first()
        return invitation if invitation and invitation.has_authorized_inviter() else None


class Invitation(models.Model):
    public_id = models.CharField(
        "ID", max_length=30, unique=True, editable=False, default=invitation_id
    )
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField(max_length=254)
    role = models.CharField(max_length=20, choices=Role)
    # A digest. Only the email has the token.
    token = models.CharField(max_length=64, unique=True, editable=False)
    invited_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, editable=False)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["account", "email"],
                condition=models.Q(accepted_at=None),
                name="invitation_waits_once_per_email",
            ),
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="invitation_role_is_known"
            ),
        ]
        ordering = ["created_at", "pk"]

    def __str__(self) -> str:
        return f"{self.email} to {self.account}"

    def has_authorized_inviter(self) -> bool:
        """Return whether the inviter may still assign the role."""
        members = Membership.objects.filter(account=self.account_id, user__is_active=True)
        inviter = members.filter(user=self.invited_by_id).first()
        return inviter is not None and Role(self.role) in roles_assignable_by(Role(inviter.role))

    @staticmethod
    def digest(token: str) -> str:
        return salted_hmac("accounts.invitation", token, algorithm="sha256").hexdigest()
