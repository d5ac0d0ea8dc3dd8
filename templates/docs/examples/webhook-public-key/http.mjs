import { createPublicKey, verify } from "node:crypto";
import { createServer } from "node:http";

const key = Buffer.from(process.env.WEBHOOK_PUBLIC_KEY.slice("whpk_".length), "base64");
const publicKey = createPublicKey({
  format: "jwk",
  key: { kty: "OKP", crv: "Ed25519", x: key.toString("base64url") },
});

function isGenuine(headers, body) {
  const sentAt = headers["webhook-timestamp"];
  if (!(Math.abs(Date.now() / 1000 - Number(sentAt)) <= 300)) {
    return false;
  }
  const start = Buffer.from(`${headers["webhook-id"]}.${sentAt}.`);
  const signed = Buffer.concat([start, body]);
  const signatures = headers["webhook-signature"] ?? "";
  return signatures.split(" ").some((signature) => {
    const [version, value = ""] = signature.split(",");
    return version === "v1a" && verify(null, signed, publicKey, Buffer.from(value, "base64"));
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
