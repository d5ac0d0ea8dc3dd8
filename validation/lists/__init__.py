"""Lists: files of addresses that are validated in the background.

`services` creates lists and stores their files, and `control` starts, pauses and cancels them.
`uploads` turns a file into rows, with the help of a process that reads it (`files`); `processing`
is the work of list processes (`manage.py run_lists`); `results` reads what came out, and `deletion`
removes it. `payloads` and `bulk_rows` are how rows are stored, and `api` is /v1/lists.
"""
