"""Every page of the site, read from the URL configuration, with a path that resolves to it.

Tests that apply to all pages iterate over this list, so a new page is covered automatically.
"""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from allauth.account.internal.flows.login import AUTHENTICATION_METHODS_SESSION_KEY
from allauth.account.internal.userkit import user_id_to_str
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.conf import settings
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, resolve

from accounts import audit, team
from accounts.models import Account, Invitation, User
from accounts.roles import Role
from apikeys.actor import Actor
from apikeys.rest.paths import is_api_path
from apikeys.services import create_key
from credits.models import Pack
from credits.orders.placement import place_order
from credits.orders.quotes import Buyer, quote
from credits.wallet.holds import hold_credits
from lists.models import AddressList
from lists.processing.running import work_once
from lists.uploads.options import ListOptions
from lists.uploads.services import upload_list
from reference.models import Incident
from runtime.dates import to_microseconds
from runtime.mail import outbox
from runtime.models import Lease
from tests.accounts.webhooks.deliveries import URL, make_delivery
from tests.accounts.webhooks.factory import make_endpoint
from tests.support.api_client import ApiClient
from tests.support.passkey_device import PasskeyDevice
from tests.validation.feedback.factory import make_feedback
from validation.models import AccountDomains, ListedDomain, LogEntry

INVITED = "invited@shop.example"
PLACEHOLDER = re.compile(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>(?:\(.*?\)|[^()])*\)")


@dataclass(frozen=True)
class Page:
    name: str
    # From the URL configuration, with placeholders.
    route: str
    pattern: URLPattern

    @property
    def is_api(self) -> bool:
        return is_api_path(f"/{self.route.removeprefix('^')}")

    @property
    def is_admin(self) -> bool:
        return self.route.startswith("admin/")

    def path(self, values: dict[str, str]) -> str:
        """Return a path to this page, with the placeholders replaced by `values`."""
        row = self._first_row_id()
        values = {**values, "object_id": row, "id": row}
        path = PLACEHOLDER.sub(lambda match: values[match[1] or match[2]], self.route)
        return "/" + re.sub(r"\^|\$|/\?", "", path)

    def _first_row_id(self) -> str:
        """Return the id of the first row, if this is the admin page of a model."""
        model = re.match(r"admin/(\w+)/(\w+)/<", self.route)
        row = model and apps.get_model(model[1], model[2])._default_manager.order_by("pk").first()
        return str(row.pk) if row else "1"


@cache
def all_pages() -> dict[str, Page]:
    """Return all pages by route. Where two routes are equal, Django resolves the first."""
    pages = list(_iterate(get_resolver("config.urls"), "", ""))
    return {page.route: page for page in reversed(pages)}


def _iterate(resolver: URLResolver, prefix: str, namespace: str) -> Iterator[Page]:
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _iterate(pattern, route, pattern.namespace or namespace)
        else:
            name = pattern.name or pattern.lookup_str
            yield Page(f"{namespace}:{name}" if namespace else name, route, pattern)


def resolves_to(page: Page, path: str) -> bool:
    """Return whether the path is handled by this page's view."""
    return resolve(path).func == page.pattern.callback


def populate_account(owner: User, account: Account) -> dict[str, str]:
    """Create one row of each kind in the account; return values for the pages' placeholders."""
    key, secret = create_key(account=account, name="The Shop's key", actor=owner)
    order = place_order(
        quote=quote(account, Pack.objects.earliest("credits")),
        buyer=Buyer("The Shop Ltd"),
        actor=owner,
    )
    entry = _validate(account, secret)
    _create_staff_rows(account)
    endpoint = make_endpoint(account, URL, created_by=owner)
    delivery = make_delivery(endpoint)
    member = User.objects.create_user("member@shop.example")
    membership = account.memberships.create(user=member, role=Role.DEVELOPER)
    # The label is what the user is called at the provider.
    label = {"label": "\u202e<script>alert(1)</script>{{7*7}}"}
    SocialAccount.objects.create(user=owner, provider="github", uid="4711", extra_data=label)
    address_list = _create_list(owner, account)
    invitation = team.invite_member(account=account, email=INVITED, role=Role.VIEWER, actor=owner)
    token = "a-link-that-only-the-tests-have-sent-to-you"
    Invitation.objects.filter(pk=invitation.pk).update(token=Invitation.digest(token))
    return {
        "key_id": key.public_id,
        "event_id": account.events.earliest("pk").public_id,
        "order_id": order.public_id,
        "pack_id": Pack.objects.earliest("credits").public_id,
        "plan_code": "starter",
        "request_id": entry.request_id,
        "result_id": entry.result_id,
        "list_id": address_list.public_id,
        "webhook_id": endpoint.public_id,
        "endpoint_id": endpoint.public_id,
        "delivery_id": delivery.public_id,
        "moment": str(to_microseconds(entry.at)),
        "membership_id": membership.public_id,
        "invitation_id": invitation.public_id,
        "token": token,
        "public_id": account.public_id,
        "pk": str(_create_passkey(owner).pk),
        "uidb36": "1",
        "key": "set-password",
        "app_label": "accounts",
        "content_type_id": "1",
        "number": "1",
        "domain": "shop.example",
        "url": "nowhere/",
    }


def _create_list(owner: User, account: Account) -> AddressList:
    """Upload a list and check it. Its sandbox addresses are free."""
    content = b"name,email\nJane,deliverable@sandbox.test\nJoe,risky@sandbox.test\n"
    actor = Actor(account=account, user=owner)
    options = ListOptions(starts_when_ready=True)
    address_list = upload_list(actor=actor, content=content, options=options, file_name="list.csv")
    while work_once():
        pass
    return address_list


def _validate(account: Account, secret: str) -> LogEntry:
    headers = {"Host": settings.BASE_HOST, "X-Forwarded-Proto": "https"}
    ApiClient(secret).validate("deliverable@sandbox.test", **headers)
    return LogEntry.objects.filter(account=account).latest("at")


def _create_staff_rows(account: Account) -> None:
    audit.record(account, None, "account.renamed", "Shop → The Shop")
    outbox.queue_mail(to="jane@shop.example", subject="Hello", text="x", html="x")
    ListedDomain.objects.create(domain="disposable.example", reason="Reported by a customer")
    AccountDomains.objects.create(account=account, denied=["spam.example"])
    Lease.objects.get_or_create(name="daily")
    make_feedback(account)
    incident = Incident.objects.create(title="Webhooks arrive late", webhooks=True)
    incident.updates.create(text="We look into it.")
    hold_credits(account=account, amount=5, source="list:1", reason="customers.csv")
    account.staff_grants.create(amount=5, reason="Sorry", state="pending", form_token="a" * 32)


def _create_passkey(owner: User) -> Authenticator:
    kind = Authenticator.Type.WEBAUTHN
    data = {"name": "My laptop", "credential": passkey_registration()}
    return Authenticator.objects.create(user=owner, type=kind, data=data)


def passkey_registration() -> dict[str, Any]:
    """Return a credential as a browser sends it on registration, with a random key."""
    options = {"user": {"id": ""}, "challenge": ""}
    credential: dict[str, Any] = json.loads(PasskeyDevice().register({"publicKey": options}))
    return {**credential, "clientExtensionResults": {"credProps": {"rk": True}}}


def browser_for(user: User, **options: Any) -> Client:
    """Return a browser in which the user just signed in, bypassing the sign-in page."""
    client = Client(**options)
    client.force_login(user)
    session = client.session.session_key
    UserSession.objects.get_or_create(session_key=session, user=user, ip="198.51.100.7")
    mark_second_factor_used(client, user)
    return client


def mark_second_factor_used(client: Client, user: User) -> None:
    """Mark the session as signed in with a second factor, if the user has one."""
    factor = Authenticator.objects.filter(user=user).first()
    if factor is not None:
        record_authentication(client, user, method="mfa", id=factor.pk, type=factor.type)


def record_authentication(client: Client, user: User, **record: object) -> None:
    """Record in the session that the user has just proven who they are."""
    session = client.session
    session[AUTHENTICATION_METHODS_SESSION_KEY] = [{"at": time.time(), **record}]
    session["account_authentication_methods_user"] = user_id_to_str(user)
    session.save()
