import json
import os
import urllib.parse
import urllib.request


def read_events(after):
    query = urllib.parse.urlencode({"after": after, "limit": 100})
    request = urllib.request.Request(
        "{{ base_url }}/v1/events?" + query,
        headers={"Authorization": "Bearer " + os.environ["SVC_API_KEY"]},
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


def handle(event):
    if event["type"] == "credits.low":
        print("Credits left:", event["data"]["balance"])
    elif event["type"] == "list.completed":
        print("List completed:", event["data"]["id"])


# The ID of the last event that you handled. Empty: start with the oldest.
last_id = ""
has_more = True
while has_more:
    page = read_events(last_id)
    has_more = page["has_more"]
    for event in page["data"]:
        handle(event)
        last_id = event["id"]  # Store it.
