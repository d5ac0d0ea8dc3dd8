from emailvalidation import Client

stored = Client().domains.replace(
    allowed=["partner.example"],
    denied=["Spam.example", "bücher.example"],
)

print("Denied:", ", ".join(stored.denied))
