from emailvalidation import Client

for event in Client().events.iterate(type="credits.low"):
    print(event.type, event.data["balance"])
