import { Client } from "emailvalidation";

// The ID of the last event that you handled. Empty: start with the oldest.
let lastId = "";
for await (const event of new Client().events.iterate({ after: lastId })) {
  if (event.type === "credits.low") {
    console.log("Credits left:", event.data.balance);
  } else if (event.type === "list.completed") {
    console.log("List completed:", event.data.id);
  }
  lastId = event.id; // Store it.
}
