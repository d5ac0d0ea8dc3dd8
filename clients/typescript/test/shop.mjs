// A shop with a sign-up form, for a browser.
import express from "express";
import { expressSignUp } from "emailvalidation/server";

const PAGE = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<title>Sign up</title><main><h1>Sign up</h1>
<form action="/done" data-email-check="/email-check">
<label for="email">Email</label> <input id="email" name="email" type="email" required>
<button>Sign up</button></form></main>
<script src="/form.js" defer></script></html>`;

const FIELD = '<form data-email-check="/email-check"><input type="email" name="email"></form>';

const app = express();
app.get("/", (_, response) => response.send(PAGE));
app.get("/without-ids", (_, response) =>
  response.send(`${FIELD}${FIELD}<script src="/form.js" defer></script>`),
);
app.get("/done", (request, response) => response.send(`<h1>Welcome, ${request.query.email}</h1>`));
app.use("/form.js", express.static("dist/form.js"));
app.post("/email-check", express.json(), expressSignUp());
const server = app.listen(0, "127.0.0.1", () => console.log(server.address().port));
