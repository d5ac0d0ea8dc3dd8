"""Staff see the full address, which the customer shared."""

from datetime import timedelta
from http import HTTPStatus
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.engine import get_engine
from accounts.models import Account, User
from accounts.staff.links import (
    account_admin_list_url,
    account_cell,
    account_link,
    admin_list_url,
    admin_url,
    link_cell,
)
from accounts.staff.panels import MAX_ROWS, Cell, Fact, Link, Panel, require_staff_permissions
from accounts.staff.read_only import BoundedPaginator, ReadOnlyAdmin
from accounts.staff.request import staff_request
from credits.staff.action_admin import FormData, StaffAction, StaffActionsAdmin
from runtime.http.refusals import Refused
from validation.account_domains import matching
from validation.feedback.forms import AnswerForm
from validation.feedback.services import answer_feedback
from validation.models import Feedback, ListedDomain, LogEntry
from validation.playground import PlaygroundResponse
from validation.results import stored_results

_COUNTED = timedelta(days=30)
_FIRST = ("verdict", "reason", "score")


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

    def run(self, row: Feedback, data: FormData, actor: User) -> str:
        is_answered = answer_feedback(feedback=row, answer=data["answer"], actor=actor)
        if not is_answered:
            raise Refused("It was answered or sent again. Look at it as it is now.")
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
    list_display = ("public_id", "at", "account", "domain", "reason", "expected")
    list_filter = ("state", ReasonFilter, "expected")
    list_select_related = ("account",)
    search_fields = ("public_id", "result_id", "domain", "account__public_id")
    search_help_text = "fbk_…, val_…, domain or acc_…"
    # Filters on these would reveal their values.
    exclude = ("address_hash", "packed")
    paginator = BoundedPaginator
    show_full_result_count = False

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show what we said, and after a POST what we say now, without charging for it."""
        feedback = self.get_object(request, object_id)
        if feedback is None:
            raise Http404
        if not self.has_view_permission(request, feedback):
            raise PermissionDenied("Your staff group can't view feedback.")
        user, account, now = staff_request(request).user, feedback.account, None
        if request.method == "POST" and feedback.is_readable:
            finding = matching.mark(get_engine().check(feedback.text.email), account)
            now = finding.document()
        then = feedback.result or stored_results.find_result(account, feedback.result_id, balance=0)
        entries = LogEntry.objects.filter(account=account).with_result(feedback.result_id)
        context = {
            **self.admin_site.each_context(request),
            **self.describe_actions(user, feedback),
            "title": f"Feedback {feedback}",
            "opts": self.opts,
            "original": feedback,
            "account_link": account_link(account),
            "entry_link": admin_url(entry) if (entry := entries.first()) else "",
            "then": then and PlaygroundResponse(HTTPStatus.OK, {}, then),
            "now": now and PlaygroundResponse(HTTPStatus.OK, {}, now),
            "changes": list_changes(then, now) if then and now else [],
            "listed": ListedDomain.objects.filter(domain=feedback.domain).first(),
            "may_list": user.has_perm("validation.add_listeddomain"),
        }
        return render(request, "admin/validation/feedback.html", context)


def list_changes(then: dict[str, Any], now: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Return what a check says now and didn't then, by name."""
    flat = [
        {**result["checks"], **{name: result[name] for name in _FIRST}} for result in (then, now)
    ]
    words = {"True": "yes", "False": "no", "None": "none"}
    pairs = {
        name: (str(flat[0].get(name)), str(flat[1][name])) for name in (*_FIRST, *now["checks"])
    }
    return [
        (name.replace("_", " "), words.get(before, before), words.get(after, after))
        for name, (before, after) in pairs.items()
        if before != after
    ]


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
