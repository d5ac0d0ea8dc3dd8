"""The permissions of each staff group. A post-migrate handler creates the groups."""

_VIEW_PERMISSIONS = [
    "accounts.view_account",
    "accounts.view_auditentry",
    "accounts.view_invitation",
    "runtime.view_lease",
    "runtime.view_mail",
    "accounts.view_membership",
    "accounts.view_user",
    "apikeys.view_apikey",
    "apikeys.view_refusalhour",
    "credits.view_ledgerentry",
    "credits.view_order",
    "credits.view_pack",
    "credits.view_plan",
    "credits.view_providerevent",
    "credits.view_staffgrant",
    "credits.view_subscription",
    "credits.view_useday",
    "credits.view_usehour",
    "credits.view_wallet",
    "validation.view_listeddomain",
    "validation.view_logentry",
]
GROUPS = {
    "Support": [
        *_VIEW_PERMISSIONS,
        "accounts.suspend_account",
        "runtime.change_mail",
        "apikeys.revoke_apikey",
        "validation.erase_address",
        "validation.add_listeddomain",
        "validation.change_listeddomain",
        "validation.delete_listeddomain",
    ],
    "Finance": [
        *_VIEW_PERMISSIONS,
        "credits.grant_credits",
        "credits.take_back_credits",
        "credits.mark_paid_order",
        "credits.refund_order",
    ],
}
