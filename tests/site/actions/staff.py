"""Actions of staff in the admin."""

from dataclasses import replace
from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group
from django.urls import reverse

from accounts.models import User
from accounts.services import close_account, suspend_account
from apikeys.actor import Actor
from credits.models import GrantState, Pack, Plan, StaffGrant
from credits.orders.fulfillment import fulfill_order
from lists.uploads.services import create_list
from reference.models import Incident
from runtime.mail import outbox
from runtime.models import Mail
from tests.conftest import make_user
from tests.credits.customers import plan
from tests.site.actions.scene import TOKEN, ActionCase, Scene
from tests.validation.feedback.factory import make_feedback
from validation.models import ListedDomain, MailHostPace, NewMailHost, UnprobedDomain

REASON = {"form_token": TOKEN, "reason": "A good reason"}
PLAN = {"name": "Tiny", "code": "tiny", "price_cents": "1.00", "monthly_credits": "50"}
LISTS = {"list_addresses": "500", "list_bytes": "9000"}
LIMIT = {"requests_per_minute": "30", "is_offered": "on", "position": "9", **LISTS}


def _case(page: str, action: str, *setup: Any, **form: Any) -> ActionCase:
    """Send a form of a page of the admin; `setup` creates the rows it is for."""

    def perform(scene: Scene) -> Any:
        ids = [create(scene).pk for create in setup]
        return scene.send(scene.staff_browser, f"admin:{page}", *ids, **form)

    return ActionCase(f"admin:{page}", action, perform, actor="staff")


def _service_case(page: str, action: str, *setup: Any, **form: Any) -> ActionCase:
    """Send a form that concerns no account."""
    return replace(_case(page, action, *setup, **form), is_of_account=False)


def _button_case(
    model: str, button: str, action: str, setup: Any, *, is_of_account: bool = True
) -> ActionCase:
    page = f"admin:{model}_changelist"

    def perform(scene: Scene) -> Any:
        selected = [str(setup(scene).pk)]
        form = {"action": button, "_selected_action": selected, "post": "yes"}
        return scene.send_to(scene.staff_browser, reverse(page), form)

    return ActionCase(
        page, action, perform, actor="staff", button=button, is_of_account=is_of_account
    )


def _get_account(scene: Scene) -> Any:
    return scene.account


def _get_owner(scene: Scene) -> Any:
    return scene.owner


def _get_order(scene: Scene) -> Any:
    return scene.order


def _get_free_plan(scene: Scene) -> Any:
    return Plan.objects.free()


def _get_pack(scene: Scene) -> Any:
    return Pack.objects.earliest("credits")


def _suspend_account(scene: Scene) -> Any:
    suspend_account(account=scene.account, actor=scene.staff)
    return scene.account


def _close_account(scene: Scene) -> Any:
    close_account(account=scene.account, actor=scene.owner)
    return scene.account


def _pay_order(scene: Scene) -> Any:
    fulfill_order(order=scene.order)
    return scene.order


def _add_factor(scene: Scene) -> Any:
    kind = Authenticator.Type.TOTP
    return Authenticator.objects.create(user=scene.owner, type=kind, data={"secret": "x"})


def _fail_email(scene: Scene) -> Any:
    mail = outbox.queue_mail(to="jane@shop.example", subject="Hello", text="x", html="x")
    Mail.objects.update(given_up_at=mail.created_at)
    return mail


def _list_domain(scene: Scene) -> Any:
    return ListedDomain.objects.create(domain="burner.example", kind="deny", reason="Abuse")


def _exclude_domain(scene: Scene) -> Any:
    return UnprobedDomain.objects.create(domain="quiet.example", note="They asked us")


def _find_mail_host(scene: Scene) -> Any:
    return NewMailHost.objects.create(host="mx-burner.example")


def _add_organization(scene: Scene) -> Any:
    return MailHostPace.objects.create(organization="mailhost.example", egress="direct")


def _publish_incident(scene: Scene) -> Any:
    return Incident.objects.create(title="Webhooks arrive late", webhooks=True)


def _create_list(scene: Scene) -> Any:
    return create_list(actor=Actor(scene.account))


def _send_feedback(scene: Scene) -> Any:
    return make_feedback(scene.account)


def _request_grant(scene: Scene, staff: User) -> StaffGrant:
    return StaffGrant.objects.create(
        account=scene.account,
        amount=5,
        reason="A good reason",
        state=GrantState.PENDING,
        requested_by=staff,
        form_token=TOKEN,
    )


def _request_grant_as_colleague(scene: Scene) -> Any:
    return _request_grant(scene, make_user("colleague@service.example", is_staff=True))


def _request_own_grant(scene: Scene) -> Any:
    return _request_grant(scene, scene.staff)


def _exceed_grant_limit(scene: Scene) -> Any:
    """Request more credits than one staff member may grant."""
    form = {**REASON, "amount": "1000000000"}
    return scene.send(scene.staff_browser, "admin:accounts_account_grant", scene.account.pk, **form)


def _create_group(scene: Scene) -> Any:
    return Group.objects.create(name="Auditors")


def _give_plan(scene: Scene) -> Any:
    form = {**REASON, "plan": str(plan("starter").pk)}
    return scene.send(
        scene.staff_browser, "admin:accounts_account_change-plan", scene.account.pk, **form
    )


DOMAIN = {"domain": "burner.com", "kind": "deny", "reason": "Abuse"}
INCIDENT = {
    "title": "API slow",
    "impact": "degraded",
    "api": "on",
    "started_at": "2026-11-27T10:00",
    "ended_at": "",
    "updates-TOTAL_FORMS": "1",
    "updates-INITIAL_FORMS": "0",
    "updates-0-state": "monitoring",
    "updates-0-text": "It is faster again.",
}
SENT = {"form_token": TOKEN}
REFUND = {**REASON, "amount": "1.50"}
FREE = {"name": "Free", "monthly_credits": "200", "requests_per_minute": "90", **LISTS}
PACK = {"credits": "1000", "price_cents": "5.01", "requests_per_minute": "300", **LISTS}
CHANGED = {"name": "The Shop", "requests_per_minute_override": "90"}
ACCOUNT_BUTTONS = [
    ("accounts_account", "lift_suspension", "account.suspension_lifted", _suspend_account),
    ("accounts_account", "reopen", "account.reopened", _close_account),
    ("apikeys_apikey", "revoke", "key.revoked", lambda scene: scene.key),
    ("lists_addresslist", "cancel", "list.canceled", _create_list),
    ("mfa_authenticator", "delete_selected", "user.second_factor_removed_by_staff", _add_factor),
]
SERVICE_BUTTONS = [
    ("runtime_mail", "send_again", "mail.sent_again", _fail_email),
    ("auth_group", "delete_selected", "group.removed", _create_group),
    ("validation_listeddomain", "delete_selected", "domain.unlisted", _list_domain),
    ("validation_unprobeddomain", "delete_selected", "domain.probed", _exclude_domain),
    ("validation_newmailhost", "decide_disposable", "mail_host.decided", _find_mail_host),
    ("validation_newmailhost", "decide_legitimate", "mail_host.decided", _find_mail_host),
    ("validation_newmailhost", "reopen", "mail_host.decided", _find_mail_host),
    ("validation_mailhostpace", "turn_off", "mail_organization.off", _add_organization),
    ("validation_mailhostpace", "turn_on", "mail_organization.on", _add_organization),
]

CASES = [
    _case("accounts_account_grant", "credits.granted", _get_account, **REASON, amount="5"),
    _case("accounts_account_deduct", "credits.deducted", _get_account, **REASON, amount="5"),
    _case("accounts_account_suspend", "account.suspended", _get_account, **REASON),
    _case("accounts_account_lift", "account.suspension_lifted", _suspend_account, **SENT),
    _case("accounts_account_change", "account.changed_by_staff", _get_account, **CHANGED),
    ActionCase(
        "admin:accounts_account_change-plan", "plan.given_by_staff", _give_plan, actor="staff"
    ),
    _case("credits_order_mark-paid", "order.paid", _get_order, **SENT),
    _case("credits_order_cancel", "order.cancelled", _get_order, **SENT),
    _case("credits_order_refund", "order.refunded", _pay_order, **REFUND),
    _case("credits_order_refund", "order.refund_asked", _pay_order, **REFUND),
    _case("validation_feedback_answer", "feedback.answered", _send_feedback, answer="Yes"),
    _case("credits_staffgrant_confirm", "credits.granted", _request_grant_as_colleague, **SENT),
    ActionCase(
        "admin:accounts_account_grant",
        "grant.requested",
        _exceed_grant_limit,
        actor="staff",
        is_of_account=False,
    ),
    _case("accounts_user_change", "user.changed_by_staff", _get_owner, name="O", is_active="on"),
    _case(
        "mfa_authenticator_delete", "user.second_factor_removed_by_staff", _add_factor, post="yes"
    ),
    *(_button_case(*case) for case in ACCOUNT_BUTTONS),
    *(_button_case(*case, is_of_account=False) for case in SERVICE_BUTTONS),
    _service_case("credits_plan_add", "plan.added_by_staff", **PLAN, **LIMIT),
    _service_case("credits_plan_change", "plan.changed_by_staff", _get_free_plan, **FREE),
    _service_case(
        "credits_pack_add", "pack.added_by_staff", credits="77", price_cents="1.00", **LIMIT
    ),
    _service_case("credits_pack_change", "pack.changed_by_staff", _get_pack, **PACK),
    _service_case(
        "credits_staffgrant_confirm", "grant.confirmed", _request_grant_as_colleague, **SENT
    ),
    _service_case(
        "credits_staffgrant_reject", "grant.rejected", _request_grant_as_colleague, **SENT
    ),
    _service_case("credits_staffgrant_withdraw", "grant.withdrawn", _request_own_grant, **SENT),
    _service_case("validation_listeddomain_add", "domain.listed", **DOMAIN),
    _service_case("validation_listeddomain_change", "domain.listed", _list_domain, **DOMAIN),
    _service_case("validation_listeddomain_delete", "domain.unlisted", _list_domain, post="yes"),
    _service_case("validation_unprobeddomain_add", "domain.unprobed", domain="calm.example"),
    _service_case(
        "validation_unprobeddomain_change",
        "domain.unprobed",
        _exclude_domain,
        domain="calm.example",
    ),
    _service_case("validation_unprobeddomain_delete", "domain.probed", _exclude_domain, post="yes"),
    _service_case("reference_incident_add", "incident.published", **INCIDENT),
    _service_case("reference_incident_change", "incident.changed", _publish_incident, **INCIDENT),
    _service_case("auth_group_add", "group.added", name="Auditors"),
    _service_case("auth_group_change", "group.changed", _create_group, name="Readers"),
    _service_case("auth_group_delete", "group.removed", _create_group, post="yes"),
    _service_case("validation_logentry_erase", "address.erased", email="jane@shop.example"),
]

# Pages that accept a form without changing anything, each with the reason.
UNAUDITED_PAGES = {
    "admin:search": "a search, sent by POST because it can contain an address or a key",
    "admin:validation_logentry_find": "shows where an address is stored",
    "admin:index": "shows the index for every method",
    "admin:app_list": "shows the models of an app",
    "admin:login": "redirects to sign-in, or to the missing second factor",
    "admin:logout": "redirects to the sign-out page",
    "admin:password_change": "redirects to the account page for passwords",
    "admin:password_change_done": "shows a confirmation",
    "admin:autocomplete": "returns suggestions",
    "admin:jsi18n": "a script",
    "admin:view_on_site": "redirects to a page of the dashboard",
    "admin:auth_user_password_change": "always refused: tests/site/test_every_form.py",
    "admin:django.contrib.admin.sites.AdminSite.catch_all_view": "shows a 404 page",
}
