"""Settings → Webhooks. Only responses that create or rotate keys have the secret."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Prefetch
from django.forms import model_to_dict
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from accounts import forms
from accounts.audit import Actor
from accounts.authentication.second_factor.proof import factor_required
from accounts.models import Delivery, WebhookEndpoint
from accounts.permissions import require_permission
from accounts.request import AccountRequest
from accounts.roles import TeamPermission
from accounts.webhooks import services
from accounts.webhooks.keys import public_key
from accounts.webhooks.services import WebhookChangeRefused
from runtime.http.refusals import show_refusal

PAGE, ENDPOINT = "accounts:show-webhooks", "accounts:show-webhook"
SHOWN_BEFORE = "The secret is shown only once. If you didn't copy it, rotate the keys."
FIELDS = ["url", "description", "types"]
DELIVERIES_PER_PAGE = 50


@require_permission(TeamPermission.MANAGE_WEBHOOKS)
def show_webhooks(request: AccountRequest) -> HttpResponse:
    context = {"endpoints": request.account.webhooks.all(), "max": services.MAX_WEBHOOKS}
    return render(request, "accounts/show_webhooks.html", context)


@require_permission(TeamPermission.MANAGE_WEBHOOKS, takes_post=True)
@factor_required()
def create_webhook(request: AccountRequest) -> HttpResponse:
    form, actor = forms.CreateWebhookForm(request.POST or None), Actor.of_page(request)
    if form.is_valid():
        data = {"account": request.account, **form.cleaned_data}
        try:
            return _show_secret(request, *services.create_endpoint(actor=actor, **data))
        except services.FormAlreadyUsed as error:
            messages.info(request, SHOWN_BEFORE)
            return redirect(ENDPOINT, error.endpoint.public_id)
        except WebhookChangeRefused as error:
            form.add_refusal(error)
    return render(request, "accounts/create_webhook.html", {"form": form})


@require_permission(TeamPermission.MANAGE_WEBHOOKS)
def show_webhook(request: AccountRequest, endpoint_id: str) -> HttpResponse:
    endpoint, form = _get_endpoint(request, endpoint_id), forms.DeliveryFilter(request.GET)
    attempts = Prefetch("delivery_attempts", to_attr="attempts")
    deliveries = form.select(endpoint.deliveries.order_by("-pk")).prefetch_related(attempts)
    context = {
        "endpoint": endpoint,
        "public_key": public_key(endpoint),
        "now": timezone.now(),
        "form": form,
        "page": Paginator(deliveries, DELIVERIES_PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "accounts/show_webhook.html", context)


@require_permission(TeamPermission.MANAGE_WEBHOOKS, takes_post=True)
@factor_required()
def change_webhook(request: AccountRequest, endpoint_id: str) -> HttpResponse:
    endpoint, actor = _get_endpoint(request, endpoint_id), Actor.of_page(request)
    form = forms.WebhookForm(request.POST or None, initial=model_to_dict(endpoint, FIELDS))
    if form.is_valid():
        try:
            services.change_endpoint(endpoint=endpoint, actor=actor, **form.cleaned_data)
            messages.success(request, "Saved. Changes apply to events from now on.")
            return redirect(ENDPOINT, endpoint_id)
        except WebhookChangeRefused as error:
            form.add_refusal(error)
    return render(request, "accounts/change_webhook.html", {"form": form, "endpoint": endpoint})


@require_permission(TeamPermission.MANAGE_WEBHOOKS, form_page=PAGE)
def switch_webhook(request: AccountRequest, endpoint_id: str, *, on: bool) -> HttpResponse:
    endpoint, actor = _get_endpoint(request, endpoint_id), Actor.of_page(request)
    services.change_endpoint(endpoint=endpoint, actor=actor, is_enabled=on)
    return redirect(ENDPOINT, endpoint_id)


@require_permission(TeamPermission.MANAGE_WEBHOOKS, takes_post=True)
@factor_required()
def rotate_webhook(request: AccountRequest, endpoint_id: str) -> HttpResponse:
    endpoint, actor = _get_endpoint(request, endpoint_id), Actor.of_page(request)
    form = forms.RotateWebhookForm(
        request.POST or None, initial={"public_key": public_key(endpoint)}
    )
    if form.is_valid():
        with transaction.atomic():
            # A double click would retire the keys that the first request made.
            endpoint = get_object_or_404(
                request.account.webhooks.select_for_update(), pk=endpoint.pk
            )
            if form.cleaned_data.pop("public_key") != public_key(endpoint):
                messages.info(request, SHOWN_BEFORE)
                return redirect(ENDPOINT, endpoint_id)
            secret = services.rotate_endpoint(endpoint=endpoint, actor=actor, **form.cleaned_data)
        return _show_secret(request, endpoint, secret)
    context = {"form": form, "endpoint": endpoint, "now": timezone.now()}
    return render(request, "accounts/rotate_webhook.html", context)


@require_permission(TeamPermission.MANAGE_WEBHOOKS, takes_post=True)
def delete_webhook(request: AccountRequest, endpoint_id: str) -> HttpResponse:
    endpoint = _get_endpoint(request, endpoint_id)
    if request.method != "POST":
        return render(request, "accounts/delete_webhook.html", {"endpoint": endpoint})
    services.delete_endpoint(endpoint=endpoint, actor=Actor.of_page(request))
    messages.success(request, f"Deleted {endpoint.url}.")
    return redirect(PAGE)


@require_permission(TeamPermission.MANAGE_WEBHOOKS, form_page=PAGE)
def send_test_event(request: AccountRequest, endpoint_id: str) -> HttpResponse:
    endpoint, actor = _get_endpoint(request, endpoint_id), Actor.of_page(request)
    with show_refusal(request):
        event = services.send_test(endpoint=endpoint, actor=actor)
        return redirect("accounts:show-event", endpoint_id, event.public_id)
    return redirect(ENDPOINT, endpoint_id)


@require_permission(TeamPermission.MANAGE_WEBHOOKS)
def show_event(request: AccountRequest, endpoint_id: str, event_id: str) -> HttpResponse:
    """Wait for an attempt. With `attempts`, return the fragment that pages poll."""
    endpoint = _get_endpoint(request, endpoint_id)
    event = get_object_or_404(request.account.events, public_id=event_id)
    delivery = endpoint.deliveries.filter(event=event).first()
    attempts = delivery.delivery_attempts.count() if delivery else 0
    shown = request.GET.get("attempts")
    context = {"endpoint": endpoint, "event": event, "attempts": attempts}
    if shown is not None:
        context["has_changed"] = str(attempts) != shown
        return render(request, "accounts/fragments/delivery_progress.html", context)
    if delivery and attempts:
        return redirect("accounts:show-delivery", endpoint_id, delivery.public_id)
    return render(request, "accounts/show_event.html", context)


@require_permission(TeamPermission.MANAGE_WEBHOOKS)
def show_delivery(request: AccountRequest, endpoint_id: str, delivery_id: str) -> HttpResponse:
    delivery = _get_delivery(request, endpoint_id, delivery_id)
    context = {"delivery": delivery, "attempts": list(delivery.delivery_attempts.all())}
    return render(request, "accounts/show_delivery.html", context)


@require_permission(TeamPermission.MANAGE_WEBHOOKS, form_page=PAGE)
def replay_delivery(request: AccountRequest, endpoint_id: str, delivery_id: str) -> HttpResponse:
    delivery = _get_delivery(request, endpoint_id, delivery_id)
    with show_refusal(request):
        services.replay_delivery(delivery=delivery, actor=Actor.of_page(request))
    return redirect("accounts:show-delivery", endpoint_id, delivery_id)


@require_permission(TeamPermission.MANAGE_WEBHOOKS, takes_post=True)
def replay_failed(request: AccountRequest, endpoint_id: str) -> HttpResponse:
    endpoint, actor = _get_endpoint(request, endpoint_id), Actor.of_page(request)
    form = forms.ReplayFailedForm(request.POST or None)
    if form.is_valid():
        with show_refusal(request):
            count = services.replay_failed(endpoint=endpoint, actor=actor, **form.cleaned_data)
            if count:
                messages.success(request, f"Failed deliveries that are sent again: {count:,}")
            else:
                messages.info(request, "No delivery has failed since then.")
        return redirect(ENDPOINT, endpoint_id)
    return render(request, "accounts/replay_failed.html", {"form": form, "endpoint": endpoint})


def _get_endpoint(request: AccountRequest, endpoint_id: str) -> WebhookEndpoint:
    webhooks = request.account.webhooks.select_related("account", "created_by")
    return get_object_or_404(webhooks, public_id=endpoint_id)


def _get_delivery(request: AccountRequest, endpoint_id: str, delivery_id: str) -> Delivery:
    deliveries = _get_endpoint(request, endpoint_id).deliveries.select_related("event")
    return get_object_or_404(deliveries, public_id=delivery_id)


def _show_secret(request: AccountRequest, endpoint: WebhookEndpoint, secret: str) -> HttpResponse:
    context = {"endpoint": endpoint, "secret": secret, "public_key": public_key(endpoint)}
    return render(request, "accounts/show_webhook_secret.html", context)
