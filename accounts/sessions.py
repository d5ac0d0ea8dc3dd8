"""Sign a user out in all browsers, or in all but the current one."""

from allauth.usersessions.adapter import get_adapter
from allauth.usersessions.models import UserSession
from django.http import HttpRequest

from accounts.models import User


def end_sessions(user: User) -> None:
    for session in UserSession.objects.filter(user=user):
        session.end()


def end_other_sessions(request: HttpRequest, user: User) -> int:
    """End all sessions but the current one, with an audit entry. Returns the number ended."""
    sessions = UserSession.objects.filter(user=user)
    others = list(sessions.exclude(session_key=request.session.session_key))
    get_adapter().end_sessions(others)
    return len(others)
