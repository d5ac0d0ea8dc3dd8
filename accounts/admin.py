from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin
from django.contrib.auth.models import Group

from accounts.models import Account, AuditEntry, Invitation, User
from accounts.staff.model_admins.accounts import AccountAdmin, InvitationAdmin
from accounts.staff.model_admins.audit import AuditEntryAdmin
from accounts.staff.model_admins.background import LeaseAdmin, MailAdmin
from accounts.staff.model_admins.groups import GroupAdmin
from accounts.staff.model_admins.users import EmailAddressAdmin, SecondFactorAdmin, UserAdmin
from runtime.models import Lease, Mail

admin.site.register(Account, AccountAdmin)
admin.site.register(AuditEntry, AuditEntryAdmin)
admin.site.register(Invitation, InvitationAdmin)
admin.site.register(User, UserAdmin)

admin.site.register(Lease, LeaseAdmin)
admin.site.register(Mail, MailAdmin)

for model in (Authenticator, EmailAddress, Group):
    admin.site.unregister(model)
admin.site.register(Authenticator, SecondFactorAdmin)
admin.site.register(EmailAddress, EmailAddressAdmin)
admin.site.register(Group, GroupAdmin)
# A row's session key lets anyone take over the session.
admin.site.unregister(UserSession)
# The environment has the apps; users show their connections; tokens aren't stored.
for model in (SocialAccount, SocialApp, SocialToken):
    admin.site.unregister(model)
