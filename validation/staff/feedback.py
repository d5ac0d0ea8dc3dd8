"""Staff see the full address, which the customer shared."""

from datetime import timedelta

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html

from accounts.models import Account
from accounts.staff.links import (
    account_admin_list_url,
    account_cell,
    admin_list_url,
    link_cell,
)
from accounts.staff.panels import MAX_ROWS, Cell, Fact, Link, Panel, require_staff_permissions
from accounts.staff.read_only import BoundedPaginator, ReadOnlyAdmin
from accounts.staff.request import StaffRequest
from credits.staff.action_admin import FormData, StaffAction, StaffActionRefused, StaffActionsAdmin
from validation.feedback.forms import AnswerForm
from validation.feedback.services import answer_feedback
from validation.models import Feedback, ListedDomain

_COUNTED = timedelta(days=30)
_KINDS = {
    Feedback.Expected.DISPOSABLE.value: ListedDomain.Kind.DENY,
    Feedback.Expected.NOT_DISPOSABLE.value: ListedDomain.Kind.ALLOW,
}


class AnswerFeedback(StaffAction[Feedback]):
    slug, label = "answer", "Answer"
    permission = "validation.change_feedback"
    description = (
        "The sender gets the answer by email, and the account's members see it on the request's "
        "page. Don't repeat the address."
    )
    form = AnswerForm

    def is_available(self, row: Feedback) -> bool:
        return row.is_open

    def run(self, row: Feedback, data: FormData, request: StaffRequest) -> str:
        is_answered = answer_feedback(
            feedback=row, answer=data["answer"], actor=request.user, ip=request.ip
        )
        if not is_answered:
            raise StaffActionRefused("It was answered or sent again. Look at it as it is now.")
        return f"Answered {row}. The customer gets an email."


class ReasonFilter(admin.SimpleListFilter):
    title = "reason"
    parameter_name = "reason"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        counts = count_by_reason(Feedback.objects.all())
        return [(reason, f"{reason} ({count:,})") for reason, count in counts]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Feedback]) -> QuerySet[Feedback]:
        return queryset.filter(reason=self.value()) if self.value() else queryset


class FeedbackAdmin(StaffActionsAdmin[Feedback], ReadOnlyAdmin):
    staff_actions = (AnswerFeedback(),)
    list_display = ("public_id", "at", "account", "domain", "reason", "expectation")
    list_filter = ("state", ReasonFilter, "expected")
    list_select_related = ("account",)
    search_fields = ("public_id", "result_id", "domain", "account__public_id")
    search_help_text = "fbk_…, val_…, domain or acc_…"
    fields = (
        *("public_id", "at", "account", "key", "sent_by", "result_id", "address", "domain"),
        *("verdict", "reason", "expected", "comment", "bounce", "listing"),
        *("state", "answer", "answered_at"),
    )
    readonly_fields = ("public_id", "address", "comment", "bounce", "listing")
    # Filters on these would reveal their values.
    exclude = ("address_hash", "packed")
    paginator = BoundedPaginator
    show_full_result_count = False

    @admin.display(description="expected", ordering="expected")
    def expectation(self, feedback: Feedback) -> str:
        return feedback.expected

    @admin.display
    def address(self, feedback: Feedback) -> str:
        if not feedback.is_readable:
            return "Can't be read anymore, nor can the texts: their SECRET_KEY was removed."
        return feedback.text.email

    @admin.display
    def comment(self, feedback: Feedback) -> str:
        return feedback.text.comment

    @admin.display(description="Bounce message")
    def bounce(self, feedback: Feedback) -> str:
        return feedback.text.bounce

    @admin.display(description="Domain data")
    def listing(self, feedback: Feedback) -> str:
        """Link to the form that lists the domain, if the feedback is about that."""
        kind = _KINDS.get(feedback.expected)
        if kind is None or not feedback.domain:
            return ""
        query = {"domain": feedback.domain, "kind": kind, "reason": f"Feedback {feedback}"}
        url = reverse("admin:validation_listeddomain_add", query=query)
        return format_html('<a href="{}">List {} as {}</a>', url, feedback.domain, kind.label)


def count_by_reason(rows: QuerySet[Feedback]) -> list[tuple[str, int]]:
    counted = rows.order_by().values_list("reason").annotate(count=Count("pk"))
    return list(counted.order_by("-count", "reason"))


@require_staff_permissions("validation.view_feedback", "accounts.view_account")
def feedback_panel() -> Panel:
    waiting = Feedback.objects.open().select_related("account").order_by("at", "pk")
    since = timezone.now() - _COUNTED
    counts = count_by_reason(Feedback.objects.filter(at__gt=since))
    return Panel(
        "Feedback",
        "No feedback is waiting for an answer.",
        columns=("Domain", "Account", "Expected", "Sent"),
        rows=[_row(feedback, account_cell(feedback.account)) for feedback in waiting[:MAX_ROWS]],
        facts=[
            Fact(reason, Cell(count, admin_list_url(Feedback, f"?reason={reason}")))
            for reason, count in counts[:MAX_ROWS]
        ],
        is_work=True,
        note="Oldest first. The numbers count all feedback of 30 days by the result's reason.",
        more=Link("All open feedback", admin_list_url(Feedback, "?state__exact=open")),
    )


@require_staff_permissions("validation.view_feedback", tab="Verdicts")
def account_feedback_panel(account: Account) -> Panel:
    newest = Feedback.objects.filter(account=account)[:MAX_ROWS]
    return Panel(
        "Feedback",
        "No feedback yet.",
        columns=("Domain", "State", "Expected", "Sent"),
        rows=[_row(feedback, Cell(feedback.get_state_display())) for feedback in newest],
        more=Link("All feedback", account_admin_list_url(Feedback, account)),
    )


def _row(feedback: Feedback, second: Cell) -> list[Cell]:
    return [
        link_cell(feedback, feedback.domain or feedback.public_id),
        second,
        Cell(feedback.expected.replace("_", " ")),
        Cell(feedback.at),
    ]
