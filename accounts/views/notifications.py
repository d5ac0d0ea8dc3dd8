from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from accounts.events import notifications
from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission, who_has

PAGE = "accounts:show-notifications"


@require_permission(TeamPermission.VIEW_ACCOUNT)
def show_notifications(request: AccountRequest) -> HttpResponse:
    wanted = notifications.wanted_types(request.account)
    context = {"wanted": wanted, "who_may": who_has(TeamPermission.MANAGE_NOTIFICATIONS)}
    return render(request, "accounts/show_notifications.html", context)


@require_permission(TeamPermission.MANAGE_NOTIFICATIONS, form_page=PAGE)
def change_notifications(request: AccountRequest) -> HttpResponse:
    wanted = request.POST.getlist("emails")
    notifications.change_notifications(account=request.account, wanted=wanted, actor=request.user)
    messages.success(request, "The notifications were saved.")
    return redirect(PAGE)
