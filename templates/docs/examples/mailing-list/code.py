import csv
from pathlib import Path

from emailvalidation import Client

Path("newsletter.csv").write_text(
    "id,email\n"
    "1,deliverable@sandbox.test\n"
    "2,disposable@sandbox.test\n"
    "3,possible_typo@sandbox.test\n"
    "4,mailbox_not_found@sandbox.test\n"
    "5,role_account@sandbox.test\n"
)


def choose_action(verdict, reason):
    if verdict == "undeliverable" or reason in ("disposable", "no_reply"):
        return "suppress"
    if reason == "possible_typo":
        return "ask"
    # Rows without an address have no verdict.
    return "send" if verdict in ("deliverable", "risky") else "keep"


client = Client()
checked = client.lists.wait(client.lists.create("newsletter.csv"))
client.lists.download(checked, "checked.csv")
with Path("checked.csv").open(newline="", encoding="utf-8-sig") as file:
    for row in csv.DictReader(file):
        print(choose_action(row["ev_verdict"], row["ev_reason"]), row["id"], row["email"])
print("Credits charged:", checked.credits.charged)
