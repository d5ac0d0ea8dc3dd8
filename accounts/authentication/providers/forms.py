from typing import Any

from allauth.socialaccount import forms as allauth_forms
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.models import SocialLogin
from django import forms
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse

from accounts.authentication.providers.adapter import refuse_taken
from accounts.authentication.providers.connections import usable_connections
from accounts.models import User


class ProviderSignupForm(forms.Form):
    """Confirms a sign-up, with the provider's address only."""

    def __init__(self, *args: Any, sociallogin: SocialLogin, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sociallogin = sociallogin

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        try:
            return get_adapter().save_user(request, self.sociallogin), None
        except IntegrityError:
            # A concurrent sign-up was first.
            return None, refuse_taken(request, self.sociallogin)


class DisconnectForm(allauth_forms.DisconnectForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.accounts = usable_connections(self.request.user)
        self.fields["account"].queryset = self.accounts
