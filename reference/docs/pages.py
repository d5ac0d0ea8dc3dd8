"""List the docs' pages, for URLs, navigation and tests."""

from dataclasses import dataclass

from django.conf import settings

# The others are named after their file, without an ending.
_NAMES = {"index": "show-guide", "api": "show-reference"}


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
    def head(self) -> str:
        return f"# {self.title}\n\n{self.summary}\n\n"

    @property
    def has_columns(self) -> bool:
        """Return whether code samples are on the right of wide pages."""
        return self.path.startswith(("api/", "errors/"))


@dataclass(frozen=True)
class DocsGroup:
    title: str
    pages: tuple[DocsPage, ...]


def _read_pages(*files: str) -> tuple[DocsPage, ...]:
    return tuple(map(_read_page, files))


def _read_page(file: str) -> DocsPage:
    """Read the title and the summary, with which the file begins."""
    text = (settings.BASE_DIR / f"templates/docs/pages/{file}.md").read_text()
    title, summary, _ = text.removeprefix("# ").split("\n\n", 2)
    path = "" if file == "index" else f"{file}/"
    return DocsPage(_NAMES.get(file, f"show-{file}"), path, title, summary)


def _operations(tag: str, noun: str, summary: str) -> DocsPage:
    name, path = f"show-{noun.lower()}-operations", f"api/{tag.lower()}/"
    return DocsPage(name, path, f"{noun} operations", summary, tag)


# Only where mailbox checks are on.
_MAILBOX = ("mailbox",)[: settings.PROBE_MAILBOX_CHECKS]

GROUPS = (
    DocsGroup("Get started", _read_pages("index", "clients", "authentication")),
    DocsGroup(
        "Guides",
        _read_pages(
            *("validate", "batch", *_MAILBOX, "sign-up-form", "lists", "mailing-list"),
            *("command-line", "mcp", "results", "verdicts", "accuracy", "domains", "events"),
            *("webhooks", "verify-webhooks", "rate-limits", "credits", "idempotency", "sandbox"),
        ),
    ),
    DocsGroup(
        "Reference",
        (
            *_read_pages("api"),
            _operations(
                "Validation",
                "Validation",
                "Validate one or up to 100 addresses, get a result again, and send feedback.",
            ),
            _operations("Lists", "List", "Upload, start, follow, and download lists of addresses."),
            _operations(
                "Domains",
                "Domain",
                "Read and replace the domains that your account allows or denies.",
            ),
            _operations("Events", "Event", "Read what happened in your account."),
            _operations(
                "Webhooks",
                "Webhook",
                "Create, change, test, and rotate webhooks, and replay their deliveries.",
            ),
            _operations("Account", "Account", "Read the balance, usage, and rate limit of a key."),
            *_read_pages("errors"),
        ),
    ),
    DocsGroup("Releases", _read_pages("versioning", "changelog")),
)
PAGES = tuple(page for group in GROUPS for page in group.pages)


def neighbors(page: DocsPage) -> tuple[DocsPage | None, DocsPage | None]:
    padded = (None, *PAGES, None)
    index = padded.index(page)
    return padded[index - 1], padded[index + 1]
