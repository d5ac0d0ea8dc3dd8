"""List the pages of the docs. URLs, navigation and tests are generated from this list. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Page:
    # The URL name, as in `docs:show-sandbox`. The template is then docs/show_sandbox.html.
    name: str
    path: str
    title: str
    # Shown below the title and used as the meta description.
    summary: str
    # For a page of the API reference: the operations' tag in the OpenAPI document.
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
        if self.tag:
            return "docs/show_operations.html"
        return f"docs/{self.name.replace('-', '_')}.html"


@dataclass(frozen=True)
class Group:
    title: str
    pages: tuple[Page, ...]


GROUPS = (
    Group(
        "Get started",
        (
            Page(
                "show-guide",
                "",
                "Quickstart",
                "Send your first request in two minutes.",
            ),
            Page(
                "show-authentication",
                "authentication/",
                "Authentication",
                "Authenticate requests with an API key, and keep your keys safe.",
            ),
        ),
    ),
    Group(
        "Guides",
        (
            Page(
                "show-validate",
                "validate/",
                "Validate an address",
                "The request, the response, and what each field means.",
            ),
            Page(
                "show-batch",
                "batch/",
                "Validate a batch",
                "Up to 100 addresses in one request.",
            ),
            Page(
                "show-lists",
                "lists/",
                "Validate a list",
                "Files with up to millions of addresses, validated in the background.",
            ),
            Page(
                "show-mailing-list",
                "mailing-list/",
                "Clean a mailing list",
                "From an export of your list to the addresses that you can send to.",
            ),
            Page(
                "show-results",
                "results/",
                "Results and feedback",
                "Get a result again, and tell us if a verdict is wrong.",
            ),
            Page(
                "show-verdicts",
                "verdicts/",
                "Verdicts and reasons",
                "What each verdict and reason means, and what to do about it.",
            ),
            Page(
                "show-domains",
                "domains/",
                "Your own domains",
                "Domains whose addresses you accept unless undeliverable, or always reject.",
            ),
            Page(
                "show-rate-limits",
                "rate-limits/",
                "Rate limits",
                "Requests per minute, the headers that report your limit, and a retry loop.",
            ),
            Page(
                "show-credits",
                "credits/",
                "Credits and plans",
                "What requests cost, plans and packs, and how to handle a 402.",
            ),
            Page(
                "show-idempotency",
                "idempotency/",
                "Idempotency",
                "Retry requests safely, without paying twice.",
            ),
            Page(
                "show-sandbox",
                "sandbox/",
                "Sandbox",
                "Test addresses that return every result and every error, free of charge.",
            ),
        ),
    ),
    Group(
        "Reference",
        (
            Page(
                "show-reference",
                "api/",
                "API reference",
                "All operations, and the headers of every response.",
            ),
            Page(
                "show-validation-operations",
                "api/validation/",
                "Validation operations",
                "Validate one or up to 100 addresses, get a result again, and send feedback.",
                tag="Validation",
            ),
            Page(
                "show-list-operations",
                "api/lists/",
                "List operations",
                "Upload, start, follow, and download lists of addresses.",
                tag="Lists",
            ),
            Page(
                "show-domain-operations",
                "api/domains/",
                "Domain operations",
                "Read and replace the domains that your account allows or denies.",
                tag="Domains",
            ),
            Page(
                "show-account-operations",
                "api/account/",
                "Account operations",
                "Read the balance, usage, and rate limit of a key.",
                tag="Account",
            ),
            Page(
                "show-errors",
                "errors/",
                "Errors",
                "Every error code, its cause, and how to fix it.",
            ),
        ),
    ),
    Group(
        "Releases",
        (
            Page(
                "show-versioning",
                "versioning/",
                "Versioning",
                "What can change within v1, and how we announce breaking changes.",
            ),
            Page(
                "show-changelog",
                "changelog/",
                "Changelog",
                "What's new in the API, the dashboard, and the docs.",
            ),
        ),
    ),
)
PAGES = tuple(page for group in GROUPS for page in group.pages)


def neighbors(page: Page) -> tuple[Page | None, Page | None]:
    """Return the previous and the next page, or None at either end."""
    padded = (None, *PAGES, None)
    index = padded.index(page)
    return padded[index - 1], padded[index + 1]
