"""Forms whose answers stand in the page's address: what is looked at, and from when to when."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q

from accounts.audit.actions import ACTIONS, GROUPS, Group, codes_of
from accounts.audit.models import SOMEBODY, SUPPORT, SYSTEM
from accounts.audit.queries import AuditQuery
from runtime.http.query_form import DayField, QueryForm

if TYPE_CHECKING:
    from accounts.models import Account

NOBODY_OF_THE_TEAM: dict[str, tuple[str, Q]] = {
    "support": (SUPPORT, Q(by_staff=True)),
    "automatic": ("Automatic", Q(actor_name=SYSTEM)),
    "unknown": ("Somebody unknown", Q(actor_name=SOMEBODY)),
}
LEFT = "left"


_WORDS: dict[str, str] = {
    **{group.value: words for group, words in GROUPS.items()},
    **{action.code: action.words for action in ACTIONS.values()},
}


def _what() -> list[Any]:
    """Each group as a whole, and each of its acts."""
    shown = [group for group in Group if group != Group.SERVICE]
    return [("", "Everything"), *((GROUPS[group], _of_group(group)) for group in shown)]


def _of_group(group: Group) -> list[tuple[str, str]]:
    return [(group.value, f"{GROUPS[group]}: all"), *((c, _WORDS[c]) for c in codes_of(group))]


class AuditFilter(QueryForm):
    who = forms.ChoiceField(required=False)
    what = forms.ChoiceField(choices=_what(), required=False)
    since = DayField(label="From (UTC)", required=False)
    until = DayField(label="To (UTC)", required=False)

    def __init__(self, data: Any, account: "Account") -> None:
        super().__init__(data)
        self.members = {m.public_id: m.user for m in account.memberships.select_related("user")}
        self.people = [
            *((public_id, user.email) for public_id, user in self.members.items()),
            (LEFT, "Somebody who left"),
            *((code, words) for code, (words, _) in NOBODY_OF_THE_TEAM.items()),
        ]
        self.fields["who"].choices = [("", "Everybody"), *self.people]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        since, until = data.get("since"), data.get("until")
        if since and until and since > until:
            raise ValidationError("“From” is after “To”: exchange them.")
        return data

    @property
    def wanted(self) -> AuditQuery:
        data = self.cleaned_data
        return AuditQuery(
            who=self._who(data["who"]),
            actions=_actions(data["what"]),
            since=data["since"],
            until=data["until"],
        )

    @property
    def in_words(self) -> str:
        """For the entry that tells of the export."""
        words = {**_WORDS, **dict(self.people)}
        asked = (
            f"{self[name].label}: {words.get(said, said)}" for name, said in self.given.items()
        )
        return ", ".join(asked) or "Everything"

    def _who(self, chosen: str) -> Q | None:
        if not chosen:
            return None
        if chosen in NOBODY_OF_THE_TEAM:
            return NOBODY_OF_THE_TEAM[chosen][1]
        if chosen != LEFT:
            return Q(actor=self.members[chosen], by_staff=False)
        somebody = ~Q(actor_name__in=(SYSTEM, SOMEBODY))
        return somebody & ~Q(actor__in=list(self.members.values())) & Q(by_staff=False)


def _actions(chosen: str) -> tuple[str, ...]:
    if chosen in GROUPS:
        return tuple(codes_of(Group(chosen)))
    return (chosen,) if chosen else ()
