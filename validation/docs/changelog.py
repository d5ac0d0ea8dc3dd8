"""List what customers notice, newest first, for the changelog page and its feed. Pure.

Developers and operators read CHANGELOG.md. Text between `backticks` is shown as code.
"""

from dataclasses import dataclass
from datetime import date

from validation.docs.pages import PAGES, Page

_PAGES = {page.name: page for page in PAGES}


@dataclass(frozen=True)
class Entry:
    # The anchor on the page, and part of the id in the feed. Never changes.
    id: str
    day: date
    # API, Dashboard, or Docs.
    area: str
    title: str
    text: str
    # The docs page with the details, if there is one.
    page: Page | None = None


ENTRIES = (
    Entry(
        "openapi-version",
        date(2026, 11, 23),
        "Docs",
        "The release in openapi.json",
        "`info.version` in `openapi.json` is the version of our software instead of `1`. The API's "
        "version is still the `/v1` in its paths.",
        _PAGES["show-versioning"],
    ),
    Entry(
        "required-second-factor",
        date(2026, 11, 23),
        "Dashboard",
        "Require a second factor for your team",
        "Owners can require an authenticator app or a passkey for all members, under Settings → "
        "Team. API keys keep working. Recovery codes can now be copied and printed.",
    ),
    Entry(
        "invoices-as-pdf",
        date(2026, 11, 23),
        "Dashboard",
        "Invoices as PDF, and tax by country",
        "Each order has its invoice or receipt as a PDF file, which is also attached to the email. "
        "Checkout asks for your country and checks your VAT ID, which decide on the tax.",
    ),
    Entry(
        "key-credit-limits",
        date(2026, 11, 23),
        "API",
        "Monthly credit limits for API keys",
        "An API key can have a limit of credits per month. Beyond it, requests are refused with "
        "402 `key_credit_limit_reached`, and we send an email when it is reached. Set it under "
        "Settings → API Keys.",
    ),
    Entry(
        "automatic-top-up",
        date(2026, 11, 23),
        "Dashboard",
        "Saved cards and automatic top-up",
        "Save a card under Billing, and automatic top-up buys a pack when your balance falls below "
        "a threshold, up to the monthly cap that you set.",
        _PAGES["show-credits"],
    ),
    Entry(
        "mailing-list-guide",
        date(2026, 11, 23),
        "Docs",
        "A guide to cleaning a mailing list",
        "From an export of your list to the addresses that you can send to, in the dashboard or "
        "with a script.",
        _PAGES["show-mailing-list"],
    ),
    Entry(
        "disposable-hosts",
        date(2026, 11, 23),
        "API",
        "More disposable domains, and parked ones",
        "We now recognize disposable domains by their mail hosts too, and by name from the votes "
        "of eight public lists. `lists.disposable_by` says which one applies. The new reason "
        "`parked` marks domains whose mail goes to a domain parking service.",
        _PAGES["show-verdicts"],
    ),
    Entry(
        "gateway-ipv4",
        date(2026, 11, 23),
        "API",
        "Security gateways and mail hosts without IPv4",
        "Results have two new fields: `mx.gateway`, true if a security gateway receives the "
        "domain's mail, and `mx.ipv4`, false if its mail hosts have only IPv6 addresses. "
        "`mx.provider` recognizes many more providers.",
        _PAGES["show-validate"],
    ),
    Entry(
        "domains",
        date(2026, 11, 23),
        "API",
        "Your own domains",
        "Choose domains whose addresses you always reject, or accept unless they're "
        "undeliverable, with `PUT /v1/domains` or under Settings → Domains. `account_list` in a "
        "result says which list applies.",
        _PAGES["show-domains"],
    ),
    Entry(
        "results",
        date(2026, 11, 23),
        "API",
        "Get a result again, and report a wrong verdict",
        "`GET /v1/validations/{id}` returns a result again for 24 hours, free of charge. With "
        "`POST /v1/validations/{id}/feedback`, or on a request's page, you tell us that a verdict "
        "is wrong, and get an answer.",
        _PAGES["show-results"],
    ),
    Entry(
        "lists-dashboard",
        date(2026, 11, 23),
        "Dashboard",
        "Lists",
        "Upload a file or paste addresses under Lists, see the price, and download your rows with "
        "their results.",
    ),
    Entry(
        "lists",
        date(2026, 11, 23),
        "API",
        "Validate files in the background",
        "`POST /v1/lists` takes CSV, XLSX and text files. You see the price before you start, and "
        "pay for definite verdicts only.",
        _PAGES["show-lists"],
    ),
    Entry(
        "playground-batches",
        date(2026, 11, 23),
        "Dashboard",
        "Validate several addresses in the playground",
        "Paste up to 100 addresses under Playground → Several addresses. You get a table of "
        "verdicts with reasons and suggestions, a CSV file, and the same request as code. Requests "
        "can be filtered by a batch ID.",
        _PAGES["show-batch"],
    ),
    Entry(
        "batch",
        date(2026, 11, 23),
        "API",
        "Validate up to 100 addresses in one request",
        "`POST /v1/validate/batch` returns the results in the order of the addresses. Repeated "
        "addresses and unknown results are free.",
        _PAGES["show-batch"],
    ),
    Entry(
        "held-credits",
        date(2026, 11, 23),
        "API",
        "Held credits",
        "`GET /v1/credits` has a new field, `held`: credits held for lists in progress. What "
        "they don't use returns to your balance.",
        _PAGES["show-credits"],
    ),
    Entry(
        "preferences",
        date(2026, 11, 23),
        "Dashboard",
        "Theme, time zone, and date format",
        "Choose a light or dark theme, a time zone, and a date format under Settings → Profile. "
        "The API, downloads, and emails still use UTC.",
    ),
    Entry(
        "requests-export",
        date(2026, 11, 23),
        "Dashboard",
        "Find and export requests",
        "Filters in Requests apply as you change them, and include a date range. You can "
        "export the filtered requests as CSV.",
    ),
    Entry(
        "postman-collection",
        date(2026, 11, 23),
        "Docs",
        "Postman collection",
        "Import `/docs/postman.json` into Postman, set the variable `api_key`, and send every "
        "request of the API. `openapi.json` now has an example for every parameter and request "
        "body.",
        _PAGES["show-reference"],
    ),
    Entry(
        "markdown-docs",
        date(2026, 11, 23),
        "Docs",
        "Docs as Markdown, and a feed of changes",
        "Every docs page is also available as Markdown: `/docs/errors/` is at `/docs/errors.md`. "
        "`/llms.txt` lists the pages for AI assistants. Subscribe to this changelog at "
        "`/docs/changelog.atom`.",
    ),
    Entry(
        "charged-in-503",
        date(2026, 11, 22),
        "API",
        "A 503 says whether you were charged",
        "`details.charged` of a `service_unavailable` error is false if nothing was charged, and "
        "null if we can't know yet. We refund a charge whose response was lost. With an "
        "`Idempotency-Key`, a retry returns the stored result instead.",
        _PAGES["show-errors"],
    ),
    Entry(
        "misplaced-keys",
        date(2026, 11, 22),
        "API",
        "Misplaced API keys are pointed out",
        "If a request sends its key in `X-API-Key`, in HTTP Basic, or in the query string, the "
        "401 `missing_api_key` says where the key was found and how to send it.",
        _PAGES["show-authentication"],
    ),
    Entry(
        "unknown-parameters",
        date(2026, 11, 22),
        "API",
        "Unknown query parameters are refused",
        "A query parameter that an operation doesn't have is a 400 `unknown_field`. Before, a "
        "misspelled `from` of `GET /v1/usage` returned the last 30 days.",
        _PAGES["show-errors"],
    ),
    Entry(
        "lookup-limit",
        date(2026, 11, 22),
        "API",
        "A limit for costly domains",
        "Some domains need an unusual number of DNS messages. If your account validates too many "
        "of them within an hour, new domains are `unknown` with `retry_after_s` 600 until the hour "
        "ends. These results are free.",
        _PAGES["show-verdicts"],
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
        _PAGES["show-guide"],
    ),
    Entry(
        "credits",
        date(2026, 11, 21),
        "API",
        "Credits, plans, and packs",
        "A definite verdict costs 1 credit. Unknown results, errors, and the sandbox are free. "
        "`GET /v1/credits` returns your balance, and `GET /v1/usage` your usage per day.",
        _PAGES["show-credits"],
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
        _PAGES["show-idempotency"],
    ),
    Entry(
        "validate",
        date(2026, 11, 21),
        "API",
        "Validate an address",
        "`POST /v1/validate` returns a verdict with its reasons, and every check behind it. "
        "Addresses at `sandbox.test` return each result and error for free.",
        _PAGES["show-validate"],
    ),
    Entry(
        "api-keys",
        date(2026, 11, 21),
        "Dashboard",
        "API keys",
        "Create keys with an expiry date, allowed networks, and a rate limit of their own. Rotate "
        "a key with a grace period in which the old one still works.",
        _PAGES["show-authentication"],
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
