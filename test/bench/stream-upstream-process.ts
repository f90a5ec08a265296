/**
 * An upstream that answers every call with a stream of events, each with the moment at which it was written. Run by
 * `gateway.ts` with the port to listen on. The path ends in how many events, and milliseconds between two.
 */
import { createServer } from "node:http";
import { eventAt } from "./streams.ts";

const [port] = process.argv.slice(2);
createServer((request, response) => {
  request.resume();
  const { searchParams } = new URL(request.url ?? "", "http://upstream");
  const [events, pace] = [Number(searchParams.get("events") ?? 1), Number(searchParams.get("pace") ?? 1)];
  response.writeHead(200, { "content-type": "text/event-stream" });
  let sent = 0;
  const send = (): void => {
    response.write(eventAt(process.hrtime.bigint()));
    if (++sent < events) return;
    clearInterval(timer);
    response.end();
  };
  const timer = setInterval(send, pace);
  response.on("close", () => clearInterval(timer));
  send();
}).listen(Number(port), "127.0.0.1");
