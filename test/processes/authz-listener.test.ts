import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import { createAuthzListener, createGrpcListener } from "../../processes/authz-listener.ts";
import type { Listener } from "../../processes/public-listener.ts";
import { makeCertificate } from "../env/certificate.ts";
import { type Harness, startHarness } from "../server/harness.ts";

let harness: Harness;
let folder: string;
beforeAll(async () => {
  harness = await startHarness();
  folder = await mkdtemp(join(tmpdir(), "keyplane-authz-"));
  const { cert, key } = makeCertificate();
  await writeFile(join(folder, "tls.crt"), cert);
  await writeFile(join(folder, "tls.key"), key);
});
afterAll(async () => {
  await harness.close();
  await rm(folder, { recursive: true });
});

test.each([
  ["HTTP", createAuthzListener],
  ["gRPC", createGrpcListener],
] as const)("the verifier's listener for %s ends connections whose handshake is never done", async (_name, create) => {
  const certFile = join(folder, "tls.crt");
  const tls = { certFile, keyFile: join(folder, "tls.key"), clientCaFile: certFile };
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
