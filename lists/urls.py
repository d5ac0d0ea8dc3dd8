from django.urls import path

from lists.views import actions, pages, uploads

app_name = "lists"

urlpatterns = [
    path("", pages.show_lists, name="show-lists"),
    path("create/", pages.create_list, name="create-list"),
    path("delete/", actions.delete_lists, name="delete-lists"),
    path("uploads/", uploads.create_upload, name="create-upload"),
    path("<public_id:list_id>/", pages.show_list, name="show-list"),
    path("<public_id:list_id>/progress/", pages.show_progress, name="show-list-progress"),
    path("<public_id:list_id>/upload/", uploads.show_upload, name="show-upload"),
    path("<public_id:list_id>/parts/<int:number>/", uploads.store_part, name="store-part"),
    path("<public_id:list_id>/upload/finish/", uploads.finish_upload, name="finish-upload"),
    path("<public_id:list_id>/upload/cancel/", uploads.cancel_upload, name="cancel-upload"),
    path("<public_id:list_id>/column/", actions.choose_column, name="choose-column"),
    path("<public_id:list_id>/encoding/", actions.choose_encoding, name="choose-encoding"),
    path("<public_id:list_id>/sample/", actions.sample_list, name="sample-list"),
    path("<public_id:list_id>/start/", actions.start_list, name="start-list"),
    path("<public_id:list_id>/pause/", actions.pause_list, name="pause-list"),
    path("<public_id:list_id>/resume/", actions.resume_list, name="resume-list"),
    path("<public_id:list_id>/finish/", actions.finish_list, name="finish-list"),
    path("<public_id:list_id>/cancel/", actions.cancel_list, name="cancel-list"),
    path("<public_id:list_id>/run-again/", actions.rerun_list, name="rerun-list"),
    path("<public_id:list_id>/rename/", actions.rename_list, name="rename-list"),
    path("<public_id:list_id>/delete/", actions.delete_lists, name="delete-list"),
    path("<public_id:list_id>/download/", actions.download_list, name="download-list"),
]
