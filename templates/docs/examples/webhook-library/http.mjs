import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.WEBHOOK_SECRET);

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString();
  try {
    const event = webhook.verify(body, request.headers);
    console.log(event.type, event.id);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end();
  }
});
server.listen(Number(process.env.PORT ?? 8080), "127.0.0.1", () => {
  console.log("Listening on port", server.address().port);
});
