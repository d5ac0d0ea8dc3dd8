from apikeys.rest.routes import operation
from lists.api.actions import CancelView, FinishView, PauseView, ResumeView, SampleView, StartView
from lists.api.previews import PreviewView
from lists.api.results import DownloadView, ResultsView
from lists.api.uploads.views import ParseView, PartsView, PartView, RerunView, UploadView
from lists.api.views import OneListView

# A malformed id gets the same 404 as an unknown one.
_LIST = "v1/lists/<str:list_id>"

LIST_OPERATIONS = [
    *operation("v1/lists", UploadView),
    *operation(_LIST, OneListView),
    *operation(f"{_LIST}/preview", PreviewView),
    *operation(f"{_LIST}/sample", SampleView),
    *operation(f"{_LIST}/start", StartView),
    *operation(f"{_LIST}/pause", PauseView),
    *operation(f"{_LIST}/resume", ResumeView),
    *operation(f"{_LIST}/finish", FinishView),
    *operation(f"{_LIST}/cancel", CancelView),
    *operation(f"{_LIST}/rerun", RerunView),
    *operation(f"{_LIST}/results", ResultsView),
    *operation(f"{_LIST}/download", DownloadView),
    *operation(f"{_LIST}/parts", PartsView),
    *operation(f"{_LIST}/parts/<int:number>", PartView),
    *operation(f"{_LIST}/parse", ParseView),
]
