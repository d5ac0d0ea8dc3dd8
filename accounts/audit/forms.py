from collections.abc import Mapping
from typing import TYPE_CHECKING

from django import forms
from django.db.models import Q

from accounts.audit.actions import LABELS, LABELS_BY_GROUP, ActionGroup
from accounts.audit.models import SUPPORT, SYSTEM, UNKNOWN_ACTOR
from accounts.audit.queries import AuditQuery
from runtime.http.query_form import DayField, QueryForm

if TYPE_CHECKING:
    from accounts.models import Account

NON_MEMBERS: dict[str, tuple[str, Q]] = {
    "support": (SUPPORT, Q(by_staff=True)),
    "automatic": ("Automatic", Q(actor_name=SYSTEM)),
    "unknown": ("Unknown person", Q(actor_name=UNKNOWN_ACTOR)),
}
FORMER_MEMBER = "left"

_ACTION_CHOICES = [
    (
        group.label,
        [(group.value, f"{group.label}: all"), *LABELS_BY_GROUP[group].items()],
    )
    for group in ActionGroup
    if group != ActionGroup.SERVICE
]


class AuditFilter(QueryForm):
    who = forms.ChoiceField(required=False)
    what = forms.ChoiceField(choices=[("", "Everything"), *_ACTION_CHOICES], required=False)
    since = DayField(label="From (UTC)", required=False)
    until = DayField(label="To (UTC)", required=False)

    def __init__(self, data: Mapping[str, object], account: "Account") -> None:
        super().__init__(data)
        self.members = {m.public_id: m.user for m in account.memberships.select_related("user")}
        self.actors = [
            *((public_id, user.email) for public_id, user in self.members.items()),
            (FORMER_MEMBER, "Former members"),
            *((code, label) for code, (label, _) in NON_MEMBERS.items()),
        ]
        self.fields["who"].choices = [("", "Anyone"), *self.actors]  # type: ignore[attr-defined]

    @property
    def audit_query(self) -> AuditQuery:
        data = self.cleaned_data
        who, what = self._actor_condition(data["who"]), data["what"]
        actions = Q(action__in=LABELS_BY_GROUP.get(what, [what])) if what else None
        conditions = [condition for condition in (actions, who) if condition]
        return AuditQuery(conditions, data["since"], data["until"])

    @property
    def description(self) -> str:
        """Describe the filter, for an export's entry: `What: API keys`."""
        labels = {**dict(ActionGroup.choices), **LABELS, **dict(self.actors)}
        filters = (
            f"{self[name].label}: {labels.get(value, value)}" for name, value in self.params.items()
        )
        return ", ".join(filters) or "Everything"

    def _actor_condition(self, choice: str) -> Q | None:
        if not choice:
            return None
        if choice in NON_MEMBERS:
            return NON_MEMBERS[choice][1]
        if choice != FORMER_MEMBER:
            return Q(actor=self.members[choice], by_staff=False)
        is_user = ~Q(actor_name__in=(SYSTEM, UNKNOWN_ACTOR))
        return is_user & ~Q(actor__in=list(self.members.values())) & Q(by_staff=False)
