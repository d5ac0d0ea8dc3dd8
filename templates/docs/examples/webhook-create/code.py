from emailvalidation import Client

webhook = {
    "url": "https://hooks.shop.example/validation",
    "types": ["list.completed", "credits.low"],
}
created = Client().request("POST", "/v1/webhooks", json=webhook).data

secret = created["secret"]  # Store it where your server reads it.
print("State:", created["state"])
