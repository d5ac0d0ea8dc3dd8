"""Create lists and upload their files: POST /v1/lists, and a large file in parts."""
