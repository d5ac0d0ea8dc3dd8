"""Functions of upper layers that lower layers call."""

# --- Events of a lower layer, handled inside its transaction --------------------------------------

ON_ACCOUNT_OPENED: list[str] = ["credits.plans.subscriptions.create_wallet_and_subscription"]
ON_ACCOUNT_CLOSED: list[str] = [
    "apikeys.services.revoke_keys_of_closed_account",
    "credits.plans.subscriptions.cancel_billing",
    "credits.automatic_top_ups.services.switch_off_closed_account",
    "credits.payments.sync_with_provider_on_commit",
]
ON_ACCOUNT_ERASED: list[str] = [
    "accounts.webhooks.data.delete_events_and_endpoints",
    "apikeys.services.erase_personal_data",
    "credits.wallet.holds.release_holds",
    "credits.payments.cards.forget_card",
    "validation.request_log.data.delete_requests",
    "validation.probes.data.delete_probes",
    "lists.deletion.retention.delete_lists",
    "validation.account_domains.services.erase_domains",
    "validation.feedback.data.delete_feedback",
]
ON_USER_ERASED: list[str] = [
    "lists.deletion.retention.erase_creator",
    "validation.feedback.data.erase_sender",
]
ON_ACCOUNT_EXPORTED: list[str] = [
    "accounts.webhooks.data.export_events_and_endpoints",
    "apikeys.services.export_keys",
    "credits.export.export_billing",
    "validation.request_log.data.export_requests",
    "lists.export.export_lists",
    "validation.account_domains.services.export_domains",
    "validation.feedback.data.export_feedback",
]
# In rows outside validation/.
ON_ADDRESS_ERASED: list[str] = ["lists.deletion.erasure.erase_address"]
ADDRESS_ERASURES: list[str] = ["lists.deletion.erasure.find_erasure"]
ON_EMAIL_CONFIRMED: list[str] = ["credits.plans.sign_up_credits.grant_sign_up_credits"]
# Exactly one: the domains that staff listed.
STAFF_DOMAINS: list[str] = ["validation.domain_data.staff_domains.current"]
ON_ENGINE_START: list[str] = ["validation.domain_data.releases.start_loading"]
# Exactly one: the file that is attached to an email.
MAIL_ATTACHMENT: list[str] = ["credits.invoice_files.attached_invoice"]
# Exactly one.
KEY_CREDIT_USE: list[str] = ["credits.wallet.key_limits.find_use"]
# Exactly one.
KEY_REQUESTS: list[str] = ["credits.wallet.totals.count_week_requests"]
ON_API_RESPONSE: list[str] = ["validation.request_log.writer.write_response"]
ON_EVERY_DAY: list[str] = [
    "accounts.retention.erase_closed_accounts",
    "accounts.retention.delete_unconfirmed_users",
    "accounts.retention.delete_expired_sessions",
    "accounts.retention.delete_old_invitations",
    "accounts.webhooks.data.delete_old_events",
    "runtime.mail.outbox.delete_old_mails",
    "runtime.mail.recipient_limits.delete_old_recipient_limits",
    "accounts.authentication.second_factor.factors.reencrypt_secrets",
    "accounts.webhooks.keys.reencrypt_keys",
    "apikeys.services.send_expiry_notices",
    "apikeys.models.refusals.delete_old_refusals",
    "credits.orders.daily_jobs.renew_subscriptions",
    "credits.orders.daily_jobs.cancel_old_orders",
    "credits.payments.sync_all_with_provider",
    "credits.plans.sign_up_credits.delete_old_places",
    "credits.wallet.books.check_daily",
    "credits.wallet.totals.roll_up_days",
    "credits.wallet.totals.delete_old_hours",
    "lists.lifecycle.cancel_long_paused",
    "validation.charging.lost_charges.settle_lost_charges",
    "validation.domain_data.releases.download_release",
    "validation.domain_data.new_mail_hosts.find_new_mail_hosts",
    "validation.partitions.create_log_partitions",
    "validation.partitions.create_result_partitions",
    "validation.probes.data.delete_old_probes",
    "validation.request_log.retention.delete_old_replays",
    "validation.request_log.retention.delete_old_results",
    "validation.request_log.retention.delete_old_log_entries",
    "validation.feedback.data.delete_old_feedback",
    "lists.deletion.retention.delete_unfinished_uploads",
    "lists.deletion.retention.expire_lists",
]
# About once per second.
ON_WORKER_ROUND: list[str] = [
    "credits.invoice_files.draw_invoices",
    "credits.payments.automatic_orders.pay_automatic_orders",
    "apikeys.services.record_expired_keys",
    "credits.usage_alerts.send_due_alerts",
]
# What the background worker measures every 15 seconds.
QUEUE_MEASURES: list[str] = [
    "lists.processing.metrics.measure",
    "accounts.webhooks.metrics.measure",
    "validation.partitions.measure",
    "validation.probes.metrics.measure",
]

# Exactly one: what /readyz reports, for the status page.
SERVICE_HEALTH: list[str] = ["config.health.check_health"]

# --- The types of events, in the order of the docs ------------------------------------------------

EVENT_TYPES: list[str] = [
    "credits.event_types.CREDITS_LOW",
    "credits.event_types.CREDITS_EXHAUSTED",
    "credits.event_types.CREDITS_GRANTED",
    "credits.event_types.ORDER_PAID",
    "credits.event_types.ORDER_REFUNDED",
    "credits.event_types.PLAN_CHANGED",
    "apikeys.event_types.KEY_CREATED",
    "apikeys.event_types.KEY_ROTATED",
    "apikeys.event_types.KEY_REVOKED",
    "apikeys.event_types.KEY_EXPIRING",
    "apikeys.event_types.KEY_EXPIRED",
    "apikeys.event_types.KEY_CREDIT_LIMIT_REACHED",
    "lists.event_types.LIST_READY",
    "lists.event_types.LIST_RESULTS_READY",
    "lists.event_types.LIST_COMPLETED",
    "lists.event_types.LIST_FAILED",
    "lists.event_types.LIST_PAUSED",
    "lists.event_types.LIST_CANCELED",
    "validation.event_types.CHECK_COMPLETED",
    "validation.event_types.FEEDBACK_ANSWERED",
    "accounts.events.declared.MEMBER_JOINED",
    "accounts.events.declared.MEMBER_REMOVED",
    "accounts.events.declared.ACCOUNT_SUSPENDED",
    "accounts.events.declared.ACCOUNT_REINSTATED",
    "credits.event_types.USAGE_UNUSUAL",
    "accounts.events.declared.WEBHOOK_TEST",
]

# --- The tools of POST /v1/mcp, in their order ----------------------------------------------------

MCP_TOOLS: list[str] = [
    "validation.mcp_tools.VALIDATE_EMAIL",
    "validation.mcp_tools.VALIDATE_EMAILS",
    "credits.mcp_tools.GET_CREDITS",
    "lists.mcp_tools.GET_LIST",
    "lists.mcp_tools.CLEAN_LIST",
]

# --- What each layer adds to the admin ------------------------------------------------------------

# In this order.
STAFF_TRENDS: list[str] = [
    "accounts.staff.trends.sign_up_trend",
    "credits.staff.trends.revenue_trend",
    "credits.staff.trends.validation_trends",
    "apikeys.staff.panels.refusal_trend",
]
STAFF_PANELS: list[str] = [
    "credits.staff.panels.low_balances_panel",
    "apikeys.staff.panels.refusals_panel",
    "credits.staff.panels.unpaid_orders_panel",
    "credits.staff.panels.pending_grants_panel",
    "credits.staff.panels.paid_plans_panel",
    "accounts.staff.background_panels.daily_jobs_panel",
    "accounts.staff.background_panels.emails_panel",
    "accounts.staff.webhook_panels.webhooks_panel",
    "lists.staff.lists.lists_panel",
    "validation.staff.mailbox_checks.mailbox_checks_panel",
    "validation.staff.feedback.feedback_panel",
    "validation.staff.mail_hosts.mail_hosts_panel",
    "reference.admin.incidents_panel",
]
# Their tabs are in this order.
STAFF_ACCOUNT_PANELS: list[str] = [
    "accounts.staff.account_panels.about_panel",
    "validation.staff.account_panels.overview_panel",
    "validation.staff.account_panels.usage_by_key_panel",
    "validation.staff.account_panels.requests_panel",
    "apikeys.staff.panels.account_refusals_panel",
    "lists.staff.lists.account_lists_panel",
    "credits.staff.account_panels.balance_panel",
    "credits.staff.top_up_panel.automatic_top_up_panel",
    "credits.staff.account_panels.ledger_panel",
    "credits.staff.account_panels.orders_panel",
    "apikeys.staff.panels.keys_panel",
    "accounts.staff.webhook_panels.account_webhooks_panel",
    "validation.staff.feedback.account_feedback_panel",
    "validation.staff.domains.domains_panel",
    "accounts.staff.account_panels.members_panel",
    "accounts.staff.account_panels.audit_panel",
]
# A text that contains an API key goes only to STAFF_SECRET_SEARCHES.
STAFF_SEARCHES: list[str] = [
    "accounts.staff.search.find_accounts",
    "accounts.staff.search.find_users",
    "apikeys.staff.search.find_keys",
    "credits.staff.search.find_orders",
    "credits.staff.search.find_holds",
    "validation.staff.request_log.find_requests",
    "lists.staff.search.find_lists",
]
STAFF_SECRET_SEARCHES: list[str] = ["apikeys.staff.search.find_pasted_key"]
