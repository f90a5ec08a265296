/** Attempts that their calls have left before they were on a connection. */
import { connect as connectTo, createServer } from "node:net";
import { Pool } from "undici";
import { expect, onTestFinished, test } from "vitest";
import { type AttemptListener, UpstreamAttempt } from "../../../../server/gateway/upstream/upstream-attempt.ts";
import { until } from "../../../env/until.ts";
import { upstreamOf } from "../gateway.ts";

test("b425: an upstream that is connected to once its call has gone on to the fallback has none of it, and is not at work", async () => {
  let received = 0;
  const server = createServer((socket) => socket.on("data", () => received++));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const gate = Promise.withResolvers<void>();
  let isConnected = false;
  const pool = new Pool("http://upstream.test", {
    connect(_options, callback) {
      void gate.promise.then(() => {
        const socket = connectTo(port, "127.0.0.1", () => {
          isConnected = true;
          callback(null, socket);
        });
      });
    },
  });
  onTestFinished(async () => {
    await pool.destroy();
    server.close();
  });
  let isActive = true;
  const listener: AttemptListener = {
    isActive: () => isActive,
    mayBegin: () => true,
    onHeaders() {},
    onData() {},
    onEnd() {},
    onLeftOut() {},
    onFailure() {},
    onReusedSocket: () => false,
  };
  const first = new UpstreamAttempt(
    listener,
    { upstream: upstreamOf("http://upstream.test"), model: "a" },
    undefined,
    undefined,
  );
  pool.dispatch({ method: "POST", path: "/", body: Buffer.from("{}") }, first);
  // Its share of the route's time is over.
  isActive = false;
  const fallback = new UpstreamAttempt(
    listener,
    { upstream: upstreamOf("http://other.test"), model: "b" },
    first,
    undefined,
  );
  gate.resolve();
  await until("the first is connected to", () => isConnected);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect([received, fallback.atWork]).toEqual([0, 0]);
});
