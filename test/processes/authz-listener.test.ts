import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as later } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createAuthzListener, createGrpcListener } from "../../processes/authz-listener.ts";
import type { Listener } from "../../processes/public-listener.ts";
import type { AuthzConfig } from "../../server/context/config.ts";
import { makeCertificate } from "../env/certificate.ts";
import { type Harness, startHarness } from "../server/harness.ts";
import { requestHead } from "../server/raw-http.ts";

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

async function listen(create: typeof createAuthzListener, tls: AuthzConfig["tls"]): Promise<Listener> {
  const authz = { host: "127.0.0.1", port: 0, grpcPort: 0, tls, tokenFile: null, addressHeader: null };
  const config = { ...harness.deps.config, authz };
  const listener = (await create({ ...harness.deps, config })) as Listener;
  await listener.listen(0, false);
  return listener;
}

async function open(listener: Listener): Promise<Socket> {
  const socket = connect(listener.port(), "127.0.0.1");
  await new Promise((resolve) => socket.once("connect", resolve));
  return socket;
}

test.each([
  ["HTTP", createAuthzListener],
  ["gRPC", createGrpcListener],
] as const)("the verifier's listener for %s ends connections whose handshake is never done", async (_name, create) => {
  const certFile = join(folder, "tls.crt");
  const tls = { certFile, keyFile: join(folder, "tls.key"), clientCaFile: certFile };
  const listener = await listen(create, tls);
  const socket = await open(listener);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await listener.drain(100);
  await closed;
});

test("b437: the verifier loses no question as it drains, and tells each proxy which answer is its connection's last", async () => {
  const listener = await listen(createAuthzListener, null);
  const head = requestHead("GET /authz/envoy/scope/memory:read/ HTTP/1.1", [
    `Authorization: Bearer ${harness.addKey()}`,
  ]);
  /** Returns an answer's head; "" if its connection ends without one. */
  const ask = async (socket: Socket) => {
    if (socket.destroyed) return "";
    const { promise, resolve } = Promise.withResolvers<string>();
    const lose = () => resolve("");
    socket.once("close", lose).once("data", (bytes) => resolve(bytes.toString()));
    socket.write(head);
    const answer = await promise;
    socket.off("close", lose);
    return answer;
  };
  const [idle, ...busy] = await Promise.all(Array.from({ length: 33 }, () => open(listener)));
  if (idle === undefined) return expect.fail("it is open");
  for (const socket of [idle, ...busy]) socket.on("error", () => {});
  // One that the listener has not accepted yet ends with it.
  for (const answer of await Promise.all([idle, ...busy].map(ask))) expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  const lastAnswers = busy.map(async (socket) => {
    for (;;) {
      const answer = await ask(socket);
      if (!/^connection: keep-alive/im.test(answer)) return answer;
    }
  });
  await later(200);
  const drained = listener.drain(5_000);
  const answers = [await ask(idle), ...(await Promise.all(lastAnswers))];
  await drained;
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200 .*^connection: close/ims);
});
