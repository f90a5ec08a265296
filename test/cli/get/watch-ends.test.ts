import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { main } from "../../../cli/program.ts";
import { until } from "../../env/until.ts";

test("keyplane get -w ends at once on a signal, also while a server does not answer", async (context) => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests++;
    if (requests === 1) response.end(JSON.stringify({ items: [], nextCursor: null }));
  }).listen(0, "127.0.0.1");
  context.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const stop = new AbortController();
  let err = "";
  const ended = main(["get", "keys", "-w", "--server", `http://127.0.0.1:${port}`], {
    env: { KEYPLANE_TOKEN: "t" },
    out: () => {},
    err: (text) => {
      err += text;
    },
    stopSignal: () => stop.signal,
  });
  await until("it waits for an answer", () => requests === 2);
  stop.abort();
  expect([await ended, err]).toEqual([0, ""]);
});
