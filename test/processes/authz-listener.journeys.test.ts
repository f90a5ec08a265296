import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startServer } from "../../processes/main.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLog } from "../../runtime/log.ts";
import { parseServerConfig } from "../../server/context/config.ts";
import { makeCertificate } from "../env/certificate.ts";
import { databaseUrl, describeOnPostgres } from "../env/database/engines.ts";
import { until } from "../env/until.ts";
import { keyring, storeKey } from "../server/key-index/replica-fixtures.ts";
import { makeTeam } from "../store/fixtures.ts";

/** Connections enough that the kernel gives some to each of two threads, all but surely. */
const CONNECTIONS = 16;

describeOnPostgres("two worker threads", (store) => {
  test("b385: both take questions with a certificate of the authorities alone, also as these are replaced", async (context) => {
    const folder = await mkdtemp(join(tmpdir(), "keyplane-authz-"));
    context.onTestFinished(() => rm(folder, { recursive: true }));
    const files = ["authzTlsCert", "authzTlsKey", "authzClientCa"] as const;
    const flags = Object.fromEntries(files.map((name) => [name, join(folder, name)]));
    const own = makeCertificate();
    const [proxy, later, stranger] = [makeCertificate(), makeCertificate(), makeCertificate()];
    await writeFile(flags.authzTlsCert ?? "", own.cert);
    await writeFile(flags.authzTlsKey ?? "", own.key);
    await writeFile(flags.authzClientCa ?? "", proxy.cert);
    const server = await startServer({
      store: store(),
      database: { url: (await databaseUrl(store())).href },
      config: parseServerConfig({}, { port: "0", adminPort: "0", workers: "2", authzPort: "0", ...flags }),
      keyring,
      clock: systemClock,
      log: createLog("silent"),
    });
    context.onTestFinished(() => server.close());
    await server.whenCurrent;
    const { plaintext, revoke } = await storeKey(store(), await makeTeam(store()));
    const headers = { authorization: `Bearer ${plaintext}` };
    /** The status of an answer; 0 where there is none. */
    const ask = (as: { readonly cert?: string; readonly key?: string }, path: string) =>
      new Promise<number>((resolve) => {
        const options = { ...as, ca: own.cert, agent: false, headers };
        const call = request(`${server.authzUrl}${path}`, options, (answer) => {
          resolve(answer.resume().statusCode ?? 0);
        });
        call.once("error", () => resolve(0)).end();
      });
    const asks = async (as: { readonly cert?: string; readonly key?: string }) =>
      new Set(await Promise.all(Array.from({ length: CONNECTIONS }, () => ask(as, "/authz/envoy/scope/memory:read/"))));
    await until("the key works", async () => (await asks(proxy)).has(200));
    expect([...(await asks(proxy))]).toEqual([200]);
    expect([...(await asks({}))]).toEqual([0]);
    expect([...(await asks(stranger))]).toEqual([0]);
    expect(await ask(proxy, "/atoms")).toBe(404);
    await expect(fetch((server.authzUrl ?? "").replace("https:", "http:"))).rejects.toThrow();
    const atPublic = await fetch(`${server.url}/authz/envoy/scope/memory:read/`, { headers });
    expect(atPublic.status).toBe(404);
    await writeFile(flags.authzClientCa ?? "", later.cert);
    await until("the replaced authority's certificates are taken", async () => {
      const [now, before] = [await asks(later), await asks(proxy)];
      return now.size === 1 && now.has(200) && before.size === 1 && before.has(0);
    });
    expect([...(await asks(stranger))]).toEqual([0]);
    await revoke();
    await until("the revoked key is refused", async () => {
      const statuses = await asks(later);
      return statuses.size === 1 && statuses.has(401);
    });
  });
});
