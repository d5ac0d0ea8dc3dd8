"""Show an account's own domains to staff, who can't change them."""

from django.contrib import admin
from django.contrib.humanize.templatetags.humanize import intcomma

from accounts.models import Account
from accounts.staff.links import link_cell
from accounts.staff.panels import Cell, Fact, Panel, require_staff_permissions
from accounts.staff.read_only import BoundedPaginator, ReadOnlyAdmin
from validation.models import AccountDomains


class AccountDomainsAdmin(ReadOnlyAdmin):
    list_display = ("account", "number_allowed", "number_denied", "changed_at")
    list_select_related = ("account",)
    search_fields = ("account__public_id", "account__name")
    search_help_text = "Account or acc_…"
    fields = ("account", "changed_at", "allowed_domains", "denied_domains")
    ordering = ("-changed_at", "-pk")
    paginator = BoundedPaginator
    show_full_result_count = False

    @admin.display(description="allowed")
    def number_allowed(self, domains: AccountDomains) -> str:
        return intcomma(len(domains.allowed))

    @admin.display(description="denied")
    def number_denied(self, domains: AccountDomains) -> str:
        return intcomma(len(domains.denied))

    @admin.display(description="allowed")
    def allowed_domains(self, domains: AccountDomains) -> str:
        return "\n".join(domains.allowed)

    @admin.display(description="denied")
    def denied_domains(self, domains: AccountDomains) -> str:
        return "\n".join(domains.denied)


@require_staff_permissions("validation.view_accountdomains", tab="Verdicts")
def domains_panel(account: Account) -> Panel:
    domains = AccountDomains.objects.filter(account=account).first()
    if domains is None:
        return Panel("Own domains", "The account allows and denies no domains.")
    return Panel(
        "Own domains",
        facts=[
            Fact("Allowed", Cell(len(domains.allowed))),
            Fact("Denied", Cell(len(domains.denied))),
            Fact("Changed", Cell(domains.changed_at)),
            Fact("Lists", link_cell(domains, "Show both lists")),
        ],
    )
