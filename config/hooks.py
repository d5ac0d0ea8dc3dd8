"""Seams: who is told what happens on another floor, and asked what it needs. Part of the settings.

Each line is the dotted path of a function. docs/architecture.md says what each is handed.
"""

# --- What a lower floor tells the upper ones, inside its own transaction --------------------------

ON_ACCOUNT_OPENED: list[str] = ["credits.plans.subscriptions.open_books"]
ON_ACCOUNT_CLOSED: list[str] = [
    "apikeys.services.revoke_keys_of_closed",
    "credits.plans.subscriptions.close_books",
    "credits.payments.catch_up_later",
]
ON_ACCOUNT_REOPENED: list[str] = []
ON_ACCOUNT_ERASED: list[str] = [
    "apikeys.services.forget_people",
    "validation.request_log.retention.forget_requests",
]
ON_ACCOUNT_EXPORTED: list[str] = [
    "apikeys.services.export_keys",
    "credits.export.export_books",
    "validation.request_log.export.export_requests",
]
ON_EMAIL_CONFIRMED: list[str] = ["credits.plans.sign_up_credits.give_sign_up_credits"]
# Not told but asked: the domains that staff listed, for the engine.
STAFF_DOMAINS = "validation.domain_data.staff_domains.current"
ON_API_ANSWER: list[str] = ["validation.request_log.writer.write_other"]
ON_EVERY_DAY: list[str] = [
    "accounts.retention.erase_closed_accounts",
    "accounts.retention.delete_unconfirmed_users",
    "accounts.retention.delete_expired_sessions",
    "accounts.retention.delete_old_invitations",
    "runtime.mail.retention.delete_old_mails",
    "runtime.mail.retention.delete_old_recipient_limits",
    "accounts.authentication.second_factor.factors.seal_again",
    "apikeys.services.announce_expiries",
    "apikeys.throttling.refusal_counts.delete_old_refusals",
    "credits.orders.renewals.renew_subscriptions",
    "credits.orders.renewals.cancel_old_orders",
    "credits.payments.catch_up_all",
    "credits.plans.sign_up_credits.delete_old_places",
    "credits.wallet.totals.sum_up_days",
    "credits.wallet.totals.delete_old_hours",
    "validation.lost_charges.settle_lost_charges",
    "validation.request_log.retention.delete_old_replays",
    "validation.request_log.retention.delete_old_log_entries",
]

# --- What each floor tells staff, who look from the roof ------------------------------------------

# On the admin's front page, in this order: each answers one question.
STAFF_PANELS: list[str] = [
    "credits.staff.panels.tell_running_dry",
    "apikeys.staff.panels.tell_refusals",
    "credits.staff.panels.tell_unpaid_orders",
    "credits.staff.panels.tell_pending_grants",
    "credits.staff.panels.tell_who_pays",
    "accounts.staff.background_panels.tell_daily_work",
    "accounts.staff.background_panels.tell_mails",
]
# On the page of one account's usage.
STAFF_ACCOUNT_PANELS: list[str] = [
    "credits.staff.account_panels.tell_balance",
    "validation.staff.account_panels.tell_requests",
    "apikeys.staff.panels.tell_refusals_of",
    "validation.staff.account_panels.tell_use_by_day",
    "validation.staff.account_panels.tell_use_by_key",
    "credits.staff.account_panels.tell_ledger",
    "credits.staff.account_panels.tell_orders",
]
# What the admin's one box finds. A text that holds an API key is handed to the last list alone.
STAFF_SEARCHES: list[str] = [
    "accounts.staff.search.find_accounts",
    "accounts.staff.search.find_users",
    "apikeys.staff.search.find_keys",
    "credits.staff.search.find_orders",
    "validation.staff.search.find_requests",
]
STAFF_SECRET_SEARCHES: list[str] = ["apikeys.staff.search.find_pasted_key"]
