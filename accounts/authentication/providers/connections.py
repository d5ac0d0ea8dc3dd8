import time

from allauth.account.internal.flows.login import get_authentication_records
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers import registry
from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.models import User


def provider_names() -> dict[str, str]:
    """Return the names of the providers that are set up, by id."""
    return {each: registry.get_class(each).name for each in settings.SOCIALACCOUNT_PROVIDERS}


def usable_connections(user: User) -> QuerySet[SocialAccount]:
    rows: QuerySet[SocialAccount] = SocialAccount.objects.filter(user=user).order_by("pk")
    return rows.filter(provider__in=settings.SOCIALACCOUNT_PROVIDERS)


def connection_name(connection: SocialAccount) -> str:
    # Its own get_provider() fails once the provider is no longer set up.
    name = registry.get_class(connection.provider).name
    return f"{name} account {connection.extra_data['label']}"


def sign_in_provider(request: HttpRequest, user: User) -> str:
    """Return the name of the provider that this sign-in began with, if it was one."""
    steps = get_authentication_records(request, user)
    first = [each for each in steps if each["method"] != "mfa" or each.get("passwordless")]
    provider = first[-1].get("provider") if first else None
    return registry.get_class(provider).name if provider else ""


def proves_by_provider(user: User) -> bool:
    """Return whether the user has no password, and so confirms at a provider."""
    return not user.has_usable_password() and usable_connections(user).exists()


def has_recently_confirmed(request: HttpRequest, user: User) -> bool:
    since = time.time() - settings.ACCOUNT_REAUTHENTICATION_TIMEOUT
    records = get_authentication_records(request, user)
    return any(each["method"] == "socialaccount" and each["at"] > since for each in records)
