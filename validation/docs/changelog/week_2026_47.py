"""What customers noticed in week 47 of 2026, newest first."""

from datetime import date

from validation.docs.changelog.entry import DOCS, Entry

ENTRIES = (
    Entry(
        "charged-in-503",
        date(2026, 11, 22),
        "API",
        "A 503 says whether you were charged",
        "`details.charged` of a `service_unavailable` error is false if nothing was charged, and "
        "null if we can't know yet. We refund a charge whose response was lost. With an "
        "`Idempotency-Key`, a retry returns the stored result instead.",
        DOCS["show-errors"],
    ),
    Entry(
        "misplaced-keys",
        date(2026, 11, 22),
        "API",
        "Misplaced API keys are pointed out",
        "If a request sends its key in `X-API-Key`, in HTTP Basic, or in the query string, the "
        "401 `missing_api_key` says where the key was found and how to send it.",
        DOCS["show-authentication"],
    ),
    Entry(
        "unknown-parameters",
        date(2026, 11, 22),
        "API",
        "Unknown query parameters are refused",
        "A query parameter that an operation doesn't have is a 400 `unknown_field`. Before, a "
        "misspelled `from` of `GET /v1/usage` returned the last 30 days.",
        DOCS["show-errors"],
    ),
    Entry(
        "lookup-limit",
        date(2026, 11, 22),
        "API",
        "A limit for costly domains",
        "Some domains need an unusual number of DNS messages. If your account validates too many "
        "of them within an hour, new domains are `unknown` with `retry_after_s` 600 until the hour "
        "ends. These results are free.",
        DOCS["show-verdicts"],
    ),
    Entry(
        "second-factor",
        date(2026, 11, 22),
        "Dashboard",
        "Two-factor authentication protects sensitive pages",
        "If you use two-factor authentication, the dashboard asks for it before you change API "
        "keys, your password, your email address, or the owners of an account. At sign-in, you can "
        "use a passkey instead of a code.",
    ),
    Entry(
        "usage-and-requests",
        date(2026, 11, 22),
        "Dashboard",
        "Usage charts and a request log",
        "Usage shows your requests by hour, day, or month, by verdict and by key, and exports them "
        "as CSV. Requests lists every response, with filters and a page for each request that "
        "explains its verdict.",
    ),
    Entry(
        "request-retention",
        date(2026, 11, 22),
        "Dashboard",
        "You decide how long requests are stored",
        "Settings → Data sets how many days your requests are stored, or that they aren't stored "
        "at all. It also erases a single address from your request log and stored responses.",
    ),
    Entry(
        "docs",
        date(2026, 11, 22),
        "Docs",
        "New docs",
        "A quickstart, guides for sign-up forms and mailing lists, an API reference, and a page "
        "for every error. All examples are in curl, Python, or JavaScript, and tested.",
        DOCS["show-guide"],
    ),
    Entry(
        "credits",
        date(2026, 11, 21),
        "API",
        "Credits, plans, and packs",
        "A definite verdict costs 1 credit. Unknown results, errors, and the sandbox are free. "
        "`GET /v1/credits` returns your balance, and `GET /v1/usage` your usage per day.",
        DOCS["show-credits"],
    ),
    Entry(
        "playground",
        date(2026, 11, 21),
        "Dashboard",
        "Playground",
        "Validate an address in the dashboard. You see the API's real response, what it cost, and "
        "the same call in curl, Python, JavaScript, and PHP.",
    ),
    Entry(
        "idempotency",
        date(2026, 11, 21),
        "API",
        "Safe retries",
        "Send an `Idempotency-Key`, and a repeated request returns the first response and costs "
        "nothing for 24 hours.",
        DOCS["show-idempotency"],
    ),
    Entry(
        "validate",
        date(2026, 11, 21),
        "API",
        "Validate an address",
        "`POST /v1/validate` returns a verdict with its reasons, and every check behind it. "
        "Addresses at `sandbox.test` return each result and error for free.",
        DOCS["show-validate"],
    ),
    Entry(
        "api-keys",
        date(2026, 11, 21),
        "Dashboard",
        "API keys",
        "Create keys with an expiry date, allowed networks, and a rate limit of their own. Rotate "
        "a key with a grace period in which the old one still works.",
        DOCS["show-authentication"],
    ),
    Entry(
        "accounts",
        date(2026, 11, 20),
        "Dashboard",
        "Accounts and teams",
        "Invite your team with five roles, sign in with passkeys or an authenticator app, and see "
        "every change in the audit log.",
    ),
)
