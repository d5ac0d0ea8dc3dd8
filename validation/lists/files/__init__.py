"""From the bytes of an uploaded file to rows of text, in a process of its own.

Imports no Django, so that the process starts fast and holds no secrets.
"""
