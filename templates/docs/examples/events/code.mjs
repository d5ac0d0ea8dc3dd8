import { Client } from "emailvalidation";

for await (const event of new Client().events.iterate({ type: "credits.low" })) {
  console.log(event.type, event.data.balance);
}
