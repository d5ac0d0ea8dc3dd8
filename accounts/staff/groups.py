from django.apps import AppConfig
from django.conf import settings
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission


def create_groups(sender: AppConfig, **_: object) -> None:
    create_permissions(sender, verbosity=0)
    for name, permissions in settings.STAFF_GROUPS.items():
        codenames = [
            codename
            for label, _, codename in (permission.partition(".") for permission in permissions)
            if label == sender.label
        ]
        if codenames:
            granted = Permission.objects.filter(
                content_type__app_label=sender.label, codename__in=codenames
            )
            group, _created = Group.objects.get_or_create(name=name)
            group.permissions.add(*granted)
