from datetime import timedelta
from functools import partial
from itertools import groupby
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils import timezone
from django.utils.crypto import get_random_string

from accounts.date_display import LocalDateTimeField, zone_choices
from accounts.events.types import EventType, offered_types, types_by_name
from accounts.models import Account, Delivery, User
from accounts.models.webhooks import DeliveryState
from accounts.roles import Role
from accounts.webhooks.services import UrlRefused, WebhookChangeRefused
from runtime.http.query_form import QueryForm
from runtime.unicode import validate_line

KEEP_OLD_FOR = {0: "No, replace them now", 1: "For 1 hour", 24: "For 24 hours", 168: "For 7 days"}


class WholeNumberField(forms.IntegerField):
    """An integer field whose errors name both ends of the range."""

    def __init__(self, *, min_value: int, max_value: int, **kwargs: Any) -> None:
        message = f"Enter a whole number from {min_value:,} to {max_value:,}."
        super().__init__(
            min_value=min_value,
            max_value=max_value,
            error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), message),
            **kwargs,
        )


class OneTimeForm(forms.Form):
    """A form whose token identifies a second submission."""

    form_token = forms.RegexField(
        r"^[A-Za-z0-9]{32}$",
        initial=partial(get_random_string, 32),
        widget=forms.HiddenInput,
        error_messages={
            "required": "The form was incomplete. Open this page again and resubmit it.",
            "invalid": "The form was modified. Open this page again and resubmit it.",
        },
    )


class ProfileForm(forms.ModelForm[User]):
    class Meta:
        model = User
        fields = ("name",)
        labels = {"name": "Your name"}
        help_texts = {"name": "Your team sees it in the audit log."}


class PreferencesForm(forms.ModelForm[User]):
    time_zone = forms.ChoiceField(
        choices=lambda: [("", "Same as the browser"), *zone_choices()], required=False
    )

    class Meta:
        model = User
        fields = ("theme", "time_zone", "date_format")


class AccountForm(forms.ModelForm[Account]):
    class Meta:
        model = Account
        fields = ("name",)
        labels = {"name": "Account name"}
        help_texts = {"name": "Your company or project. Invoices and invitations show it."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # ProfileForm is on the same page and has a `name` too.
        self.auto_id = "account_%s"


class CloseAccountForm(forms.Form):
    name = forms.CharField(widget=forms.TextInput({"autocomplete": "off"}))

    def __init__(self, account: Account, data: QueryDict | None = None) -> None:
        super().__init__(data)
        self.account = account
        self.fields["name"].label = f"Type “{account.name}” to confirm"

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name != self.account.name.strip():
            raise ValidationError(f"The name doesn't match. Type “{self.account.name}”.")
        return name


class RoleForm(forms.Form):
    """The service checks whether the user may assign the role."""

    role = forms.ChoiceField(choices=Role.choices, initial=Role.DEVELOPER)

    def clean_role(self) -> Role:
        return Role(self.cleaned_data["role"])

    def limit_choices(self, roles: list[Role]) -> None:
        self.fields["role"].choices = [(role.value, role.label) for role in roles]  # type: ignore[attr-defined]


class InviteForm(RoleForm):
    email = forms.EmailField(
        label="Email",
        max_length=254,
        validators=[validate_line],
        widget=forms.EmailInput({"placeholder": "colleague@shop.example"}),
    )
    field_order = ("email", "role")


def _type_choices() -> list[tuple[str, str]]:
    return [(name, name) for name in types_by_name()]


class WebhookForm(forms.Form):
    url = forms.CharField(
        label="URL",
        max_length=2000,
        help_text="A public address that begins with https://. Each event is sent there by POST.",
        widget=forms.URLInput({"placeholder": "https://shop.example/webhooks"}),
    )
    description = forms.CharField(
        required=False, label="Description (optional)", max_length=200, validators=[validate_line]
    )
    types = forms.MultipleChoiceField(required=False, choices=_type_choices)

    def add_refusal(self, error: WebhookChangeRefused) -> None:
        if isinstance(error, UrlRefused):
            self.add_error("url", f"The URL {error}.")
        else:
            self.add_error(None, str(error))

    @property
    def type_groups(self) -> list[tuple[str, list[EventType]]]:
        """Group what can be chosen, such as "Credits". Test events need no choice."""
        types = [each for each in offered_types() if each.name != "webhook.test"]
        groups = groupby(types, lambda each: each.name.partition(".")[0].capitalize())
        return [(name, list(group)) for name, group in groups]

    def clean_types(self) -> list[str] | None:
        return self.cleaned_data["types"] or None


class CreateWebhookForm(WebhookForm, OneTimeForm):
    pass


class RotateWebhookForm(forms.Form):
    keep_old_for = forms.TypedChoiceField(
        choices=list(KEEP_OLD_FOR.items()),
        coerce=lambda hours: timedelta(hours=int(hours)),
        initial=24,
        label="Keep signing with the old keys, too",
    )
    # The key to replace, so that resubmitting the form doesn't rotate again.
    public_key = forms.CharField(widget=forms.HiddenInput)


class ReplayFailedForm(forms.Form):
    since = LocalDateTimeField(
        label="Failed since", initial=lambda: timezone.now() - timedelta(days=1)
    )


class DeliveryFilter(QueryForm):
    state = forms.ChoiceField(choices=[("", "All states"), *DeliveryState.choices], required=False)
    type = forms.ChoiceField(
        choices=lambda: [("", "All events"), *_type_choices()], required=False, label="Event"
    )

    def select(self, deliveries: QuerySet[Delivery]) -> QuerySet[Delivery]:
        valid = self.cleaned_data if self.is_valid() else {}
        wanted = {"state": valid.get("state"), "event__type": valid.get("type")}
        wanted = {name: value for name, value in wanted.items() if value}
        return deliveries.select_related("event").filter(**wanted)
