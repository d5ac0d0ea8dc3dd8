from django.urls import path

from validation.views import (
    data,
    domains,
    feedback,
    landing,
    list_actions,
    list_uploads,
    lists,
    overview,
    playground,
    requests,
    usage,
)

app_name = "validation"

urlpatterns = [
    path("", landing.show_landing, name="show-landing"),
    path("validation/try/", landing.check_address, name="check-address"),
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
    path("validation/lists/", lists.show_lists, name="show-lists"),
    path("validation/lists/create/", lists.create_list, name="create-list"),
    path("validation/lists/uploads/", list_uploads.create_upload, name="create-upload"),
    path(
        "validation/lists/<public_id:list_id>/upload/",
        list_uploads.show_upload,
        name="show-upload",
    ),
    path(
        "validation/lists/<public_id:list_id>/parts/<int:number>/",
        list_uploads.store_part,
        name="store-part",
    ),
    path(
        "validation/lists/<public_id:list_id>/upload/finish/",
        list_uploads.finish_upload,
        name="finish-upload",
    ),
    path(
        "validation/lists/<public_id:list_id>/upload/cancel/",
        list_uploads.cancel_upload,
        name="cancel-upload",
    ),
    path("validation/lists/<public_id:list_id>/", lists.show_list, name="show-list"),
    path(
        "validation/lists/<public_id:list_id>/progress/",
        lists.show_progress,
        name="show-list-progress",
    ),
    path(
        "validation/lists/<public_id:list_id>/column/",
        list_actions.choose_column,
        name="choose-column",
    ),
    path(
        "validation/lists/<public_id:list_id>/sample/", list_actions.sample_list, name="sample-list"
    ),
    path("validation/lists/<public_id:list_id>/start/", list_actions.start_list, name="start-list"),
    path("validation/lists/<public_id:list_id>/pause/", list_actions.pause_list, name="pause-list"),
    path(
        "validation/lists/<public_id:list_id>/resume/", list_actions.resume_list, name="resume-list"
    ),
    path(
        "validation/lists/<public_id:list_id>/cancel/", list_actions.cancel_list, name="cancel-list"
    ),
    path(
        "validation/lists/<public_id:list_id>/delete/", list_actions.delete_list, name="delete-list"
    ),
    path(
        "validation/lists/<public_id:list_id>/download/",
        list_actions.download_list,
        name="download-list",
    ),
    path("validation/domains/", domains.show_domains, name="show-domains"),
    path("validation/domains/save/", domains.save_domains, name="save-domains"),
    path("validation/data/", data.show_data, name="show-data"),
    path("validation/data/days/", data.change_log_days, name="change-log-days"),
    path("validation/data/erase/", data.erase_address, name="erase-address"),
    path("validation/data/erase/confirm/", data.confirm_erasure, name="confirm-erasure"),
]
