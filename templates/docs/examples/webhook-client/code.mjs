import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import { webhooks } from "emailvalidation";

const server = createServer(async (request, response) => {
  const body = await buffer(request);
  try {
    const event = await webhooks.verify(body, request.headers, process.env.WEBHOOK_SECRET);
    console.log(event.type, event.id);
    response.writeHead(204);
  } catch (error) {
    if (!(error instanceof webhooks.InvalidSignature)) {
      throw error;
    }
    response.writeHead(400);
  }
  response.end();
});

server.listen(process.env.PORT ?? 8080, "127.0.0.1", () => {
  console.log("Listening on port", server.address().port);
});
