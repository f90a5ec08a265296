/** Revocations through the proxies of the guides, before a server of two threads and its real store. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { startServer } from "../../../processes/main.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { createLog } from "../../../runtime/log.ts";
import { parseServerConfig, type ServerFlags } from "../../../server/context/config.ts";
import { createReceipts } from "../../../server/management/keys/shown/receipt.ts";
import { databaseUrl, describeOnPostgres } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { type Home, makeTeam } from "../../store/fixtures.ts";
import { feedHead } from "../../store/questions.ts";
import { keyring, storeKey } from "../key-index/replica-fixtures.ts";
import { requestHead, sendRaw } from "../raw-http.ts";
import { asksByGrpc, type GuideProxy, makeFiles, PROXIES, startGuideProxy, startService } from "./guide-proxies.ts";

/** Keys that are revoked one after the other, each while callers of its own go on. */
const KEYS = 20;
const CALLERS = 4;
const STARTED = 600_000;

describeOnPostgres("a server that proxies ask", (store) => {
  const ends: (() => unknown)[] = [];
  const ports = new Map<GuideProxy, number>();
  let home: Home;
  let service: Awaited<ReturnType<typeof startService>>;

  beforeAll(async () => {
    const files = await makeFiles();
    ends.push(() => files.remove());
    service = await startService();
    ends.push(() => service.close());
    home = await makeTeam(store());
    const start = async (known: ServerFlags) => {
      const flags = { authzPort: "0", authzTlsCert: files.tlsCert, authzTlsKey: files.tlsKey, ...known };
      const server = await startServer({
        store: store(),
        database: { url: (await databaseUrl(store())).href },
        config: parseServerConfig({}, { port: "0", adminPort: "0", workers: "2", ...flags }),
        keyring,
        clock: systemClock,
        log: createLog("silent"),
        graceMs: 1_000,
      });
      ends.push(() => server.close());
      await server.whenCurrent;
      return server;
    };
    const byCertificate = await start({ authzClientCa: files.tlsCert, authzGrpcPort: "0" });
    const byToken = await start({ authzTokenFile: files.token });
    for (const name of PROXIES) {
      const server = name === "caddy" ? byToken : byCertificate;
      const verifierPort = Number(new URL((asksByGrpc(name) ? server.authzGrpcUrl : server.authzUrl) ?? "").port);
      const proxy = await startGuideProxy(name, {
        ...{ verifierPort, servicePort: service.port, files, protects: "/scope/memory:read" },
      });
      ports.set(name, proxy.port);
      ends.push(() => proxy.stop());
    }
  }, STARTED);
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  /** Asks the service through a proxy; says when it asked, and whether it got through. */
  async function call(port: number, key: string): Promise<{ readonly at: number; readonly isServed: boolean }> {
    const at = performance.now();
    const head = requestHead("GET /notes HTTP/1.1", [`Authorization: Bearer ${key}`]);
    return { at, isServed: (await sendRaw(port, head)).status === 200 };
  }

  test.each(PROXIES)("b390: %s passes nothing on that is sent after a revocation's receipt", async (name) => {
    const port = ports.get(name) ?? 0;
    const receipts = createReceipts(store(), systemClock);
    let served = 0;
    for (let i = 0; i < KEYS; i++) {
      const { plaintext, revoke } = await storeKey(store(), home);
      await until("the key works", async () => (await call(port, plaintext)).isServed);
      const calls: Awaited<ReturnType<typeof call>>[] = [];
      let isOver = false;
      const callers = Array.from({ length: CALLERS }, async () => {
        while (!isOver) calls.push(await call(port, plaintext));
      });
      await revoke();
      const { confirmed } = await receipts.wait(await feedHead(store()), 20_000);
      const confirmedAt = performance.now();
      expect(confirmed).toBe(true);
      await until("a call is sent after the receipt", () => calls.some(({ at }) => at > confirmedAt));
      isOver = true;
      await Promise.all(callers);
      served += calls.filter(({ isServed }) => isServed).length;
      expect(calls.filter(({ at, isServed }) => isServed && at > confirmedAt)).toEqual([]);
    }
    expect(served).toBeGreaterThan(0);
  });
});
