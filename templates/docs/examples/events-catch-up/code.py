from emailvalidation import Client

# The ID of the last event that you handled. Empty: start with the oldest.
last_id = ""
for event in Client().events.iterate(after=last_id):
    if event.type == "credits.low":
        print("Credits left:", event.data["balance"])
    elif event.type == "list.completed":
        print("List completed:", event.data["id"])
    last_id = event.id  # Store it.
