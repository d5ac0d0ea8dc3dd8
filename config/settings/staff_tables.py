"""Group the tables on the admin's front page. Those without permission are left out."""

STAFF_TABLES = {
    "Customers": (
        *("accounts.Account", "accounts.User", "accounts.Invitation", "accounts.AuditEntry"),
        *("account.EmailAddress", "mfa.Authenticator", "apikeys.ApiKey"),
    ),
    "Billing": (
        *("credits.Order", "credits.Subscription", "credits.Wallet", "credits.LedgerEntry"),
        *("credits.StaffGrant", "credits.Hold", "credits.Plan", "credits.Pack"),
        "credits.ProviderEvent",
    ),
    "Usage": (*("validation.LogEntry", "lists.AddressList", "apikeys.RefusalHour"),),
    "Verdicts": (
        *("validation.Feedback", "validation.ListedDomain", "validation.NewMailHost"),
        *("validation.AccountDomains", "validation.UnprobedDomain", "validation.MailHostPace"),
    ),
    "Operations": ("reference.Incident", "runtime.Mail", "runtime.Lease", "auth.Group"),
}
