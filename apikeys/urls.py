from django.urls import path

from apikeys.views import keys

app_name = "apikeys"

urlpatterns = [
    path("", keys.show_keys, name="show-keys"),
    path("create/", keys.create_key, name="create-key"),
    path("<public_id:key_id>/created/", keys.show_created, name="show-created"),
    path("<public_id:key_id>/change/", keys.change_key, name="change-key"),
    path("<public_id:key_id>/rotate/", keys.rotate_key, name="rotate-key"),
    path("<public_id:key_id>/revoke/", keys.revoke_key, name="revoke-key"),
]
