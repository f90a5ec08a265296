import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import { createMetrics } from "../../processes/metrics.ts";
import { createPublicListener } from "../../processes/public-listener.ts";
import { answerWithin } from "../../runtime/deadline.ts";
import { StreamRegistry } from "../../server/calls/open-streams.ts";
import { makeCertificate } from "../env/certificate.ts";
import { type Harness, startHarness } from "../server/harness.ts";

let harness: Harness;
let folder: string;
beforeAll(async () => {
  harness = await startHarness();
  folder = await mkdtemp(join(tmpdir(), "keyplane-public-"));
  const { cert, key } = makeCertificate();
  await writeFile(join(folder, "tls.crt"), cert);
  await writeFile(join(folder, "tls.key"), key);
});
afterAll(async () => {
  await harness.close();
  await rm(folder, { recursive: true });
});

test.each(["TLS", "HTTP"])(
  "b494: a server that speaks %s ends in its time while strangers keep connections open on which they send nothing",
  async (by) => {
    const tls = by === "TLS" ? { certFile: join(folder, "tls.crt"), keyFile: join(folder, "tls.key") } : null;
    const config = { ...harness.deps.config, host: "127.0.0.1", tls };
    const streams = new StreamRegistry(() => {});
    const listener = await createPublicListener({ ...harness.deps, config, metrics: createMetrics() }, streams, []);
    await listener.listen(0, false);
    const socket = connect(listener.port(), "127.0.0.1");
    await new Promise((resolve) => socket.once("connect", resolve));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    await answerWithin(10_000, listener.drain(100));
    await closed;
  },
);
