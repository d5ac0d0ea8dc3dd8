"""A session store that is down."""

from django.contrib.sessions.backends import db
from django.db import OperationalError


class SessionStore(db.SessionStore):
    def load(self) -> dict[str, object]:
        raise OperationalError("the session store is down")
