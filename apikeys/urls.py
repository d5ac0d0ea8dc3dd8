from django.urls import path

from apikeys import views

app_name = "apikeys"

urlpatterns = [
    path("", views.show_keys, name="show-keys"),
    path("create/", views.create_key, name="create-key"),
    path("<public_id:key_id>/created/", views.show_created, name="show-created"),
    path("<public_id:key_id>/change/", views.change_key, name="change-key"),
    path("<public_id:key_id>/rotate/", views.rotate_key, name="rotate-key"),
    path("<public_id:key_id>/revoke/", views.revoke_key, name="revoke-key"),
]
