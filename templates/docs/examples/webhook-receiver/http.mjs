import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = Buffer.from(process.env.WEBHOOK_SECRET.slice("whsec_".length), "base64");

function isGenuine(headers, body) {
  const sentAt = headers["webhook-timestamp"];
  if (!(Math.abs(Date.now() / 1000 - Number(sentAt)) <= 300)) {
    return false;
  }
  const hmac = createHmac("sha256", secret);
  hmac.update(`${headers["webhook-id"]}.${sentAt}.`).update(body);
  const expected = Buffer.from(`v1,${hmac.digest("base64")}`);
  const signatures = headers["webhook-signature"] ?? "";
  return signatures.split(" ").some((signature) => {
    const sent = Buffer.from(signature);
    return sent.length === expected.length && timingSafeEqual(sent, expected);
  });
}

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray());
  if (isGenuine(request.headers, body)) {
    const event = JSON.parse(body);
    console.log(event.type, event.id);
    response.writeHead(204).end();
  } else {
    response.writeHead(400).end();
  }
});
server.listen(Number(process.env.PORT ?? 8080), "127.0.0.1", () => {
  console.log("Listening on port", server.address().port);
});
