"""The operations under /v1/lists."""

from apikeys.rest.routes import operation
from validation.lists.api.actions import (
    CancelView,
    PauseView,
    ResumeView,
    SampleView,
    StartView,
)
from validation.lists.api.previews import PreviewView
from validation.lists.api.rows import DownloadView, ResultsView
from validation.lists.api.uploads.views import ParseView, PartView, UploadView
from validation.lists.api.views import OneListView

# Any text: a malformed id gets the same 404 as that of an unknown list.
_LIST = "v1/lists/<str:list_id>"

LIST_OPERATIONS = [
    *operation("v1/lists", UploadView),
    *operation(_LIST, OneListView),
    *operation(f"{_LIST}/preview", PreviewView),
    *operation(f"{_LIST}/sample", SampleView),
    *operation(f"{_LIST}/start", StartView),
    *operation(f"{_LIST}/pause", PauseView),
    *operation(f"{_LIST}/resume", ResumeView),
    *operation(f"{_LIST}/cancel", CancelView),
    *operation(f"{_LIST}/results", ResultsView),
    *operation(f"{_LIST}/download", DownloadView),
    *operation(f"{_LIST}/parts/<int:number>", PartView),
    *operation(f"{_LIST}/parse", ParseView),
]
