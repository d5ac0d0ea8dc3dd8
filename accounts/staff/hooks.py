"""Hooks return None without permission."""

from typing import Protocol

from accounts.models import Account, User
from accounts.presenters.stats import Stat
from accounts.staff.panels import Panel, SearchResults
from runtime.hooks import Hook


class BuildTrends(Protocol):
    def __call__(self, *, user: User) -> list[Stat] | None: ...


class BuildPanel(Protocol):
    def __call__(self, *, user: User) -> Panel | None: ...


class BuildAccountPanel(Protocol):
    tab: str

    def is_allowed(self, user: User) -> bool: ...

    def __call__(self, *, user: User, account: Account) -> Panel | None: ...


class Search(Protocol):
    def __call__(self, *, user: User, text: str) -> SearchResults | None: ...


staff_trends = Hook[BuildTrends]("STAFF_TRENDS")
staff_panels = Hook[BuildPanel]("STAFF_PANELS")
staff_account_panels = Hook[BuildAccountPanel]("STAFF_ACCOUNT_PANELS")
staff_searches = Hook[Search]("STAFF_SEARCHES")
staff_secret_searches = Hook[Search]("STAFF_SECRET_SEARCHES")
