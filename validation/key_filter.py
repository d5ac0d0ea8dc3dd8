from collections.abc import Mapping

from django import forms

from accounts.models import Account
from apikeys.models import ApiKey
from runtime.http.query_form import QueryForm

PLAYGROUND = "playground"
MAX_KEYS = 200


class KeyFilter(QueryForm):
    def __init__(self, data: Mapping[str, object], account: Account) -> None:
        super().__init__(data)
        self.account = account
        self.keys = list(account.api_keys.all()[:MAX_KEYS])
        choices = [
            ("", "All keys"),
            (PLAYGROUND, "Playground"),
            *((key.public_id, f"{key.name} · {key.display}") for key in self.keys),
        ]
        self.fields["key"] = forms.ChoiceField(label="Key", choices=choices, required=False)

    @property
    def key(self) -> ApiKey | None:
        key_id = self.cleaned_data.get("key", "")
        return next((key for key in self.keys if key.public_id == key_id), None)

    @property
    def is_playground(self) -> bool:
        return bool(self.cleaned_data.get("key") == PLAYGROUND)
