import { connect } from "node:net";
import { afterAll, beforeAll, test } from "vitest";
import { createAuthzListener, createGrpcListener } from "../../processes/authz-listener.ts";
import type { Listener } from "../../processes/public-listener.ts";
import { makeFiles } from "../server/authz/guide-proxies.ts";
import { type Harness, startHarness } from "../server/harness.ts";

let harness: Harness;
let files: Awaited<ReturnType<typeof makeFiles>>;
beforeAll(async () => {
  [harness, files] = await Promise.all([startHarness(), makeFiles()]);
});
afterAll(async () => {
  await harness.close();
  await files.remove();
});

test.each([
  ["HTTP", createAuthzListener],
  ["gRPC", createGrpcListener],
] as const)("the verifier's listener for %s ends connections whose handshake is never done", async (_name, create) => {
  const tls = { certFile: files.tlsCert, keyFile: files.tlsKey, clientCaFile: files.tlsCert };
  const authz = { host: "127.0.0.1", port: 0, grpcPort: 0, tls, tokenFile: null, addressHeader: null };
  const config = { ...harness.deps.config, authz };
  const listener = (await create({ ...harness.deps, config })) as Listener;
  await listener.listen(0, false);
  const socket = connect(listener.port(), "127.0.0.1");
  await new Promise((resolve) => socket.once("connect", resolve));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await listener.drain(100);
  await closed;
});
