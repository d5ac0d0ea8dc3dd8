import { Client } from "emailvalidation";

const client = new Client();
const first = await client.validate("deliverable@sandbox.test");
const { data: again } = await client.request("GET", `/v1/validations/${first.id}`);

console.log(again.verdict);
