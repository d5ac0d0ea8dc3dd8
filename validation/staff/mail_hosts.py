"""Mail hosts that many new domains use. Staff decide what they are."""

from django.conf import settings
from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts import audit
from accounts.staff.links import admin_list_url, link_cell
from accounts.staff.panels import MAX_ROWS, Cell, Link, Panel, require_staff_permissions
from accounts.staff.read_only import ReadOnlyAdmin
from accounts.staff.request import staff_request
from validation.domain_data import staff_domains
from validation.models import NewMailHost

_EXAMPLES = 5


class NewMailHostAdmin(ReadOnlyAdmin):
    list_display = ("host", "number", "examples", "decision")
    list_filter = ("decision",)
    search_fields = ("host",)
    fields = ("host", "number", "all_domains", "decision")
    actions = ("decide_disposable", "decide_legitimate", "reopen")

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("validation.change_newmailhost")

    @admin.display
    def examples(self, row: NewMailHost) -> str:
        return _examples(row)

    @admin.display(description="domains")
    def all_domains(self, row: NewMailHost) -> str:
        return "\n".join(sorted(row.domains))

    @admin.action(description="Disposable: their domains are, too", permissions=["decide"])
    def decide_disposable(self, request: HttpRequest, queryset: QuerySet[NewMailHost]) -> None:
        self._decide(request, queryset, NewMailHost.Decision.DISPOSABLE)

    @admin.action(description="Legitimate: don't show them again", permissions=["decide"])
    def decide_legitimate(self, request: HttpRequest, queryset: QuerySet[NewMailHost]) -> None:
        self._decide(request, queryset, NewMailHost.Decision.LEGITIMATE)

    @admin.action(description="Decide again", permissions=["decide"])
    def reopen(self, request: HttpRequest, queryset: QuerySet[NewMailHost]) -> None:
        self._decide(request, queryset, NewMailHost.Decision.OPEN)

    @transaction.atomic
    def _decide(
        self,
        request: HttpRequest,
        queryset: QuerySet[NewMailHost],
        decision: NewMailHost.Decision,
    ) -> None:
        staff = staff_request(request)
        for row in queryset:
            target = f"{row.host}: {decision.label}"
            audit.record(None, staff.user, "mail_host.decided", target)
        queryset.update(decision=decision)
        transaction.on_commit(staff_domains.invalidate)


@require_staff_permissions("validation.view_newmailhost")
def mail_hosts_panel() -> Panel | None:
    if not settings.FIND_MAIL_HOSTS:
        return None
    return Panel(
        "New mail hosts",
        "No mail host waits for a decision.",
        columns=("Mail host", "New domains", "For example"),
        rows=[
            [link_cell(row), Cell(row.number), Cell(_examples(row))]
            for row in NewMailHost.objects.undecided()[:MAX_ROWS]
        ],
        is_work=True,
        note="Many domains that are new in the request log use them. Are they disposable?",
        more=Link("All new mail hosts", admin_list_url(NewMailHost, "?decision__exact=open")),
    )


def _examples(row: NewMailHost) -> str:
    return ", ".join(sorted(row.domains)[:_EXAMPLES])
