"""What staff do in the admin."""

from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.auth.models import Group
from django.urls import reverse

from accounts.models import User
from accounts.services import close_account, suspend_account
from credits.models import Pack, Plan, StaffGrant
from credits.orders.lifecycle import fulfil_order
from runtime.mail import outbox
from runtime.models import Mail
from tests.conftest import make_user
from tests.credits.customers import plan
from tests.site.actions.world import TOKEN, Act, World
from validation.models import ListedDomain

INLINES = ("memberships", "wallet", "subscription", "orders", "ledger", "membership_set")
NO_INLINES = {f"{of}-{count}_FORMS": "0" for of in INLINES for count in ("TOTAL", "INITIAL")}
WHY = {"form_token": TOKEN, "reason": "A good reason"}
PLAN = {"name": "Tiny", "code": "tiny", "price_cents": "100", "monthly_credits": "50"}
LIMIT = {"requests_per_minute": "30", "is_offered": "on", "position": "9"}


def _admin(page: str, *find: Any, **form: Any) -> Any:
    """`find` makes what the page is about."""

    def perform(world: World) -> Any:
        ids = [make(world).pk for make in find]
        return world.send(world.boss, f"admin:{page}", *ids, **NO_INLINES, **form)

    return perform


def _button(page: str, button: str, find: Any) -> Any:
    def perform(world: World) -> Any:
        chosen = [str(find(world).pk)]
        form = {"action": button, "_selected_action": chosen, "post": "yes"}
        return world.send_to(world.boss, reverse(f"admin:{page}"), form)

    return perform


def _page(model: str, page: str, action: str, find: Any, form: dict[str, str]) -> Act:
    name = f"{model}_{page}"
    return Act(f"admin:{name}", action, _admin(name, find, **form), by="staff")


def _pressed(model: str, button: str, action: str, find: Any, *, is_of_account: bool = True) -> Act:
    page = f"{model}_changelist"
    perform = _button(page, button, find)
    return Act(
        f"admin:{page}", action, perform, by="staff", button=button, is_of_account=is_of_account
    )


def _account(world: World) -> Any:
    return world.account


def _suspended(world: World) -> Any:
    suspend_account(account=world.account, actor=world.staff)
    return world.account


def _closed(world: World) -> Any:
    close_account(account=world.account, actor=world.owner)
    return world.account


def _paid(world: World) -> Any:
    fulfil_order(order=world.order)
    return world.order


def _factor(world: World) -> Any:
    kind = Authenticator.Type.TOTP
    return Authenticator.objects.create(user=world.owner, type=kind, data={"secret": "x"})


def _given_up(world: World) -> Any:
    mail = outbox.queue_mail(to="jane@shop.example", subject="Hello", text="x", html="x")
    Mail.objects.update(given_up_at=mail.created_at)
    return mail


def _listed(world: World) -> Any:
    return ListedDomain.objects.create(domain="burner.example", kind="deny", reason="Burnt")


def _asked_by(world: World, asker: User) -> StaffGrant:
    return StaffGrant.objects.create(
        account=world.account,
        amount=5,
        reason="A good reason",
        state=StaffGrant.State.PENDING,
        requested_by=asker,
        form_token=TOKEN,
    )


def _asked(world: World) -> Any:
    return _asked_by(world, make_user("colleague@service.example", is_staff=True))


def _own_request(world: World) -> Any:
    return _asked_by(world, world.staff)


def _ask(world: World) -> Any:
    """More than the limit."""
    form = {**WHY, "amount": "1000000000"}
    return world.send(world.boss, "admin:accounts_account_grant", world.account.pk, **form)


def _group(world: World) -> Any:
    return Group.objects.create(name="Auditors")


def _give_plan(world: World) -> Any:
    form = {**WHY, "plan": str(plan("starter").pk)}
    return world.send(world.boss, "admin:accounts_account_change-plan", world.account.pk, **form)


DOMAIN = {"domain": "burner.com", "kind": "deny", "reason": "Burnt"}

ACCOUNT = [
    ("grant", "credits.granted", _account, {**WHY, "amount": "5"}),
    ("take-back", "credits.taken_back", _account, {**WHY, "amount": "5"}),
    ("suspend", "account.suspended", _account, {"form_token": TOKEN}),
    ("lift", "account.suspension_lifted", _suspended, {"form_token": TOKEN}),
    (
        "change",
        "account.changed_by_staff",
        _account,
        {"name": "The Shop", "requests_per_minute_override": "90"},
    ),
]
ORDER = [
    ("mark-paid", "order.paid", lambda world: world.order, {"form_token": TOKEN}),
    ("cancel", "order.cancelled", lambda world: world.order, {"form_token": TOKEN}),
    ("refund", "order.refunded", _paid, WHY),
    ("refund", "order.refund_asked", _paid, WHY),
]
BUTTONS = [
    ("accounts_account", "suspend", "account.suspended", _account),
    ("accounts_account", "lift_suspension", "account.suspension_lifted", _suspended),
    ("accounts_account", "reopen", "account.reopened", _closed),
    ("apikeys_apikey", "revoke", "key.revoked", lambda world: world.key),
    ("mfa_authenticator", "delete_selected", "user.second_factor_removed_by_staff", _factor),
]
BUTTONS_OF_SERVICE = [
    ("runtime_mail", "send_again", "mail.sent_again", _given_up),
    ("auth_group", "delete_selected", "group.removed", _group),
    ("validation_listeddomain", "delete_selected", "domain.unlisted", _listed),
]
SERVICE = [
    ("credits_plan_add", "plan.added_by_staff", (), {**PLAN, **LIMIT}),
    (
        "credits_plan_change",
        "plan.changed_by_staff",
        (lambda world: Plan.objects.free(),),
        {"name": "Free", "monthly_credits": "200", "requests_per_minute": "90"},
    ),
    (
        "credits_pack_add",
        "pack.added_by_staff",
        (),
        {"credits": "77", "price_cents": "100", "requests_per_minute": "60", "is_offered": "on"},
    ),
    (
        "credits_pack_change",
        "pack.changed_by_staff",
        (lambda world: Pack.objects.earliest("credits"),),
        {"credits": "1000", "price_cents": "501", "requests_per_minute": "300"},
    ),
    ("credits_staffgrant_confirm", "grant.confirmed", (_asked,), {"form_token": TOKEN}),
    ("credits_staffgrant_reject", "grant.rejected", (_asked,), {"form_token": TOKEN}),
    ("credits_staffgrant_withdraw", "grant.withdrawn", (_own_request,), {"form_token": TOKEN}),
    ("validation_listeddomain_add", "domain.listed", (), DOMAIN),
    ("validation_listeddomain_change", "domain.listed", (_listed,), DOMAIN),
    ("validation_listeddomain_delete", "domain.unlisted", (_listed,), {"post": "yes"}),
    ("auth_group_add", "group.added", (), {"name": "Auditors"}),
    ("auth_group_change", "group.changed", (_group,), {"name": "Readers"}),
    ("auth_group_delete", "group.removed", (_group,), {"post": "yes"}),
    ("validation_logentry_erase", "address.erased", (), {"email": "jane@shop.example"}),
]

ACTS = [
    *(_page("accounts_account", *act) for act in ACCOUNT),
    Act("admin:accounts_account_change-plan", "plan.given_by_staff", _give_plan, by="staff"),
    *(_page("credits_order", *act) for act in ORDER),
    _page("credits_staffgrant", "confirm", "credits.granted", _asked, {"form_token": TOKEN}),
    Act("admin:accounts_account_grant", "grant.requested", _ask, by="staff", is_of_account=False),
    Act(
        "admin:accounts_user_change",
        "user.changed_by_staff",
        _admin("accounts_user_change", lambda world: world.owner, name="O", is_active="on"),
        by="staff",
    ),
    Act(
        "admin:mfa_authenticator_delete",
        "user.second_factor_removed_by_staff",
        _admin("mfa_authenticator_delete", _factor, post="yes"),
        by="staff",
    ),
    *(_pressed(*act) for act in BUTTONS),
    *(_pressed(*act, is_of_account=False) for act in BUTTONS_OF_SERVICE),
    *(
        Act(f"admin:{page}", action, _admin(page, *find, **form), by="staff", is_of_account=False)
        for page, action, find, form in SERVICE
    ),
]

# Pages that take a form and change nothing, each with the reason.
NOTHING = {
    "admin:search": "a search, sent as a form because an address or a key may be looked for",
    "admin:validation_logentry_find": "says where an address stands",
    "admin:index": "shows the front page, however it is asked for",
    "admin:app_list": "shows the lists of an app",
    "admin:login": "leads to the sign-in, or to what is lacked",
    "admin:logout": "leads to the page that signs out",
    "admin:password_change": "leads to the page that changes it",
    "admin:password_change_done": "says that it was changed",
    "admin:autocomplete": "answers what fits what is typed",
    "admin:jsi18n": "a script",
    "admin:view_on_site": "leads to a page of the dashboard",
    "admin:auth_user_password_change": "refused to everybody: tests/site/test_every_action.py",
    "admin:django.contrib.admin.sites.AdminSite.catch_all_view": "says that there is no such page",
}
