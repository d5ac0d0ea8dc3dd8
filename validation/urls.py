from django.urls import path

from validation.views import data, domains, feedback, overview, playground, requests, usage

app_name = "validation"

urlpatterns = [
    path("validation/", overview.show_overview, name="show-overview"),
    path("validation/arrivals/", overview.show_arrival, name="show-any-arrival"),
    path("validation/arrivals/<public_id:key_id>/", overview.show_arrival, name="show-arrival"),
    path("validation/usage/", usage.show_usage, name="show-usage"),
    path("validation/usage/csv/", usage.download_usage, name="download-usage"),
    path("validation/requests/", requests.show_requests, name="show-requests"),
    path("validation/requests/csv/", requests.export_requests, name="export-requests"),
    path("validation/requests/find/", requests.find_request, name="find-request"),
    path(
        "validation/requests/<request_id:request_id>/<int:moment>/",
        requests.show_request,
        name="show-request",
    ),
    path(
        "validation/results/<result_id:result_id>/feedback/",
        feedback.send_feedback,
        name="send-feedback",
    ),
    path("validation/playground/", playground.try_address, name="try-address"),
    path("validation/playground/batch/", playground.try_batch, name="try-batch"),
    path("validation/domains/", domains.show_domains, name="show-domains"),
    path("validation/domains/save/", domains.save_domains, name="save-domains"),
    path("validation/data/", data.show_data, name="show-data"),
    path("validation/data/days/", data.change_log_days, name="change-log-days"),
    path("validation/data/erase/", data.erase_address, name="erase-address"),
    path("validation/data/erase/confirm/", data.confirm_erasure, name="confirm-erasure"),
]
