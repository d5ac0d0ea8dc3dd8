from django.urls import path

from validation import views

app_name = "validation"

urlpatterns = [
    path("", views.show_landing, name="show-landing"),
    path("validation/", views.show_overview, name="show-overview"),
    path("validation/playground/", views.try_address, name="try-address"),
]
