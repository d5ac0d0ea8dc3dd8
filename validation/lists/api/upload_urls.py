"""The operations that upload a list in parts."""

from apikeys.rest.routes import operation
from validation.lists.api.uploads import ParseView, PartView

_LIST = "v1/lists/<public_id:list_id>"

UPLOAD_OPERATIONS = [
    *operation(f"{_LIST}/parts/<int:number>", PartView),
    *operation(f"{_LIST}/parse", ParseView),
]
