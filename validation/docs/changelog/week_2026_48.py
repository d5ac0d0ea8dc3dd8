"""What customers noticed in week 48 of 2026, newest first."""

from datetime import date

from validation.docs.changelog.entry import DOCS, Entry

ENTRIES = (
    Entry(
        "downloads-of-lists",
        date(2026, 11, 23),
        "Dashboard",
        "Downloads of lists fit your spreadsheet program",
        "The page of a list names the downloaded file after the list, and separates columns with "
        "semicolons if your file does. Results can be downloaded as soon as all addresses have "
        "one, while unknown ones are checked again.",
        DOCS["show-mailing-list"],
    ),
    Entry(
        "more-disposable-domains",
        date(2026, 11, 23),
        "API",
        "More disposable domains, fewer wrong suggestions",
        "We know 2,600 more disposable domains, and roles such as `buhgalteria` and `salg` in more "
        "languages. 82 companies' domains that resemble a provider's, such as indra.com, no longer "
        "get a `did_you_mean`. `mx.provider` has four new codes, among them `cloudmark`.",
    ),
    Entry(
        "refunds-of-an-order",
        date(2026, 11, 23),
        "Dashboard",
        "Refunds on the page of an order",
        "An order's page lists each refund with its date, and what you paid after all of them. "
        'Orders of which a part was refunded are marked "Partly refunded".',
    ),
    Entry(
        "openapi-version",
        date(2026, 11, 23),
        "Docs",
        "The release in openapi.json",
        "`info.version` in `openapi.json` is the version of our software instead of `1`. The API's "
        "version is still the `/v1` in its paths.",
        DOCS["show-versioning"],
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
        "402 `key_credit_limit_reached`, and we send an email at 80% of the limit, and when it is "
        "reached. Set it under Settings → API Keys.",
    ),
    Entry(
        "automatic-top-up",
        date(2026, 11, 23),
        "Dashboard",
        "Saved cards and automatic top-up",
        "Save a card under Billing or while you pay for a pack, and automatic top-up buys a pack "
        "when your balance falls below a threshold, up to the monthly cap that you set.",
        DOCS["show-credits"],
    ),
    Entry(
        "mailing-list-guide",
        date(2026, 11, 23),
        "Docs",
        "A guide to cleaning a mailing list",
        "From an export of your list to the addresses that you can send to, in the dashboard or "
        "with a script.",
        DOCS["show-mailing-list"],
    ),
    Entry(
        "disposable-hosts",
        date(2026, 11, 23),
        "API",
        "More disposable domains, and parked ones",
        "We now recognize disposable domains by their mail hosts too, and by name from the votes "
        "of eight public lists. `lists.disposable_by` says which one applies. The new reason "
        "`parked` marks domains whose mail goes to a domain parking service.",
        DOCS["show-verdicts"],
    ),
    Entry(
        "gateway-ipv4",
        date(2026, 11, 23),
        "API",
        "Security gateways and mail hosts without IPv4",
        "Results have two new fields: `mx.gateway`, true if a security gateway receives the "
        "domain's mail, and `mx.ipv4`, false if its mail hosts have only IPv6 addresses. "
        "`mx.provider` recognizes many more providers.",
        DOCS["show-validate"],
    ),
    Entry(
        "domains",
        date(2026, 11, 23),
        "API",
        "Your own domains",
        "Choose domains whose addresses you always reject, or accept unless they're "
        "undeliverable, with `PUT /v1/domains` or under Settings → Domains. `account_list` in a "
        "result says which list applies.",
        DOCS["show-domains"],
    ),
    Entry(
        "results",
        date(2026, 11, 23),
        "API",
        "Get a result again, and report a wrong verdict",
        "`GET /v1/validations/{id}` returns a result again for 24 hours, free of charge. With "
        "`POST /v1/validations/{id}/feedback`, or on a request's page, you tell us that a verdict "
        "is wrong, and get an answer.",
        DOCS["show-results"],
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
        DOCS["show-lists"],
    ),
    Entry(
        "playground-batches",
        date(2026, 11, 23),
        "Dashboard",
        "Validate several addresses in the playground",
        "Paste up to 100 addresses under Playground → Several addresses. You get a table of "
        "verdicts with reasons and suggestions, a CSV file, and the same request as code. Requests "
        "can be filtered by a batch ID.",
        DOCS["show-batch"],
    ),
    Entry(
        "batch",
        date(2026, 11, 23),
        "API",
        "Validate up to 100 addresses in one request",
        "`POST /v1/validate/batch` returns the results in the order of the addresses. Repeated "
        "addresses and unknown results are free.",
        DOCS["show-batch"],
    ),
    Entry(
        "held-credits",
        date(2026, 11, 23),
        "API",
        "Held credits",
        "`GET /v1/credits` has a new field, `held`: credits held for lists in progress. What "
        "they don't use returns to your balance.",
        DOCS["show-credits"],
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
        DOCS["show-reference"],
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
)
