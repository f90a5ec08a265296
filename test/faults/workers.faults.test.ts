/** `keyplane server --workers 2` as a process of its own: what becomes of it when one of its threads fails or stands still. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, type TestContext } from "vitest";
import { LEASE_MS } from "../../domain/protocol.ts";
import { parseKeyring } from "../../store/encryption/keyring.ts";
import { createConfirmer } from "../../store/replicas/confirmer.ts";
import { replicaRegister } from "../../store/replicas/replicas.ts";
import { startServing } from "../env/serving.ts";
import { until } from "../env/until.ts";
import { startUpstream } from "../server/gateway/upstream.ts";
import { storeKey } from "../server/key-index/replica-fixtures.ts";
import { makeTeam } from "../store/fixtures.ts";
import { databaseBehindProxy } from "./feed-fixtures.ts";
import { callMainGateway, saveMainGateway, storeGatewayKey } from "./gateway-fixtures.ts";

/** Connections enough that the kernel gives some to each of two threads, all but surely. */
const CONNECTIONS = 16;
const TROUBLE = pathToFileURL(join(import.meta.dirname, "thread-trouble.ts")).href;

async function startWorkers(context: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-workers-"));
  context.onTestFinished(() => rm(folder, { recursive: true }));
  const { url, direct } = await databaseBehindProxy(context);
  const encryptionKey = randomBytes(32).toString("base64");
  const standsStill = join(folder, "stands-still");
  const server = await startServing(
    ["server", "--port", "0", "--admin-port", "0", "--workers", "2", "--allow-private-upstreams", "127.0.0.0/8"],
    { KEYPLANE_DATABASE_URL: url, KEYPLANE_ENCRYPTION_KEY: encryptionKey, STANDS_STILL: standsStill },
    ["--import", TROUBLE],
  );
  context.onTestFinished(async () => {
    await rm(standsStill, { force: true });
    await server.stop();
  });
  /** The same request by connections of their own, so that both threads answer some. */
  const askAll = (key: string): Promise<number[]> => {
    const headers = { authorization: `Bearer ${key}`, connection: "close" };
    const ask = async () => (await fetch(`${server.url}/atoms`, { headers })).status;
    return Promise.all(Array.from({ length: CONNECTIONS }, ask));
  };
  return { server, direct, askAll, standsStill, keyring: parseKeyring(encryptionKey) };
}

type Workers = Awaited<ReturnType<typeof startWorkers>>;

/** Has the main thread stand still. */
async function standsStill({ server, direct, askAll, standsStill }: Workers): Promise<void> {
  const home = await makeTeam(direct);
  const [kept, revoked] = [await storeKey(direct, home), await storeKey(direct, home)];
  for (const { plaintext } of [kept, revoked]) {
    await until("both threads know the key", async () => (await askAll(plaintext)).every((status) => status === 200));
  }
  const confirm = createConfirmer(replicaRegister(direct), () => performance.now());
  await confirm();

  server.child.kill("SIGHUP");
  await until("the main thread stands still", () => existsSync(standsStill));
  const stoodStillAt = performance.now();
  const early = await askAll(kept.plaintext);
  // On a machine with much else to do the lease may have run out by now.
  if (performance.now() - stoodStillAt < 1_000) expect(new Set(early)).toEqual(new Set([200]));
  await revoked.revoke();
  const { head } = await confirm();
  const beyond: number[] = [];
  await until("the revocation is confirmed", async () => {
    const isBeyond = performance.now() - stoodStillAt >= LEASE_MS;
    const statuses = await askAll(revoked.plaintext);
    if (isBeyond) beyond.push(...statuses);
    return (await confirm()).seq >= head;
  });
  beyond.push(...(await askAll(revoked.plaintext)), ...(await askAll(kept.plaintext)));
  expect(new Set(beyond)).toEqual(new Set([503]));

  await rm(standsStill);
  const after: number[] = [];
  await until("it serves again", async () => {
    after.push(...(await askAll(revoked.plaintext)));
    return (await askAll(kept.plaintext)).every((status) => status === 200);
  });
  after.push(...(await askAll(revoked.plaintext)));
  expect(after.filter((status) => status !== 401 && status !== 503)).toEqual([]);
}

/** Has one thread fail, which is the end of the server. */
async function fails(context: TestContext, { server, direct, keyring }: Workers): Promise<void> {
  const last = Promise.withResolvers<void>();
  const upstream = await startUpstream(async (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
    await last.promise;
    response.end("data: last\n\n");
  });
  context.onTestFinished(() => {
    last.resolve();
    return upstream.close();
  });
  const home = await makeTeam(direct);
  await saveMainGateway(direct, home, { baseUrl: upstream.url }, keyring);
  const key = await storeGatewayKey(direct, home);
  const call = () => callMainGateway(server, key.plaintext, { connection: "close" });
  await until("the key works", async () => (await call()).status === 200);
  const streams = await Promise.all(Array.from({ length: CONNECTIONS }, call));
  expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
  const ends = Promise.all(streams.map((stream) => stream.text().catch(() => "broken")));

  const ended = new Promise<number | null>((resolve) => server.child.once("exit", resolve));
  server.child.kill("SIGUSR2");
  await until("it says why", () => server.lines.some((line) => line.includes("a fault that this test makes")));
  await until("it takes nothing new", () =>
    call().then(
      () => false,
      () => true,
    ),
  );
  last.resolve();
  const texts = await ends;
  const finished = texts.filter((text) => text.endsWith("data: last\n\n"));
  expect([texts.includes("broken"), finished.length > 0]).toEqual([true, true]);
  expect(await ended).toBe(1);
}

it("c38, b22: a server of two workers decides nothing beyond the lease while its main thread stands still, and again after it, but by no key that was revoked; once one fails it says why, finishes the answers of the other, and ends with 1, for its supervisor to start it again", async (context) => {
  const workers = await startWorkers(context);
  await standsStill(workers);
  await fails(context, workers);
});
