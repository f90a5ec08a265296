import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { get } from "node:https";
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
  test("both serve TLS, with --tls-cert and --tls-key, and a renewed certificate as its files change", async (context) => {
    const folder = await mkdtemp(join(tmpdir(), "keyplane-tls-"));
    context.onTestFinished(() => rm(folder, { recursive: true }));
    const [tlsCert, tlsKey] = [join(folder, "tls.crt"), join(folder, "tls.key")];
    const write = async () => {
      const { cert, key } = makeCertificate();
      await writeFile(tlsCert, cert);
      await writeFile(tlsKey, key);
      return cert;
    };
    const first = await write();
    const server = await startServer({
      store: store(),
      database: { url: (await databaseUrl(store())).href },
      config: parseServerConfig({}, { port: "0", adminPort: "0", workers: "2", tlsCert, tlsKey }),
      keyring,
      clock: systemClock,
      log: createLog("silent"),
    });
    context.onTestFinished(() => server.close());
    await server.whenCurrent;
    expect(server.url).toMatch(/^https:/);
    const { plaintext } = await storeKey(store(), await makeTeam(store()));
    const ask = (ca: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const options = { ca, agent: false, headers: { authorization: `Bearer ${plaintext}` } };
        get(`${server.url}/atoms`, options, (answer) => resolve(answer.resume().statusCode)).once("error", reject);
      });
    const works = async (ca: string) => (await ask(ca).catch(() => 0)) === 200;
    /** One alone is asked first: what takes seconds is waited for by few handshakes. */
    const allWork = async (ca: string) =>
      (await works(ca)) && (await Promise.all(Array.from({ length: CONNECTIONS }, () => works(ca)))).every(Boolean);
    await until("the key works", () => allWork(first));
    const renewed = await write();
    await until("both serve the new one", () => allWork(renewed));
    await expect(fetch(server.url.replace("https:", "http:"))).rejects.toThrow();
  });
});
