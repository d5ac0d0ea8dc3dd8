"""Actions of customers on our own pages."""

import json
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts import team
from accounts.models import Account, Invitation, User
from accounts.models.webhooks import DeliveryState
from accounts.roles import Role
from accounts.webhooks.keys import public_key
from credits.models import Pack
from lists.models.states import ListState
from tests.accounts.webhooks.deliveries import URL, make_delivery
from tests.accounts.webhooks.factory import make_endpoint
from tests.conftest import make_member, make_user, signed_in_by_form
from tests.credits.automatic_top_ups.helpers import give_card
from tests.credits.customers import order_form, pay, place_order
from tests.lists.results_factory import make_list, make_ready_list, set_state
from tests.servers.stripe import sign
from tests.site.actions.scene import TOKEN, ActionCase, Scene
from tests.support.pages import mark_second_factor_used
from tests.support.second_factors import add_authenticator_app
from tests.validation.feedback.factory import make_result

WEBHOOK = {"url": URL, "description": ""}
KEY = {"name": "Server", "access": "full", "expires_at": "", "allowed_networks": ""}
UPLOAD = {"file_name": "c.csv", "file_size": "1", "dedupe": "address"}


def _close_account(scene: Scene) -> Any:
    return scene.send(scene.browser, "accounts:close-account", name=scene.account.name)


def _invite(scene: Scene) -> Invitation:
    return team.invite_member(
        account=scene.account, email="new@shop.example", role=Role.VIEWER, actor=scene.owner
    )


def _withdraw_invitation(scene: Scene) -> Any:
    return scene.send(scene.browser, "accounts:withdraw-invitation", _invite(scene).public_id)


def _accept_invitation(scene: Scene) -> Any:
    invitation, token = _invite(scene), "t" * 43
    Invitation.objects.filter(pk=invitation.pk).update(token=Invitation.digest(token))
    new_user = make_user("new@shop.example")
    return scene.send(signed_in_by_form(new_user), "accounts:accept-invitation", token)


def _add_member(scene: Scene) -> str:
    user = make_member(scene.account, Role.VIEWER)
    return user.memberships.get().public_id


def _change_role(scene: Scene) -> Any:
    return scene.send(scene.browser, "accounts:change-role", _add_member(scene), role="developer")


def _remove_member(scene: Scene) -> Any:
    return scene.send(scene.browser, "accounts:remove-member", _add_member(scene))


def _leave_account(scene: Scene) -> Any:
    make_member(scene.account, Role.OWNER)
    membership_id = scene.owner.memberships.get().public_id
    return scene.send(scene.browser, "accounts:remove-member", membership_id)


def _second_factor_case(action: str, value: str) -> ActionCase:
    page = "accounts:require-second-factor"

    def perform(scene: Scene) -> Any:
        # Signs in, before there is a second factor.
        browser = scene.browser
        if value == "no":
            Account.objects.update(second_factor_required_at=timezone.now())
        add_authenticator_app(scene.owner)
        mark_second_factor_used(browser, scene.owner)
        return scene.send(browser, page, required=value)

    return ActionCase(page, action, perform)


def _send_feedback(scene: Scene) -> Any:
    result_id = make_result(scene.account)["id"]
    return scene.send(scene.browser, "validation:send-feedback", result_id, expected="deliverable")


def _agree_to_terms(scene: Scene) -> Any:
    long_ago = timezone.now().date() - timedelta(days=3650)
    User.objects.filter(pk=scene.owner.pk).update(terms_version=long_ago)
    return scene.send(scene.browser, "accounts:agree-to-terms")


def _key_case(page: str, action: str, **form: Any) -> ActionCase:
    page = f"apikeys:{page}"
    return ActionCase(
        page, action, lambda scene: scene.send(scene.browser, page, scene.key.public_id, **form)
    )


def _webhook_case(page: str, action: str, **form: Any) -> ActionCase:
    """Send a form of an endpoint with a failed delivery."""
    page = f"accounts:{page}"

    def perform(scene: Scene) -> Any:
        endpoint = make_endpoint(scene.account, URL, created_by=scene.owner)
        ids = [endpoint.public_id]
        delivery = make_delivery(endpoint, DeliveryState.FAILED)
        if page == "accounts:replay-delivery":
            ids.append(delivery.public_id)
        if page == "accounts:enable-webhook":
            scene.account.webhooks.update(disabled_at=timezone.now(), disabled_reason="manual")
        if page == "accounts:rotate-webhook":
            form["public_key"] = public_key(endpoint)
        return scene.send(scene.browser, page, *ids, **form)

    return ActionCase(page, action, perform)


def _order_pack(scene: Scene) -> Any:
    pack = Pack.objects.earliest("credits")
    form = order_form(scene.account, pack)
    return scene.send(scene.browser, "credits:order-pack", pack.public_id, **form)


def _order_plan(scene: Scene) -> Any:
    form = order_form(scene.account, "starter")
    return scene.send(scene.browser, "credits:order-plan", "starter", **form)


def _choose_lower_plan(scene: Scene) -> Any:
    pay(place_order(scene.account, "starter"))
    return scene.send(scene.browser, "credits:choose-later-plan", "free")


def _pay_by_card(scene: Scene) -> Any:
    """Pay through Stripe's event, which credits the order; the return page doesn't."""
    assert scene.stripe
    pack = Pack.objects.earliest("credits")
    scene.browser.post(f"/credits/packs/{pack.public_id}/", order_form(scene.account, pack))
    order = scene.account.orders.get()
    payload = json.dumps(scene.stripe.pay(scene.stripe.find_session(order.public_id)))
    headers = {"Stripe-Signature": sign(payload.encode())}
    content_type = "application/json"
    return scene.send_to(
        scene.browser, "/credits/stripe/", payload, content_type=content_type, headers=headers
    )


def _remove_card(scene: Scene) -> Any:
    assert scene.stripe
    give_card(scene.stripe, scene.account)
    return scene.send(scene.browser, "credits:remove-card")


def _switch_on_top_up(scene: Scene) -> Any:
    assert scene.stripe
    give_card(scene.stripe, scene.account)
    form = {"threshold": 500, "pack": Pack.objects.earliest("credits").pk, "cap": "15.00"}
    return scene.send(scene.browser, "credits:edit-automatic-top-up", **form)


def _change_top_up(scene: Scene) -> Any:
    _switch_on_top_up(scene)
    return _switch_on_top_up(scene)


def _switch_off_top_up(scene: Scene) -> Any:
    _switch_on_top_up(scene)
    return scene.send(scene.browser, "credits:switch-off-automatic-top-up")


def _list_case(page: str, action: str, state: ListState, **form: Any) -> ActionCase:
    """Send a form of a list in this state."""
    page = f"lists:{page}"

    def perform(scene: Scene) -> Any:
        address_list = make_ready_list(scene.account)
        set_state(address_list, state)
        return scene.send(scene.browser, page, address_list.public_id, **form)

    return ActionCase(page, action, perform)


def _delete_lists(scene: Scene) -> Any:
    address_list = make_ready_list(scene.account)
    return scene.send_to(scene.browser, f"/lists/delete/?list={address_list.public_id}", {})


def _download_list(scene: Scene) -> Any:
    address_list = make_list(scene.account)
    query = {"format": "csv", "filter": "all"}
    return scene.open(scene.browser, "lists:download-list", address_list.public_id, **query)


def _case(page: str, action: str, **form: Any) -> ActionCase:
    return ActionCase(page, action, lambda scene: scene.send(scene.browser, page, **form))


CASES = [
    _case("accounts:edit-profile", "user.renamed", name="Olivia"),
    _case("accounts:rename-account", "account.renamed", name="S"),
    _case("accounts:export-account", "account.exported"),
    ActionCase("accounts:close-account", "account.closed", _close_account),
    _case("accounts:open-account", "account.opened", name="Two"),
    _case("accounts:export-audit-log", "audit.exported"),
    _case("accounts:change-notifications", "notifications.changed", emails="list.failed"),
    _case("validation:export-requests", "requests.exported"),
    _case("accounts:invite-member", "member.invited", email="new@shop.example", role="viewer"),
    ActionCase("accounts:withdraw-invitation", "invitation.withdrawn", _withdraw_invitation),
    ActionCase("accounts:accept-invitation", "member.joined", _accept_invitation, actor="new user"),
    ActionCase("accounts:change-role", "member.role_changed", _change_role),
    ActionCase("accounts:remove-member", "member.removed", _remove_member),
    ActionCase("accounts:remove-member", "member.left", _leave_account),
    _second_factor_case("team.second_factor_required", "yes"),
    _second_factor_case("team.second_factor_optional", "no"),
    ActionCase("accounts:agree-to-terms", "user.terms_agreed", _agree_to_terms),
    _case("apikeys:create-key", "key.created", **KEY, form_token=TOKEN),
    _key_case("change-key", "key.changed", **KEY),
    _key_case("rotate-key", "key.rotated", grace="0", form_token=TOKEN),
    _key_case("revoke-key", "key.revoked"),
    _case("accounts:create-webhook", "webhook.created", **WEBHOOK, form_token=TOKEN),
    _webhook_case("change-webhook", "webhook.changed", url="https://new.shop.example/"),
    _webhook_case("enable-webhook", "webhook.enabled"),
    _webhook_case("disable-webhook", "webhook.disabled"),
    _webhook_case("rotate-webhook", "webhook.rotated", keep_old_for="0"),
    _webhook_case("delete-webhook", "webhook.deleted"),
    _webhook_case("send-test-event", "webhook.tested"),
    _webhook_case("replay-delivery", "webhook.replayed"),
    _webhook_case("replay-failed-deliveries", "webhook.replayed", since="2026-01-01T00:00"),
    _case("credits:change-threshold", "threshold.changed", threshold="7"),
    ActionCase("credits:order-pack", "order.placed", _order_pack),
    ActionCase("credits:order-plan", "order.placed", _order_plan),
    ActionCase("credits:choose-later-plan", "plan.chosen", _choose_lower_plan),
    ActionCase(
        "credits:cancel-order",
        "order.cancelled",
        lambda scene: scene.send(scene.browser, "credits:cancel-order", scene.order.public_id),
    ),
    ActionCase("credits:receive-stripe-event", "order.paid", _pay_by_card, actor="anonymous"),
    _case("credits:save-card", "card.agreed"),
    ActionCase("credits:remove-card", "card.removed", _remove_card),
    ActionCase("credits:edit-automatic-top-up", "top_up.switched_on", _switch_on_top_up),
    ActionCase("credits:edit-automatic-top-up", "top_up.changed", _change_top_up),
    ActionCase("credits:switch-off-automatic-top-up", "top_up.switched_off", _switch_off_top_up),
    _case("validation:change-log-days", "account.log_days_changed", log_days="7"),
    _case("validation:save-domains", "domains.changed", denied="spam.example", etag='"0"'),
    _case("lists:create-list", "list.created", addresses="jane@shop.example", dedupe="address"),
    _case("lists:create-upload", "list.created", **UPLOAD),
    _list_case("cancel-upload", "list.deleted", ListState.UPLOADING),
    _list_case("choose-column", "list.column_chosen", ListState.READY, column="2"),
    _list_case("choose-encoding", "list.encoding_chosen", ListState.READY, encoding="utf-8"),
    _list_case("start-list", "list.started", ListState.READY),
    _list_case("pause-list", "list.paused", ListState.RUNNING),
    _list_case("resume-list", "list.resumed", ListState.PAUSED),
    _list_case("finish-list", "list.finished", ListState.RECHECKING),
    _list_case("cancel-list", "list.canceled", ListState.RUNNING),
    ActionCase("lists:download-list", "list.downloaded", _download_list),
    _list_case("delete-list", "list.deleted", ListState.COMPLETED),
    _list_case("rerun-list", "list.created", ListState.COMPLETED),
    ActionCase("lists:delete-lists", "list.deleted", _delete_lists),
    _list_case("rename-list", "list.renamed", ListState.COMPLETED, name="May customers"),
    ActionCase("validation:send-feedback", "feedback.sent", _send_feedback),
    _case("validation:erase-address", "address.erased", email="jane@shop.example"),
]

# Pages that accept a form without changing anything, each with the reason.
UNAUDITED_PAGES = {
    "accounts:change-preferences": "changes how this user sees pages, and nothing else",
    "accounts:switch-account": "selects the account the browser shows next",
    "validation:find-request": "a search, sent by POST because it can contain an address",
    "validation:confirm-erasure": "shows what an erasure would delete",
    "reference:check-address": "a visitor's check, which is recorded nowhere",
    "accounts:suggest-correction": "a sign-up form's address, which is recorded nowhere",
    "reference:ask-to-opt-out": "emails a link to a domain's postmaster, who has no account",
    "reference:opt-out": "adds a domain, whose row says that its postmaster did it",
    "validation:try-address": "a validation, recorded in the request log and in usage",
    "validation:try-batch": "validations, recorded in the request log and in usage",
    "lists:store-part": "a part of a file, whose list is recorded when it's created",
    "lists:finish-upload": "ends an upload, which is recorded when it begins",
    "lists:sample-list": "a free check that shows no single results, counted per account",
    "credits:pay-order": "redirects to the payment page; the payment's event is audited",
}
