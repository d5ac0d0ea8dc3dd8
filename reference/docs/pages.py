"""List the docs' pages, for URLs, navigation and tests."""

from dataclasses import dataclass

from django.conf import settings


@dataclass(frozen=True)
class DocsPage:
    # The URL name, as in `docs:show-sandbox`.
    name: str
    path: str
    title: str
    # Shown below the title and used as the meta description.
    summary: str
    # The operations' tag in the OpenAPI document. Empty outside the API reference.
    tag: str = ""

    @property
    def view_name(self) -> str:
        return f"docs:{self.name}"

    @property
    def markdown_path(self) -> str:
        return f"{self.path.removesuffix('/') or 'index'}.md"

    @property
    def markdown_view_name(self) -> str:
        return f"{self.view_name}-markdown"

    @property
    def template(self) -> str:
        return f"docs/pages/{'operations.md' if self.tag else self.markdown_path}"

    @property
    def has_columns(self) -> bool:
        """Return whether code samples are on the right of wide pages."""
        return self.path.startswith(("api/", "errors/"))


@dataclass(frozen=True)
class DocsGroup:
    title: str
    pages: tuple[DocsPage, ...]


# Only where mailbox checks are on.
MAILBOX_PAGES = (
    DocsPage(
        "show-mailbox",
        "mailbox/",
        "Check a mailbox",
        "Ask the mail server whether a mailbox exists: what can be known, and what can't.",
    ),
)[: settings.PROBE_MAILBOX_CHECKS]

GROUPS = (
    DocsGroup(
        "Get started",
        (
            DocsPage("show-guide", "", "Quickstart", "Send your first request in two minutes."),
            DocsPage(
                "show-clients",
                "clients/",
                "Clients",
                "Python, TypeScript and the command line: install them, and what they do for you.",
            ),
            DocsPage(
                "show-authentication",
                "authentication/",
                "Authentication",
                "Authenticate requests with an API key, and keep your keys safe.",
            ),
        ),
    ),
    DocsGroup(
        "Guides",
        (
            DocsPage(
                "show-validate",
                "validate/",
                "Validate an address",
                "The request, the response, and what each field means.",
            ),
            DocsPage(
                "show-batch", "batch/", "Validate a batch", "Up to 100 addresses in one request."
            ),
            *MAILBOX_PAGES,
            DocsPage(
                "show-sign-up-form",
                "sign-up-form/",
                "Protect a sign-up form",
                "Suggestions while people type, and a check on your server that never blocks them.",
            ),
            DocsPage(
                "show-lists",
                "lists/",
                "Validate a list",
                "Files with up to millions of addresses, validated in the background.",
            ),
            DocsPage(
                "show-mailing-list",
                "mailing-list/",
                "Clean a mailing list",
                "From an export of your list to the addresses that you can send to.",
            ),
            DocsPage(
                "show-command-line",
                "command-line/",
                "Clean a list from the command line",
                "One command that uploads a file, waits, and writes the results.",
            ),
            DocsPage(
                "show-mcp",
                "mcp/",
                "Use it from an assistant (MCP)",
                "Let an assistant validate addresses, within the limits that you set.",
            ),
            DocsPage(
                "show-results",
                "results/",
                "Results and feedback",
                "Get a result again, and tell us if a verdict is wrong.",
            ),
            DocsPage(
                "show-verdicts",
                "verdicts/",
                "Verdicts and reasons",
                "What each verdict and reason means, and what to do about it.",
            ),
            DocsPage(
                "show-accuracy",
                "accuracy/",
                "Accuracy",
                "What we measured, on which public data, and what nobody can know.",
            ),
            DocsPage(
                "show-domains",
                "domains/",
                "Your own domains",
                "Domains whose addresses you accept unless undeliverable, or always reject.",
            ),
            DocsPage(
                "show-events", "events/", "Events", "Changes in your account, and how to catch up."
            ),
            DocsPage(
                "show-webhooks",
                "webhooks/",
                "Webhooks",
                "Let us send events to your server: signatures, retries, and replay.",
            ),
            DocsPage(
                "show-verify-webhooks",
                "verify-webhooks/",
                "Verify webhooks",
                "Check that an event comes from us: with a client, a library, or a few lines.",
            ),
            DocsPage(
                "show-rate-limits",
                "rate-limits/",
                "Rate limits",
                "Requests per minute, the headers that report your limit, and a retry loop.",
            ),
            DocsPage(
                "show-credits",
                "credits/",
                "Credits and plans",
                "What requests cost, plans and packs, and how to handle a 402.",
            ),
            DocsPage(
                "show-idempotency",
                "idempotency/",
                "Idempotency",
                "Retry requests safely, without paying twice.",
            ),
            DocsPage(
                "show-sandbox",
                "sandbox/",
                "Sandbox",
                "Test addresses that return every result and every error, free of charge.",
            ),
        ),
    ),
    DocsGroup(
        "Reference",
        (
            DocsPage(
                "show-reference",
                "api/",
                "API reference",
                "All operations, and the headers of every response.",
            ),
            DocsPage(
                "show-validation-operations",
                "api/validation/",
                "Validation operations",
                "Validate one or up to 100 addresses, get a result again, and send feedback.",
                tag="Validation",
            ),
            DocsPage(
                "show-list-operations",
                "api/lists/",
                "List operations",
                "Upload, start, follow, and download lists of addresses.",
                tag="Lists",
            ),
            DocsPage(
                "show-domain-operations",
                "api/domains/",
                "Domain operations",
                "Read and replace the domains that your account allows or denies.",
                tag="Domains",
            ),
            DocsPage(
                "show-event-operations",
                "api/events/",
                "Event operations",
                "Read what happened in your account.",
                tag="Events",
            ),
            DocsPage(
                "show-webhook-operations",
                "api/webhooks/",
                "Webhook operations",
                "Create, change, test, and rotate webhooks, and replay their deliveries.",
                tag="Webhooks",
            ),
            DocsPage(
                "show-account-operations",
                "api/account/",
                "Account operations",
                "Read the balance, usage, and rate limit of a key.",
                tag="Account",
            ),
            DocsPage(
                "show-errors",
                "errors/",
                "Errors",
                "Every error code, its cause, and how to fix it.",
            ),
        ),
    ),
    DocsGroup(
        "Releases",
        (
            DocsPage(
                "show-versioning",
                "versioning/",
                "Versioning",
                "What can change within v1, and how we announce breaking changes.",
            ),
            DocsPage(
                "show-changelog",
                "changelog/",
                "Changelog",
                "What's new in the API, the dashboard, and the docs.",
            ),
        ),
    ),
)
PAGES = tuple(page for group in GROUPS for page in group.pages)


def neighbors(page: DocsPage) -> tuple[DocsPage | None, DocsPage | None]:
    padded = (None, *PAGES, None)
    index = padded.index(page)
    return padded[index - 1], padded[index + 1]
