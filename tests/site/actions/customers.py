"""What customers do on our own pages."""

import json
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts import team
from accounts.models import Invitation, User
from accounts.roles import Role
from credits.models import Pack
from credits.orders.lifecycle import Buyer, fulfil_order, start_order
from tests.conftest import make_member, make_user, signed_in
from tests.credits.customers import plan
from tests.servers.stripe import sign
from tests.site.actions.world import TOKEN, Act, World

BUYER = {"name": "The Shop Ltd", "address": "1 Example Street", "form_token": TOKEN}
KEY = {"name": "Server", "expires_at": "", "allowed_networks": "", "requests_per_minute": ""}


def _close(world: World) -> Any:
    return world.send(world.browser, "accounts:close-account", name=world.account.name)


def _invite(world: World) -> Invitation:
    return team.invite_member(
        account=world.account,
        email="new@shop.example",
        role=Role.VIEWER,
        actor=world.owner,
    )


def _withdraw(world: World) -> Any:
    return world.send(world.browser, "accounts:withdraw-invitation", _invite(world).public_id)


def _join(world: World) -> Any:
    invitation, token = _invite(world), "t" * 43
    Invitation.objects.filter(pk=invitation.pk).update(token=Invitation.digest(token))
    newcomer = make_user("new@shop.example")
    return world.send(signed_in(newcomer), "accounts:accept-invitation", token)


def _member(world: World) -> str:
    user = make_member(world.account, Role.VIEWER)
    return user.memberships.get().public_id


def _change_role(world: World) -> Any:
    return world.send(world.browser, "accounts:change-role", _member(world), role="developer")


def _remove(world: World) -> Any:
    return world.send(world.browser, "accounts:remove-member", _member(world))


def _leave(world: World) -> Any:
    make_member(world.account, Role.OWNER)
    own = world.owner.memberships.get().public_id
    return world.send(world.browser, "accounts:remove-member", own)


def _agree(world: World) -> Any:
    long_ago = timezone.now().date() - timedelta(days=3650)
    User.objects.filter(pk=world.owner.pk).update(terms_version=long_ago)
    return world.send(world.browser, "accounts:agree-to-terms")


def _create_key(world: World) -> Any:
    return world.send(world.browser, "apikeys:create-key", **KEY, form_token=TOKEN)


def _of_key(page: str, **form: Any) -> Any:
    return lambda world: world.send(world.browser, page, world.key.public_id, **form)


def _order_pack(world: World) -> Any:
    pack = Pack.objects.earliest("credits")
    return world.send(world.browser, "credits:order-pack", pack.public_id, **BUYER)


def _choose_lower(world: World) -> Any:
    buyer = Buyer("The Shop Ltd")
    order = start_order(account=world.account, item=plan("starter"), buyer=buyer, actor=world.owner)
    fulfil_order(order=order)
    return world.send(world.browser, "credits:choose-later-plan", "free", form_token=TOKEN)


def _pay_by_card(world: World) -> Any:
    """Stripe's event, not the page that people come back to."""
    assert world.stripe
    world.browser.post(f"/credits/packs/{Pack.objects.earliest('credits').public_id}/", BUYER)
    order = world.account.orders.get()
    payload = json.dumps(world.stripe.pay(world.stripe.session_of(order.public_id)))
    headers = {"Stripe-Signature": sign(payload.encode())}
    kind = "application/json"
    return world.send_to(
        world.browser, "/credits/stripe/", payload, content_type=kind, headers=headers
    )


def _plain(page: str, *args: Any, **form: Any) -> Any:
    return lambda world: world.send(world.browser, page, *args, **form)


ACTS = [
    Act("accounts:edit-profile", "user.renamed", _plain("accounts:edit-profile", name="Olivia")),
    Act("accounts:rename-account", "account.renamed", _plain("accounts:rename-account", name="S")),
    Act("accounts:export-account", "account.exported", _plain("accounts:export-account")),
    Act("accounts:close-account", "account.closed", _close),
    Act("accounts:open-account", "account.opened", _plain("accounts:open-account", name="Two")),
    Act("accounts:export-audit-log", "audit.exported", _plain("accounts:export-audit-log")),
    Act(
        "accounts:invite-member",
        "member.invited",
        _plain("accounts:invite-member", email="new@shop.example", role="viewer"),
    ),
    Act("accounts:withdraw-invitation", "invitation.withdrawn", _withdraw),
    Act("accounts:accept-invitation", "member.joined", _join, by="newcomer"),
    Act("accounts:change-role", "member.role_changed", _change_role),
    Act("accounts:remove-member", "member.removed", _remove),
    Act("accounts:remove-member", "member.left", _leave),
    Act("accounts:agree-to-terms", "user.terms_agreed", _agree),
    Act("apikeys:create-key", "key.created", _create_key),
    Act("apikeys:change-key", "key.changed", _of_key("apikeys:change-key", **KEY)),
    Act(
        "apikeys:rotate-key",
        "key.rotated",
        _of_key("apikeys:rotate-key", grace="0", form_token=TOKEN),
    ),
    Act("apikeys:revoke-key", "key.revoked", _of_key("apikeys:revoke-key")),
    Act(
        "credits:change-threshold",
        "threshold.changed",
        _plain("credits:change-threshold", threshold="7"),
    ),
    Act("credits:order-pack", "order.placed", _order_pack),
    Act("credits:order-plan", "order.placed", _plain("credits:order-plan", "starter", **BUYER)),
    Act("credits:choose-later-plan", "plan.chosen", _choose_lower),
    Act(
        "credits:cancel-order",
        "order.cancelled",
        lambda world: world.send(world.browser, "credits:cancel-order", world.order.public_id),
    ),
    Act("credits:receive-stripe-event", "order.paid", _pay_by_card, by="nobody"),
    Act(
        "validation:change-log-days",
        "account.log_days_changed",
        _plain("validation:change-log-days", log_days="7"),
    ),
    Act(
        "validation:erase-address",
        "address.erased",
        _plain("validation:erase-address", email="jane@shop.example"),
    ),
]

# Pages that take a form and change nothing, each with the reason.
NOTHING = {
    "accounts:switch-account": "says which account the browser shows next",
    "validation:find-request": "a search, sent as a form because an address is looked for",
    "validation:confirm-erasure": "says what an erasure would take away",
    "validation:try-address": "a validation: it stands in the request log and in the use",
    "credits:pay-order": "leads to the payment page; what was paid there is told by its event",
}
