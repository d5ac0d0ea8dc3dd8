// Verifies a request given as JSON on standard input, with the specification's library and with Node's crypto.
import { createPublicKey, verify } from "node:crypto";
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";

const { body, headers, secret, publicKey } = JSON.parse(readFileSync(0, "utf8"));
new Webhook(secret).verify(body, headers);

const x = Buffer.from(publicKey.replace("whpk_", ""), "base64").toString("base64url");
const key = createPublicKey({ format: "jwk", key: { kty: "OKP", crv: "Ed25519", x } });
const signed = Buffer.from(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`);
const isSigned = headers["webhook-signature"]
  .split(" ")
  .map((signature) => signature.split(","))
  .some(([version, value]) => version === "v1a" && verify(null, signed, key, Buffer.from(value, "base64")));
if (!isSigned) throw new Error("No v1a signature matches");
