import { signUpRoute } from "emailvalidation/server";

// Next.js: in app/email-check/route.js, this line is all.
export const POST = signUpRoute();

// What the form's script does:
const request = new Request("https://shop.example/email-check", {
  method: "POST",
  body: JSON.stringify({ email: "possible_typo@sandbox.test" }),
});
const { suggestion } = await (await POST(request)).json();
console.log("Did you mean", suggestion);
