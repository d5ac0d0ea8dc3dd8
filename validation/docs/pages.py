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
        return f"docs/{self.name.replace('-', '_')}.html"


@dataclass(frozen=True)
class Group:
    title: str
    pages: tuple[Page, ...]


GROUPS = (
    Group(
        "Start",
        (
            Page(
                "show-guide",
                "",
                "Quickstart",
                "From nothing to the first answer in two minutes.",
            ),
            Page(
                "show-authentication",
                "authentication/",
                "Authentication",
                "How a request proves whose it is, and how a key stays yours.",
            ),
        ),
    ),
    Group(
        "Use the API",
        (
            Page(
                "show-validate",
                "validate/",
                "Validate an address",
                "What you send, what we answer, and what each field means.",
            ),
            Page(
                "show-verdicts",
                "verdicts/",
                "Act on a verdict",
                "What to do with each verdict, at a sign-up form and for a mailing list.",
            ),
            Page(
                "show-rate-limits",
                "rate-limits/",
                "Rate limits",
                "How many requests a minute, where it says so, and a loop that waits just enough.",
            ),
            Page(
                "show-credits",
                "credits/",
                "Credits and plans",
                "What costs a credit and what is free, prices, and what to do about a 402.",
            ),
            Page(
                "show-idempotency",
                "idempotency/",
                "Sending again",
                "Repeat a request as often as you need to, and pay for it once.",
            ),
            Page(
                "show-sandbox",
                "sandbox/",
                "Sandbox",
                "Addresses that give you each result and each error on demand, for nothing.",
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
                "Every operation with its fields, headers and examples.",
            ),
            Page("show-errors", "errors/", "Errors", "Every refusal with its cause and its cure."),
        ),
    ),
    Group(
        "About",
        (
            Page(
                "show-versioning",
                "versioning/",
                "Versions",
                "What may change under /v1, what never will, and how long ahead you would know.",
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
