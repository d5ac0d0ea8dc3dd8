"""Ending the sessions of a user, wherever they are signed in."""

from allauth.usersessions.models import UserSession

from accounts.models import User


def end_sessions(user: User) -> None:
    for session in UserSession.objects.filter(user=user):
        session.end()
