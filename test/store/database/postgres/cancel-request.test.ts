import { sql } from "kysely";
import { expect, test } from "vitest";
import { connectionConfig } from "../../../../store/database/postgres/connection-config.ts";
import { ImpatientClient } from "../../../../store/database/postgres/impatient-client.ts";
import { openPostgres } from "../../../../store/database/postgres/postgres.ts";
import { NAMED_LOOPBACK, startTlsPostgres } from "../../../env/database/tls-postgres.ts";
import { startTcpProxy } from "../../../env/tcp-proxy.ts";
import { until } from "../../../env/until.ts";

/** As it stands in a CancelRequest. */
const CANCEL_CODE = Buffer.from("04d2162e", "hex");

test("b112: what ends a statement goes to the database over TLS as well: it names the connection that others could end", async (context) => {
  const postgres = await startTlsPostgres();
  const { port } = new URL(postgres.url);
  const proxy = await startTcpProxy({ host: "127.0.0.1", port: Number(port) });
  const admin = await openPostgres(postgres.url);
  context.onTestFinished(async () => {
    await admin.close();
    await proxy.close();
    await postgres.stop();
  });
  let isReadable = false;
  void proxy.resetAt("sent", () => (bytes) => {
    isReadable ||= bytes.includes(CANCEL_CODE);
    return false;
  });
  const url = `postgres://postgres:postgres@${NAMED_LOOPBACK}:${proxy.port}/postgres`;
  const client = new ImpatientClient({ locate: () => connectionConfig({ url, caFile: postgres.caFile }) });
  await client.connect();
  const running = async () => {
    const { rows } = await sql<{ pid: number }>`
      select pid from pg_stat_activity where query = 'select pg_sleep(600)' and state = 'active'`.execute(admin.db);
    return rows.length;
  };
  const asked: Promise<unknown> = client.query("select pg_sleep(600)");
  asked.catch(() => {});
  await until("it runs", async () => (await running()) === 1);
  client.abandon();
  await until("it has ended in the database", async () => (await running()) === 0);
  await expect(asked).rejects.toThrow();
  expect(isReadable).toBe(false);
});
