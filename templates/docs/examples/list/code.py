from pathlib import Path

from emailvalidation import Client

file = Path("customers.csv")
file.write_text(
    "name,email\n"
    "Jane,deliverable@sandbox.test\n"
    "Joe,undeliverable@sandbox.test\n"
    "Jane again,deliverable@sandbox.test\n"
)

client = Client()
created = client.lists.create(file, column="email", max_credits=100)
checked = client.lists.wait(created)
print("State:", checked.state)
client.lists.download(checked, "clean.csv", filter="deliverable")
print(Path("clean.csv").read_text("utf-8-sig"))
