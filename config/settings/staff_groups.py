"""Define each staff group's permissions. A post-migrate handler creates the groups."""

_VIEWED_MODELS = {
    "runtime": "lease mail",
    "accounts": "account auditentry invitation membership user",
    "apikeys": "apikey refusalhour",
    "credits": "automatictopup hold ledgerentry order pack plan providerevent "
    "staffgrant subscription useday usehour wallet",
    "validation": "accountdomains listeddomain logentry mailhostpace unprobeddomain",
    "lists": "addresslist",
}
_VIEW_PERMISSIONS = [
    f"{app}.view_{model}" for app, models in _VIEWED_MODELS.items() for model in models.split()
]
GROUPS = {
    "Support": [
        *_VIEW_PERMISSIONS,
        "accounts.suspend_account",
        "runtime.change_mail",
        "apikeys.revoke_apikey",
        "lists.change_addresslist",
        # Feedback contains addresses.
        "validation.view_feedback",
        "validation.change_feedback",
        "validation.erase_address",
        "validation.add_listeddomain",
        "validation.change_listeddomain",
        "validation.delete_listeddomain",
        "validation.change_mailhostpace",
        "validation.add_unprobeddomain",
        "validation.change_unprobeddomain",
        "validation.delete_unprobeddomain",
    ],
    "Finance": [
        *_VIEW_PERMISSIONS,
        "credits.grant_credits",
        "credits.deduct_credits",
        "credits.mark_paid_order",
        "credits.refund_order",
    ],
}
