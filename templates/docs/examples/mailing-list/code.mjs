import { Client } from "emailvalidation";

const file = new Blob([
  `id,email
1,deliverable@sandbox.test
2,disposable@sandbox.test
3,possible_typo@sandbox.test
4,mailbox_not_found@sandbox.test
5,role_account@sandbox.test
`,
]);

function chooseAction(verdict, reason) {
  if (verdict === "undeliverable" || ["disposable", "no_reply"].includes(reason)) {
    return "suppress";
  }
  if (reason === "possible_typo") {
    return "ask";
  }
  // Rows without an address have no verdict.
  return ["deliverable", "risky"].includes(verdict) ? "send" : "keep";
}

const client = new Client();
const created = await client.lists.create(file, { name: "newsletter.csv" });
const checked = await client.lists.wait(created);
const rows = await new Response(await client.lists.open(checked)).text();
for (const line of rows.trim().split(/\r?\n/).slice(1)) {
  // Use a CSV library for files with quotes.
  const [id, email, verdict, reason] = line.split(",");
  console.log(chooseAction(verdict, reason), id, email);
}
console.log("Credits charged:", checked.credits.charged);
