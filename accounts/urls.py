from django.urls import path

from accounts.views import (
    audit,
    invitations,
    legal,
    notifications,
    profile,
    security,
    sign_up,
    team,
    webhooks,
)

app_name = "accounts"

ENDPOINT = "webhooks/<public_id:endpoint_id>"
DELIVERY = f"{ENDPOINT}/deliveries/<public_id:delivery_id>"

urlpatterns = [
    path("profile/", profile.edit_profile, name="edit-profile"),
    path("profile/preferences/", profile.change_preferences, name="change-preferences"),
    path("account/rename/", profile.rename_account, name="rename-account"),
    path("account/export/", profile.export_account, name="export-account"),
    path("account/close/", profile.close_account, name="close-account"),
    path("account/closed/", security.show_closed, name="show-closed"),
    path("account/open/", profile.open_account, name="open-account"),
    path("account/switch/", profile.switch_account, name="switch-account"),
    path("signup/correction/", sign_up.suggest_correction, name="suggest-correction"),
    path("security/", security.show_security, name="show-security"),
    path("security/confirm/", security.confirm_at_provider, name="confirm-at-provider"),
    path("security/required/", security.add_required_factor, name="add-required-factor"),
    path("team/", team.show_team, name="show-team"),
    path("team/second-factor/", team.require_second_factor, name="require-second-factor"),
    path("team/invite/", team.invite_member, name="invite-member"),
    path(
        "team/invitations/<public_id:invitation_id>/withdraw/",
        team.withdraw_invitation,
        name="withdraw-invitation",
    ),
    path("team/members/<public_id:membership_id>/role/", team.change_role, name="change-role"),
    path(
        "team/members/<public_id:membership_id>/remove/", team.remove_member, name="remove-member"
    ),
    path("notifications/", notifications.show_notifications, name="show-notifications"),
    path("notifications/change/", notifications.change_notifications, name="change-notifications"),
    path("webhooks/", webhooks.show_webhooks, name="show-webhooks"),
    path("webhooks/create/", webhooks.create_webhook, name="create-webhook"),
    path(f"{ENDPOINT}/", webhooks.show_webhook, name="show-webhook"),
    path(f"{ENDPOINT}/change/", webhooks.change_webhook, name="change-webhook"),
    path(f"{ENDPOINT}/enable/", webhooks.switch_webhook, {"on": True}, name="enable-webhook"),
    path(f"{ENDPOINT}/disable/", webhooks.switch_webhook, {"on": False}, name="disable-webhook"),
    path(f"{ENDPOINT}/rotate/", webhooks.rotate_webhook, name="rotate-webhook"),
    path(f"{ENDPOINT}/delete/", webhooks.delete_webhook, name="delete-webhook"),
    path(f"{ENDPOINT}/test/", webhooks.send_test_event, name="send-test-event"),
    path(f"{ENDPOINT}/events/<public_id:event_id>/", webhooks.show_event, name="show-event"),
    path(f"{ENDPOINT}/replay/", webhooks.replay_failed, name="replay-failed-deliveries"),
    path(f"{DELIVERY}/", webhooks.show_delivery, name="show-delivery"),
    path(f"{DELIVERY}/replay/", webhooks.replay_delivery, name="replay-delivery"),
    path("audit/", audit.show_audit_log, name="show-audit-log"),
    path("audit/export/", audit.export_audit_log, name="export-audit-log"),
    path("terms/", legal.show_legal_page, {"template": "terms"}, name="show-terms"),
    path("terms/agree/", legal.agree_to_newer_terms, name="agree-to-terms"),
    path("privacy/", legal.show_legal_page, {"template": "privacy"}, name="show-privacy"),
    path(
        "data-processing/",
        legal.show_legal_page,
        {"template": "data_processing"},
        name="show-data-processing",
    ),
    path("invitations/<token:token>/", invitations.accept_invitation, name="accept-invitation"),
]
