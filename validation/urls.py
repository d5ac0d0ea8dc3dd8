from django.urls import path

from validation import data_views, views

app_name = "validation"

urlpatterns = [
    path("", views.show_landing, name="show-landing"),
    path("validation/", views.show_overview, name="show-overview"),
    path("validation/playground/", views.try_address, name="try-address"),
    path("validation/data/", data_views.show_data, name="show-data"),
    path("validation/data/days/", data_views.change_log_days, name="change-log-days"),
    path("validation/data/erase/", data_views.erase_address, name="erase-address"),
    path("validation/data/erase/confirm/", data_views.confirm_erasure, name="confirm-erasure"),
]
