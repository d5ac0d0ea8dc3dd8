import { readFile, writeFile } from "node:fs/promises";
import { Client } from "emailvalidation";

await writeFile(
  "customers.csv",
  `name,email
Jane,deliverable@sandbox.test
Joe,undeliverable@sandbox.test
Jane again,deliverable@sandbox.test
`,
);

const client = new Client();
const created = await client.lists.create("customers.csv", { column: "email", max_credits: 100 });
const checked = await client.lists.wait(created);
console.log("State:", checked.state);
await client.lists.download(checked, "clean.csv", { filter: "deliverable" });
console.log((await readFile("clean.csv", "utf8")).replace("\ufeff", ""));
