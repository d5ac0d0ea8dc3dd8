// The vector of the specification Standard Webhooks 1.0, and requests signed here.
import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { test } from "node:test";
import { webhooks } from "emailvalidation";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BODY = '{"id":"evt_1","type":"list.completed","data":{"name":"Zoë"},"new":1}';
const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const PUBLIC = `whpk_${Buffer.from(publicKey.export({ format: "jwk" }).x, "base64url").toString("base64")}`;

function headersFor(secondsAgo = 0, body = BODY) {
  const sentAt = Math.floor(Date.now() / 1000) - secondsAgo;
  const signed = Buffer.from(`evt_1.${sentAt}.${body}`);
  const key = Buffer.from(SECRET.slice(6), "base64");
  const v1 = createHmac("sha256", key).update(signed).digest("base64");
  return {
    "Webhook-Id": "evt_1",
    "Webhook-Timestamp": String(sentAt),
    "Webhook-Signature": `v1,AAAA v1,${v1} v1a,${sign(null, signed, privateKey).toString("base64")}`,
  };
}

test("an event is returned for the secret or the public key", async () => {
  for (const key of [SECRET, PUBLIC]) {
    const event = await webhooks.verify(BODY, headersFor(), key);
    assert.deepEqual([event.type, event.data.name, event.new], ["list.completed", "Zoë", 1]);
    await webhooks.verify(new TextEncoder().encode(BODY), new Headers(headersFor()), key);
  }
});

test("copied and changed requests are refused", async () => {
  for (const key of [SECRET, PUBLIC]) {
    const headers = headersFor();
    for (const [body, changed] of [
      [`${BODY} `, headers],
      [BODY, headersFor(301)],
      [BODY, headersFor(-301)],
      [BODY, { ...headers, "Webhook-Id": "evt_2" }],
      [BODY, { ...headers, "Webhook-Timestamp": "x" }],
      [BODY, { ...headers, "Webhook-Signature": "v1,é v1a,== v2,x v1" }],
      [BODY, {}],
    ]) {
      await assert.rejects(webhooks.verify(body, changed, key), webhooks.InvalidSignature);
    }
  }
});

test("the specification's example is verified", async () => {
  const headers = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  };
  const event = await webhooks.verify('{"test": 2432232314}', headers, SECRET, { tolerance: 1e10 });
  assert.equal(event.test, 2432232314);
});
