"""What staff of each group may do in the admin. The groups are made after each migration."""

_LOOK_AT_CUSTOMERS = [
    "accounts.view_account",
    "accounts.view_auditentry",
    "accounts.view_invitation",
    "accounts.view_lease",
    "accounts.view_mail",
    "accounts.view_membership",
    "accounts.view_user",
    "apikeys.view_apikey",
]
GROUPS = {
    "Support": [
        *_LOOK_AT_CUSTOMERS,
        "accounts.suspend_account",
        "accounts.change_mail",
        "apikeys.revoke_apikey",
    ],
    "Finance": _LOOK_AT_CUSTOMERS,
}
